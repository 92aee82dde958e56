/**
 * A node for load tests. It takes sends, one or many in a request, and records when each signature arrived. It has a block a
 * slot. The blocks are empty while it holds the received transactions. On a message of the parent process the transactions
 * land, and are finalized two slots later.
 */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { encodeBase58 } from '../../src/chain/base58.ts'
import { monotonicMs } from '../stream/trades.ts'
import { BASE64_KEY_CHARACTERS } from './transfers.ts'

/** A message to the process. It answers each one. */
export type NodeOrder = 'hold' | 'land' | 'forget' | 'receipts'

/** The times of receipts of a transaction, by the beginning of its base64; milliseconds of the monotonic clock. */
export type Receipts = readonly (readonly [key: string, atMs: readonly number[]])[]

interface Call {
  readonly id: unknown
  readonly method: string
  readonly params?: readonly unknown[]
}

const SLOT_MS = 400
const FIRST_SLOT = 1_000
const FINALIZED_AFTER = 2
/** Transactions of a block: as many as in mainnet's fullest blocks. */
const BLOCK_MAX = 2_000
/** Blocks that can be requested. Arbitrary: the service reads each as it comes. */
const BLOCKS_KEPT = 100
/** A legacy transfer, in the form of a node's answer. */
const LANDED = {
  version: 'legacy',
  meta: {
    err: null,
    fee: 5_000,
    preBalances: [1e9, 1e9, 1],
    postBalances: [1e9 - 5_001, 1e9 + 1, 1],
    innerInstructions: [],
    logMessages: [],
    preTokenBalances: [],
    postTokenBalances: [],
    loadedAddresses: { writable: [], readonly: [] },
    computeUnitsConsumed: 150
  }
}

const receipts = new Map<string, number[]>()
/** Received transactions in base64 that have not landed, by key. */
const waiting = new Map<string, string>()
/** Slots of landed transactions, by signature in base58. */
const landed = new Map<string, number>()
/** Transactions of the newest blocks, by slot. */
const blocks = new Map<number, readonly string[]>()
let head = FIRST_SLOT
let isLanding = false

setInterval(() => {
  const transactions = isLanding ? [...waiting.values()].slice(0, BLOCK_MAX) : []
  blocks.set(++head, transactions)
  blocks.delete(head - BLOCKS_KEPT)
  for (const base64 of transactions) {
    waiting.delete(base64.slice(0, BASE64_KEY_CHARACTERS))
    landed.set(encodeBase58(Buffer.from(base64, 'base64').subarray(1, 65)), head)
  }
}, SLOT_MS)

function receive(base64: string, atMs: number): string {
  const key = base64.slice(0, BASE64_KEY_CHARACTERS)
  const known = receipts.get(key)
  if (known !== undefined) known.push(atMs)
  else {
    receipts.set(key, [atMs])
    waiting.set(key, base64)
  }
  return key
}

function statusOf(signature: string): object | null {
  const slot = landed.get(signature)
  if (slot === undefined) return null
  const isFinalized = head >= slot + FINALIZED_AFTER
  return {
    slot,
    confirmations: isFinalized ? null : head - slot,
    err: null,
    status: { Ok: null },
    confirmationStatus: isFinalized ? 'finalized' : 'confirmed'
  }
}

const blockAt = (slot: number): object => ({
  blockhash: `h${slot}`,
  previousBlockhash: `h${slot - 1}`,
  parentSlot: slot - 1,
  blockHeight: slot,
  blockTime: Math.floor(Date.now() / 1_000),
  transactions: (blocks.get(slot) ?? []).map((base64) => ({ transaction: [base64, 'base64'], ...LANDED }))
})

function resultOf({ method, params: [first, second] = [] }: Call, atMs: number): unknown {
  const inContext = (value: unknown) => ({ context: { slot: head }, value })
  switch (method) {
    case 'sendTransaction':
      return receive(String(first), atMs)
    case 'getSignatureStatuses':
      return inContext((first as string[]).map(statusOf))
    case 'getEpochInfo':
      return { absoluteSlot: head, blockHeight: head }
    case 'isBlockhashValid':
      // Constant, so that nothing expires.
      return inContext(true)
    case 'getGenesisHash':
      return 'a-node-of-the-loadtest'
    case 'getBlocksWithLimit': {
      const [from, limit] = [Math.max(Number(first), FIRST_SLOT + 1), Number(second)]
      return Array.from({ length: Math.max(0, Math.min(limit, head - from + 1)) }, (_, at) => from + at)
    }
    case 'getBlock':
      return blockAt(Number(first))
    default:
      return head
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
  if (order === 'hold' || order === 'land') isLanding = order === 'land'
  if (order === 'forget') for (const each of [receipts, waiting, landed]) each.clear()
  process.send!(answer)
})
server.listen(0, '127.0.0.1', () =>
  process.stdout.write(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
)
