import { encodeBase58 } from '../chain/base58.ts'
import { nonceStateOf } from '../chain/nonce.ts'
import { pubkeyFromBase58 } from '../chain/pubkey.ts'
import { isCount, isObject } from '../chain/rpc/fields.ts'
import { NodeGroup, type GroupNode, type NodeClients } from '../node/node-group.ts'
import { NodeError } from '../node/node-fault.ts'
import { RpcClient, type RpcClientOptions } from '../node/rpc-client.ts'
import type { Clock } from '../ports.ts'
import { COMMITMENTS } from './bundle-landing.ts'
import type { SendTurn } from './fair-queue.ts'
import { TRANSACTION_REQUEST_MS } from '../kernel/time-limits.ts'
import type { SignatureStatus, SimulatedOutcome, TransactionNode } from './ports.ts'
import { SendBatches } from './send-batches.ts'
import { readSimulation, readStatus } from './node-answers.ts'

/**
 * Limits of requests other than sends. 10,000 tracked signatures need 8 status requests a second. After 5 s new
 * blocks have arrived. A node that allows fewer requests answers 429, and the client backs off.
 */
const READS: Partial<RpcClientOptions> = {
  requestsPerSecond: 100,
  concurrency: 8,
  timeoutMs: TRANSACTION_REQUEST_MS,
  bodyBytesMax: 32 * 1024 * 1024,
  compressed: false
}
/**
 * Limits of sends. There is no rate limit: each request is a batch of sends that are due at once (`SendBatches`), the
 * node is the operator's own, and a late send is lost. The timeout is 2 s, because the next round then repeats the send.
 */
const SENDS: Partial<RpcClientOptions> = {
  requestsPerSecond: Infinity,
  concurrency: 32,
  timeoutMs: 2_000,
  bodyBytesMax: 4 * 1024 * 1024,
  compressed: false
}
const CONFIRMED = { commitment: 'confirmed' } as const

/** Options of getBlock; with this version limit an answer has all transactions. */
const SIGNATURES_OF_BLOCK = {
  transactionDetails: 'signatures',
  rewards: false,
  maxSupportedTransactionVersion: 0
} as const

interface Clients extends NodeClients {
  readonly sends: RpcClient
  readonly batches: SendBatches
}

/** Statuses at a slot, in the order of the signatures. */
interface Statuses {
  readonly contextSlot: number
  readonly statuses: readonly (SignatureStatus | null)[]
}

/**
 * The operator's nodes by JSON-RPC. Each request goes to the node with the newest slot, and to the others if it
 * fails. Statuses from the history are requested from every node, because a node's history may have gaps that it does
 * not report.
 */
export class RpcTransactionNode implements TransactionNode {
  readonly #nodes: NodeGroup<Clients>

  /** `urls` is read at each request: the localnet's URL is known only once it listens. */
  constructor(urls: () => readonly string[], clock: Clock) {
    this.#nodes = new NodeGroup(urls, clock, (address) => {
      const sends = new RpcClient(address, clock, SENDS)
      const reads = new RpcClient(address, clock, READS)
      return { reads, sends, batches: new SendBatches(sends), all: [reads, sends] }
    })
  }

  /** Number of queued requests. */
  get waiting(): number {
    return this.#nodes.waiting
  }

  async send(wire: Uint8Array, signal: AbortSignal, turn?: SendTurn): Promise<void> {
    const transaction = Buffer.from(wire.buffer, wire.byteOffset, wire.byteLength).toString('base64')
    // A node that was not reached has received no bytes, so another node may be tried.
    const send = ({ clients }: GroupNode<Clients>): Promise<void> =>
      clients.batches.send(transaction, signal, turn)
    await this.#nodes.ask(send, signal, isUnreached)
  }

  async simulate(wire: Uint8Array, signal: AbortSignal): Promise<SimulatedOutcome> {
    const options = { encoding: 'base64', commitment: 'processed', sigVerify: true }
    const transaction = Buffer.from(wire).toString('base64')
    const { value } = await this.#inContext('simulateTransaction', [transaction, options], signal)
    return readSimulation(value)
  }

  async statuses(
    signatures: readonly string[],
    { history, everyNode = history }: { readonly history: boolean; readonly everyNode?: boolean },
    signal: AbortSignal
  ): ReturnType<TransactionNode['statuses']> {
    const params = [signatures, { searchTransactionHistory: history }]
    const ask = async (node: GroupNode<Clients>): Promise<Statuses> => {
      const { contextSlot, value } = await contextOf(node, 'getSignatureStatuses', params, signal)
      if (!Array.isArray(value) || value.length !== signatures.length) throw garbage('getSignatureStatuses')
      return { contextSlot, statuses: value.map(readStatus) }
    }
    if (!everyNode) return this.#nodes.ask(ask, signal)
    const answers = await this.#nodes.askEach(ask)
    const [{ contextSlot, statuses }, ...others] = answers as [Statuses, ...Statuses[]]
    return {
      contextSlot,
      statuses: statuses.map((status, at) => {
        const found = status ?? firmStatus(others.map((each) => each.statuses[at]!))
        return (
          found &&
          withNodes(
            found,
            answers.map((each) => each.statuses[at]!)
          )
        )
      })
    }
  }

  async blockSignatures(slot: number, signal: AbortSignal): Promise<readonly string[]> {
    const options = { ...SIGNATURES_OF_BLOCK, ...CONFIRMED }
    const { result } = await this.#nodes.ask(
      ({ clients }) => clients.reads.call('getBlock', [slot, options], { signal }),
      signal
    )
    const { signatures } = isObject(result) ? result : {}
    if (!isTexts(signatures)) throw garbage('getBlock')
    return signatures
  }

  async height(signal: AbortSignal): Promise<{ readonly slot: number; readonly height: number }> {
    return this.#nodes.ask(async (node) => {
      const { result } = await node.clients.reads.call('getEpochInfo', [CONFIRMED], { signal })
      const { absoluteSlot: slot, blockHeight: height } = isObject(result) ? result : {}
      if (!isCount(slot) || !isCount(height)) throw garbage('getEpochInfo')
      node.slot = slot
      return { slot, height }
    }, signal)
  }

  async isBlockhashValid(
    blockhash: string,
    signal: AbortSignal
  ): Promise<{ readonly contextSlot: number; readonly isValid: boolean }> {
    const { contextSlot, value } = await this.#inContext('isBlockhashValid', [blockhash, CONFIRMED], signal)
    if (typeof value !== 'boolean') throw garbage('isBlockhashValid')
    return { contextSlot, isValid: value }
  }

  async nonce(
    account: string,
    signal: AbortSignal
  ): Promise<{ readonly contextSlot: number; readonly value: string | null }> {
    const { contextSlot, found } = await this.#account(account, signal)
    const state = found && nonceStateOf({ owner: pubkeyFromBase58(found.owner), data: found.data })
    return { contextSlot, value: state && encodeBase58(state.value) }
  }

  async account(address: string, signal: AbortSignal): ReturnType<TransactionNode['account']> {
    return (await this.#account(address, signal)).found
  }

  async close(): Promise<void> {
    await this.#nodes.close()
  }

  async #account(address: string, signal: AbortSignal) {
    const params = [address, { encoding: 'base64', ...CONFIRMED }]
    const { contextSlot, value } = await this.#inContext('getAccountInfo', params, signal)
    if (value === null) return { contextSlot, found: null }
    const { owner, data } = isObject(value) ? value : {}
    const [text] = Array.isArray(data) ? (data as unknown[]) : []
    if (typeof owner !== 'string' || typeof text !== 'string') throw garbage('getAccountInfo')
    return { contextSlot, found: { owner, data: new Uint8Array(Buffer.from(text, 'base64')) } }
  }

  /** Calls a method whose result has a context. */
  async #inContext(method: string, params: readonly unknown[], signal: AbortSignal) {
    return this.#nodes.ask((node) => contextOf(node, method, params, signal), signal)
  }
}

async function contextOf(
  { clients }: GroupNode<Clients>,
  method: string,
  params: readonly unknown[],
  signal: AbortSignal
): Promise<{ readonly contextSlot: number; readonly value: unknown }> {
  const { result } = await clients.reads.call(method, params, { signal })
  const { context, value } = isObject(result) ? result : {}
  const slot = isObject(context) ? context['slot'] : undefined
  if (!isCount(slot) || value === undefined) throw garbage(method)
  return { contextSlot: slot, value }
}

/**
 * Returns the first status that is at least confirmed; null if all are lower or unknown. Lower ones do not count, because a
 * lagging node may have a block of a lost fork.
 */
const firmStatus = (statuses: readonly (SignatureStatus | null)[]): SignatureStatus | null =>
  statuses.find((status) => status !== null && status.commitment !== 'processed') ?? null

/** Returns a status with the number of nodes that state its block and outcome, at its commitment or above. */
function withNodes(status: SignatureStatus, stated: readonly (SignatureStatus | null)[]): SignatureStatus {
  const err = JSON.stringify(status.err ?? null)
  const nodes = stated.filter(
    (each) =>
      each !== null &&
      each.slot === status.slot &&
      COMMITMENTS.indexOf(each.commitment) >= COMMITMENTS.indexOf(status.commitment) &&
      JSON.stringify(each.err ?? null) === err
  ).length
  return nodes > 1 ? { ...status, nodes } : status
}

const isUnreached = ({ fault: { kind } }: NodeError): boolean => kind === 'unreachable' || kind === 'busy'

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string')

const garbage = (method: string): NodeError =>
  new NodeError('node', { kind: 'garbage', detail: `the answer to ${method}` })
