import { BLOCK_TIME_MAX, SLOT_MAX } from '../chain/chain-numbers.ts'
import { boundedOrNull, isCount, isObject, listOf, objectOf, Unreadable } from '../chain/rpc/fields.ts'
import { readRpcTransaction } from '../chain/rpc/transaction.ts'
import type { Transaction } from '../chain/transaction.ts'
import { TOKEN_PROGRAM_KEYS } from '../accounts/token-program.ts'
import { withExactLamports, readAccount, readAddressed } from '../accounts/node-answers.ts'
import { pubkeyToBase58 } from '../chain/pubkey.ts'
import { readInContext, type ReadResult } from '../node/node-answers.ts'
import { hasNoHistory, NodeError, RPC_CODE, type NodeFault } from '../node/node-fault.ts'
import { NodeGroup, type GroupNode, type NodeClients } from '../node/node-group.ts'
import { RpcClient, type RpcClientOptions } from '../node/rpc-client.ts'
import type { Clock } from '../ports.ts'
import { heldBalance, type ChainBalance } from './chain-balance.ts'

/** Maximum signatures of one answer (agave, MAX_GET_CONFIRMED_SIGNATURES_FOR_ADDRESS2_LIMIT). */
export const SIGNATURES_PAGE_MAX = 1_000
/** Maximum accounts of getMultipleAccounts (agave, MAX_MULTIPLE_ACCOUNTS). */
const ACCOUNTS_AT_ONCE = 100
/** Slots whose places are cached: signatures of one block follow each other. */
const PLACES_MAX = 16
/** Code of agave for an unknown `before` of getSignaturesForAddress. */
const TRANSACTION_UNKNOWN = -32020

const FINALIZED = { commitment: 'finalized' } as const
const TRANSACTION_PARAMS = { ...FINALIZED, encoding: 'base64', maxSupportedTransactionVersion: 1 } as const
const PLACE_PARAMS = { ...TRANSACTION_PARAMS, transactionDetails: 'signatures', rewards: false } as const

/**
 * Limits of each node. An answer has at most 1,000 signatures, or a transaction of some KB; archive nodes answer old ones
 * within seconds. Four requests in flight reach the rate at 400 ms an answer.
 */
const CLIENT: Partial<RpcClientOptions> = {
  concurrency: 4,
  timeoutMs: 30_000,
  bodyBytesMax: 64 * 1024 * 1024
}

/** A signature of an address, as a node lists it. */
export interface ListedSignature {
  readonly signature: string
  readonly slot: number
}

/** A transaction with its place in the chain. */
export interface PlacedTransaction {
  readonly kind: 'transaction'
  readonly transaction: Transaction
  readonly slot: number
  /** Unix seconds. */
  readonly blockTime: number
}

/** `absent`: the node does not have it. `unreadable`: its answer is of an unknown form. */
export type HistoryTransaction =
  | PlacedTransaction
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreadable' }

/** The history of a chain, as a backfill needs it. Each call rejects with NodeError, or with the signal's reason. */
export interface HistoryNode {
  /** Returns the newest finalized slot. */
  finalizedSlot(signal: AbortSignal): Promise<number>
  /** Returns the oldest slot whose block a node has; Infinity if the node has no history. */
  firstSlot(signal: AbortSignal): Promise<number>
  /** Returns the first slot at or after one that has a block, with its time; null after the newest block. */
  blockFrom(slot: number, signal: AbortSignal): Promise<{ slot: number; ts: number | null } | null>
  /** Lists signatures of an account before one, newest first; null if the node does not know that one. */
  signatures(
    account: string,
    before: string | null,
    signal: AbortSignal
  ): Promise<readonly ListedSignature[] | null>
  transaction(listed: ListedSignature, signal: AbortSignal): Promise<HistoryTransaction>
  /** Lists the token accounts that an address owns now, base58. */
  tokenAccounts(owner: string, signal: AbortSignal): Promise<readonly string[]>
  /** Reads balances of at most 100 accounts at or after a slot. `slot` is that of the answer. */
  balances(
    accounts: readonly string[],
    minSlot: number,
    signal: AbortSignal
  ): Promise<{ readonly slot: number; readonly balances: readonly ChainBalance[] }>
}

/** The history of the operator's archive nodes by JSON-RPC, at the commitment `finalized`: no fork removes what it lists. */
export class RpcHistoryNode implements HistoryNode {
  readonly #nodes: NodeGroup<NodeClients>
  readonly #places = new Map<number, Promise<readonly string[] | null>>()

  /** `urls` is called at each request: the localnet's URL is known only once it listens. */
  constructor(urls: () => readonly string[], clock: Clock, requestsPerSecond: number) {
    this.#nodes = new NodeGroup(urls, clock, (address) => {
      const reads = new RpcClient(address, clock, { ...CLIENT, requestsPerSecond })
      return { reads, all: [reads] }
    })
  }

  /** Requests queued for a node. */
  get waiting(): number {
    return this.#nodes.waiting
  }

  finalizedSlot(signal: AbortSignal): Promise<number> {
    return this.#read('getSlot', [FINALIZED], signal, slotOf)
  }

  async firstSlot(signal: AbortSignal): Promise<number> {
    try {
      return await this.#read('getFirstAvailableBlock', [], signal, slotOf)
    } catch (error) {
      if (hasNoHistory(error)) return Infinity
      throw error
    }
  }

  async blockFrom(slot: number, signal: AbortSignal): Promise<{ slot: number; ts: number | null } | null> {
    const params = [slot, 1, FINALIZED]
    const [first] = await this.#read('getBlocksWithLimit', params, signal, (result) =>
      listOf(result, 'slots').map(slotOf)
    )
    if (first === undefined) return null
    const ts = await this.#read('getBlockTime', [first], signal, (result) =>
      boundedOrNull(result, BLOCK_TIME_MAX, 'blockTime')
    )
    return { slot: first, ts }
  }

  async signatures(
    account: string,
    before: string | null,
    signal: AbortSignal
  ): Promise<readonly ListedSignature[] | null> {
    const config = { ...FINALIZED, limit: SIGNATURES_PAGE_MAX, ...(before !== null && { before }) }
    try {
      return await this.#read('getSignaturesForAddress', [account, config], signal, (result) =>
        listOf(result, 'signatures').map(listedOf)
      )
    } catch (error) {
      if (before !== null && isUnknown(error)) return null
      throw error
    }
  }

  async transaction(listed: ListedSignature, signal: AbortSignal): Promise<HistoryTransaction> {
    try {
      const found = await this.#found(listed, signal)
      return found === null ? { kind: 'absent' } : await this.#placed(listed, found, signal)
    } catch (error) {
      if (error instanceof NodeError && isOfAnswer(error.fault)) return { kind: 'unreadable' }
      throw error
    }
  }

  /** Requests a transaction; every node is queried before it counts as absent. */
  async #found({ signature }: ListedSignature, signal: AbortSignal): Promise<unknown> {
    const ask = async ({ clients: { reads } }: GroupNode<NodeClients>): Promise<unknown> =>
      (await reads.call('getTransaction', [signature, TRANSACTION_PARAMS], { signal })).result ?? null
    const first = await this.#nodes.ask(ask, signal)
    if (first !== null) return first
    return (await this.#nodes.askEach(ask)).find((answer) => answer !== null) ?? null
  }

  async #placed(listed: ListedSignature, found: unknown, signal: AbortSignal): Promise<HistoryTransaction> {
    const isPlaced = isObject(found) && isCount(found['transactionIndex'])
    const position = isPlaced ? null : await this.#positionOf(listed, signal)
    if (!isPlaced && position === null) return { kind: 'absent' }
    const outcome = readRpcTransaction(found, position)
    if (outcome.kind !== 'transaction') return { kind: 'unreadable' }
    const blockTime = outcome.blockTime ?? (await this.blockFrom(listed.slot, signal))?.ts ?? null
    if (blockTime === null) return { kind: 'unreadable' }
    const { transaction, slot } = outcome
    return { kind: 'transaction', transaction, slot: slot ?? listed.slot, blockTime }
  }

  async tokenAccounts(owner: string, signal: AbortSignal): Promise<readonly string[]> {
    const config = { ...FINALIZED, encoding: 'base64', dataSlice: { offset: 0, length: 0 } }
    const found: string[] = []
    for (const program of Object.values(TOKEN_PROGRAM_KEYS)) {
      const params = [owner, { programId: pubkeyToBase58(program) }, config]
      const read = withExactLamports((result) => readAddressed(readInContext(result).value, true))
      const accounts = await this.#read('getTokenAccountsByOwner', params, signal, read)
      found.push(...accounts.map(({ address }) => pubkeyToBase58(address)))
    }
    return found
  }

  async balances(
    accounts: readonly string[],
    minSlot: number,
    signal: AbortSignal
  ): Promise<{ readonly slot: number; readonly balances: readonly ChainBalance[] }> {
    if (accounts.length > ACCOUNTS_AT_ONCE) throw new RangeError(`${accounts.length} accounts of one answer`)
    const config = { ...FINALIZED, encoding: 'base64', minContextSlot: minSlot }
    return this.#read(
      'getMultipleAccounts',
      [accounts, config],
      signal,
      withExactLamports((result) => {
        const { slot, value } = readInContext(result)
        const list = listOf(value, 'accounts')
        if (list.length !== accounts.length) throw new Unreadable('accounts')
        const read = list.map((each) => heldBalance(each === null ? null : readAccount(each)))
        return { slot, balances: read }
      })
    )
  }

  async close(): Promise<void> {
    await this.#nodes.close()
  }

  /** Returns the place of a transaction in its block, which older nodes do not state; null if the block lacks it. */
  async #positionOf({ signature, slot }: ListedSignature, signal: AbortSignal): Promise<number | null> {
    let places = this.#places.get(slot)
    if (places === undefined) {
      places = this.#signaturesIn(slot, signal)
      this.#places.set(slot, places)
      places.catch(() => this.#places.delete(slot))
      for (const oldest of this.#places.keys())
        if (this.#places.size > PLACES_MAX) this.#places.delete(oldest)
    }
    const at = (await places)?.indexOf(signature) ?? -1
    return at < 0 ? null : at
  }

  async #signaturesIn(slot: number, signal: AbortSignal): Promise<readonly string[] | null> {
    try {
      return await this.#read('getBlock', [slot, PLACE_PARAMS], signal, (result) => {
        if (result === null) return null
        return listOf(objectOf(result, 'block')['signatures'], 'signatures').map(textOf)
      })
    } catch (error) {
      if (error instanceof NodeError && error.fault.kind === 'rpc' && PRUNED.includes(error.fault.code))
        return null
      throw error
    }
  }

  #read<T>(method: string, params: readonly unknown[], signal: AbortSignal, read: ReadResult<T>): Promise<T> {
    return this.#nodes.read(method, params, signal, read)
  }
}

/** Codes of a node that no longer has a block. */
const PRUNED: readonly number[] = [
  RPC_CODE.blockCleanedUp,
  RPC_CODE.slotSkipped,
  RPC_CODE.longTermSlotSkipped,
  RPC_CODE.blockNotAvailable
]

/** Tells whether a fault concerns the answer, so that a retry brings the same one. */
const isOfAnswer = (fault: NodeFault): boolean =>
  fault.kind === 'too-large' ||
  (fault.kind === 'rpc' && fault.code === RPC_CODE.unsupportedTransactionVersion)

const isUnknown = (error: unknown): boolean =>
  error instanceof NodeError && error.fault.kind === 'rpc' && error.fault.code === TRANSACTION_UNKNOWN

function slotOf(value: unknown): number {
  if (isCount(value) && value <= SLOT_MAX) return value
  throw new Unreadable('slot')
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  throw new Unreadable('signature')
}

function listedOf(value: unknown): ListedSignature {
  const { signature, slot } = objectOf(value, 'signature')
  return { signature: textOf(signature), slot: slotOf(slot) }
}
