import { encodeBase58 } from '../chain/base58.ts'
import { nonceStateOf } from '../chain/nonce.ts'
import { pubkeyFromBase58 } from '../chain/pubkey.ts'
import { NodeGroup, type GroupNode, type NodeClients } from '../node/node-group.ts'
import { callAndRead } from '../node/node-answers.ts'
import { NodeError, wasNotTaken } from '../node/node-fault.ts'
import { RpcClient, type RpcClientOptions } from '../node/rpc-client.ts'
import type { Clock } from '../ports.ts'
import { COMMITMENTS } from './bundle-landing.ts'
import type { SendTurn } from './fair-queue.ts'
import { TRANSACTION_REQUEST_MS } from '../kernel/time-limits.ts'
import type { SignatureStatus, SimulatedOutcome, TransactionNode } from './ports.ts'
import { SendBatches } from './send-batches.ts'
import {
  atSlot,
  readHeight,
  readOwnedData,
  readSignatures,
  readSimulation,
  readStatuses,
  readValidity
} from './node-answers.ts'

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
type Statuses = Awaited<ReturnType<TransactionNode['statuses']>>

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
    const send = ({ clients }: GroupNode<Clients>): Promise<void> =>
      clients.batches.send(transaction, signal, turn)
    await this.#nodes.ask(send, signal, wasNotTaken)
  }

  async simulate(wire: Uint8Array, signal: AbortSignal): Promise<SimulatedOutcome> {
    const options = { encoding: 'base64', commitment: 'processed', sigVerify: true }
    const transaction = Buffer.from(wire).toString('base64')
    const params = [transaction, options]
    const read = atSlot(readSimulation)
    return (await this.#nodes.read('simulateTransaction', params, signal, read)).value
  }

  async statuses(
    signatures: readonly string[],
    { history, everyNode = history }: { readonly history: boolean; readonly everyNode?: boolean },
    signal: AbortSignal
  ): ReturnType<TransactionNode['statuses']> {
    const params = [signatures, { searchTransactionHistory: history }]
    const read = (result: unknown): Statuses => {
      const { contextSlot, value } = atSlot((list) => readStatuses(list, signatures.length))(result)
      return { contextSlot, statuses: value }
    }
    if (!everyNode) return this.#nodes.read('getSignatureStatuses', params, signal, read)
    const answers = await this.#nodes.askEach(({ clients }) =>
      callAndRead(clients.reads, 'getSignatureStatuses', params, { signal }, read)
    )
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
    const signatures = await this.#nodes.read('getBlock', [slot, options], signal, readSignatures)
    // A node answers null to a slot without a block, so it has not failed.
    if (signatures === null)
      throw new NodeError('node', { kind: 'garbage', detail: `no block at slot ${slot}` })
    return signatures
  }

  async height(signal: AbortSignal): Promise<{ readonly slot: number; readonly height: number }> {
    return this.#nodes.ask(async (node) => {
      const read = await callAndRead(node.clients.reads, 'getEpochInfo', [CONFIRMED], { signal }, readHeight)
      node.slot = read.slot
      return read
    }, signal)
  }

  async isBlockhashValid(
    blockhash: string,
    signal: AbortSignal
  ): Promise<{ readonly contextSlot: number; readonly isValid: boolean }> {
    const params = [blockhash, CONFIRMED]
    const read = atSlot(readValidity)
    const { contextSlot, value } = await this.#nodes.read('isBlockhashValid', params, signal, read)
    return { contextSlot, isValid: value }
  }

  async nonce(
    account: string,
    signal: AbortSignal
  ): Promise<{ readonly contextSlot: number; readonly value: string | null }> {
    const { contextSlot, value: found } = await this.#account(account, signal)
    const state = found && nonceStateOf({ owner: pubkeyFromBase58(found.owner), data: found.data })
    return { contextSlot, value: state && encodeBase58(state.value) }
  }

  async account(address: string, signal: AbortSignal): ReturnType<TransactionNode['account']> {
    return (await this.#account(address, signal)).value
  }

  async close(): Promise<void> {
    await this.#nodes.close()
  }

  #account(address: string, signal: AbortSignal) {
    const params = [address, { encoding: 'base64', ...CONFIRMED }]
    return this.#nodes.read('getAccountInfo', params, signal, atSlot(readOwnedData))
  }
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
