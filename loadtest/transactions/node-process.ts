/**
 * A node for load tests: takes sends, one or many in a request, and records when each signature came. It answers that no
 * signature is known, or that all of them are finalized, as the parent process says.
 */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { monotonicMs } from '../stream/trades.ts'
import { BASE64_KEY_CHARACTERS } from './transfers.ts'

/** A message to the process. It answers each one. */
export type NodeOrder = 'pending' | 'finalized' | 'forget' | 'receipts'

/** The times of receipts of a transaction, by the beginning of its base64; milliseconds of the monotonic clock. */
export type Receipts = readonly (readonly [key: string, atMs: readonly number[]])[]

interface Call {
  readonly id: unknown
  readonly method: string
  readonly params: readonly [unknown]
}

const SLOT_MS = 400
const FIRST_SLOT = 1_000
const FINALIZED = { confirmations: null, err: null, status: { Ok: null }, confirmationStatus: 'finalized' }

const receipts = new Map<string, number[]>()
const startedMs = monotonicMs()
let isFinalized = false

function resultOf({ method, params }: Call, atMs: number): unknown {
  const slot = FIRST_SLOT + Math.floor((atMs - startedMs) / SLOT_MS)
  const inContext = (value: unknown) => ({ context: { slot }, value })
  switch (method) {
    case 'sendTransaction': {
      const key = String(params[0]).slice(0, BASE64_KEY_CHARACTERS)
      const known = receipts.get(key)
      if (known === undefined) receipts.set(key, [atMs])
      else known.push(atMs)
      return key
    }
    case 'getSignatureStatuses':
      return inContext((params[0] as string[]).map(() => (isFinalized ? { slot, ...FINALIZED } : null)))
    case 'getEpochInfo':
      // Heights do not rise, so that nothing expires.
      return { absoluteSlot: slot, blockHeight: FIRST_SLOT }
    case 'isBlockhashValid':
      return inContext(true)
    default:
      return slot
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

const server = createServer((request, response) => {
  void bodyOf(request).then((body) => {
    const atMs = monotonicMs()
    const asked = JSON.parse(body) as Call | Call[]
    const answer = (call: Call) => ({ jsonrpc: '2.0', id: call.id, result: resultOf(call, atMs) })
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(Array.isArray(asked) ? asked.map(answer) : answer(asked)))
  })
})
server.keepAliveTimeout = 60_000
process.on('message', (order: NodeOrder) => {
  const answer: Receipts | null = order === 'receipts' ? [...receipts] : null
  if (order === 'forget') receipts.clear()
  else if (order !== 'receipts') isFinalized = order === 'finalized'
  process.send!(answer)
})
server.listen(0, '127.0.0.1', () =>
  process.stdout.write(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
)
