/**
 * A thread of `ingest-threads.ts` that reads blocks for ingest: it parses the text of a block, reads it, and hands its
 * transactions over, as a structured clone or packed. Each message requests a block; at most a few are requested at a time.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { plainTransaction, readBlock } from '../recorded-block.ts'
import { packTransactions } from './packed-transactions.ts'

/** How transactions go from thread to thread. */
export type Handover = 'clone' | 'packed'

const { text, handover } = workerData as { readonly text: string; readonly handover: Handover }

parentPort!.on('message', () => {
  const plain = readBlock(JSON.parse(text)).transactions.map(plainTransaction)
  if (handover === 'clone') return parentPort!.postMessage(plain)
  const packed = packTransactions(plain)
  parentPort!.postMessage(packed, [packed])
})
