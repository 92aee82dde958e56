/**
 * A JSON-RPC node that serves the recorded mainnet block under every slot, from memory. The bytes that vary by slot are a
 * small gzip member of their own before the member that all slots share, so serving costs next to nothing. The argument is
 * the head slot.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { recordedBlockText } from './recorded-block.ts'

const head = Number(process.argv[2])
const { transactions, blockTime } = JSON.parse(recordedBlockText()) as {
  readonly transactions: readonly unknown[]
  readonly blockTime: number
}
const shared = gzipSync(`"transactions":${JSON.stringify(transactions)}}}`)

interface Request {
  readonly id: number
  readonly method: string
  readonly params: readonly [number, number]
}

function bodyOf({ id, method, params: [slot, limit] }: Request): Buffer {
  const result = (value: unknown): Buffer => gzipSync(JSON.stringify({ jsonrpc: '2.0', id, result: value }))
  switch (method) {
    case 'getGenesisHash':
      return result('recorded')
    case 'getSlot':
      return result(head)
    case 'getBlocksWithLimit':
      return result(
        Array.from({ length: Math.max(0, Math.min(limit, head - slot + 1)) }, (_, at) => slot + at)
      )
    case 'getBlock': {
      const hashes = `"blockhash":"h${slot}","previousBlockhash":"h${slot - 1}"`
      const own = `{"jsonrpc":"2.0","id":${id},"result":{${hashes},"parentSlot":${slot - 1},"blockTime":${blockTime},`
      return Buffer.concat([gzipSync(own), shared])
    }
    default:
      throw new Error(`method ${method} is not served`)
  }
}

const server = createServer((incoming, response) => {
  const chunks: Buffer[] = []
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
  incoming.on('end', () => {
    const body = bodyOf(JSON.parse(Buffer.concat(chunks).toString()) as Request)
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-encoding': 'gzip',
      'content-length': body.length
    })
    response.end(body)
  })
})
server.listen(0, '127.0.0.1', () =>
  process.stdout.write(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
)
