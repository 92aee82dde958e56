/**
 * A cheap node for `rpc.ts`: it answers small reads at the current slot, and `getBlock` with a value of a given number of
 * bytes, the argument.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const [blockBytes = '0'] = process.argv.slice(2)
const SLOT_MS = 400
const GENESIS = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG'
const FIRST_SLOT = 300_000_000
const startedMs = Date.now()
const slotNow = (): number => FIRST_SLOT + Math.floor((Date.now() - startedMs) / SLOT_MS)
const block = blockOf(Number(blockBytes))

interface Call {
  readonly id: number
  readonly method: string
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const asked = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Call | Call[]
    if (!Array.isArray(asked) && asked.method === 'getBlock') return sendBlock(response, asked.id)
    const text = Array.isArray(asked) ? `[${asked.map(textOf).join(',')}]` : textOf(asked)
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length }).end(text)
  })
})

function textOf({ id, method }: Call): string {
  return `{"jsonrpc":"2.0","result":${resultOf(method)},"id":${id}}`
}

function resultOf(method: string): string {
  const context = `"context":{"apiVersion":"4.2.1","slot":${slotNow()}}`
  if (method === 'getGenesisHash') return `"${GENESIS}"`
  if (method === 'getLatestBlockhash')
    return `{${context},"value":{"blockhash":"${GENESIS}","lastValidBlockHeight":1000}}`
  return `{${context},"value":123456789}`
}

function sendBlock(response: ServerResponse, id: number): void {
  const [head, tail] = [Buffer.from('{"jsonrpc":"2.0","result":'), Buffer.from(`,"id":${id}}`)]
  const length = head.length + block.length + tail.length
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': length })
  response.write(head)
  response.write(block)
  response.end(tail)
}

/** A value like that of a block: transactions of about 4 KB, with random digits that do not compress well. */
function blockOf(bytes: number): Buffer {
  const transactions: string[] = []
  for (let size = 0; size < bytes;) {
    const digits = Array.from({ length: 300 }, (_, at) =>
      Math.sin(size + at)
        .toString(36)
        .slice(2)
    ).join('')
    const text = `{"meta":{"err":null,"fee":5000,"logMessages":["Program log: ${digits}"]},"transaction":["${digits.slice(0, 88)}"],"version":0}`
    transactions.push(text)
    size += text.length + 1
  }
  return Buffer.from(
    `{"blockHeight":1,"blockTime":1,"parentSlot":1,"transactions":[${transactions.join(',')}]}`
  )
}

server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
process.once('SIGTERM', () => process.exit(0))
