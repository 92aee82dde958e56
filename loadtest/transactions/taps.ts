import { randomBytes } from 'node:crypto'
import { encodeBase58 } from '../../src/chain/base58.ts'
import type { SourcedBlock } from '../../src/node/block-source.ts'
import { WatchedSignatures } from '../../src/transactions/block-sightings.ts'
import type { BlockObserver } from '../../src/ingest/committed-blocks.ts'
import { PriorityFees } from '../../src/transactions/priority-fees.ts'
import { binaryForm, plainTransaction, readBlock, recordedBlockText } from '../recorded-block.ts'

const BLOCKS = 60
/** Runs of as many blocks, of which the median counts. The first one is the warm-up. */
const RUNS = 7

/** Measures the cost of transactions for ingest, for each block: the search for watched signatures, and priority fees. */
export function measureTaps(watched: number) {
  const recorded = readBlock(JSON.parse(recordedBlockText()))
  const forms = recorded.transactions.map(plainTransaction)
  const sightings = new WatchedSignatures()
  for (let n = 0; n < watched; n++) sightings.watch(encodeBase58(randomBytes(64)))
  const fees = new PriorityFees()
  let slot = 0
  const blockOf = (): SourcedBlock => {
    const block = { ...recorded, slot: ++slot, parentSlot: slot - 1, transactions: forms.map(binaryForm) }
    return { block, commitment: 'confirmed', receivedAtMs: 0 }
  }
  const runOf = (observer: BlockObserver): number => {
    const blocks = Array.from({ length: BLOCKS }, blockOf)
    const cpu = process.cpuUsage()
    for (const block of blocks) observer.read(block)()
    const { user, system } = process.cpuUsage(cpu)
    return (user + system) / 1_000 / BLOCKS
  }
  const medianOf = (observer: BlockObserver): number =>
    Array.from({ length: RUNS }, () => runOf(observer))
      .slice(1)
      .toSorted((a, b) => a - b)[(RUNS - 1) >> 1]!
  return {
    transactions: forms.length,
    watched,
    watched_ms_a_block: medianOf(sightings),
    fees_ms_a_block: medianOf(fees)
  }
}
