import type { Commitment } from '../market/rows.ts'

/**
 * What the parts of a localnet agree on: the chain makes blocks, the market puts transactions into them, and the node tells
 * the world of both in the words of JSON-RPC. Addresses, hashes and signatures are raw bytes; balances are lamports or raw
 * token amounts.
 */
export interface LocalChain {
  readonly genesisHash: Uint8Array
  /** The first slot whose block is still kept. */
  readonly firstSlot: number
  slot(commitment: Commitment): number
  /** How many blocks there are up to the slot of a commitment: skipped slots have none. */
  blockHeight(commitment: Commitment): number
  latestBlockhash(commitment: Commitment): LatestBlockhash
  /** Whether a transaction with this blockhash can still land in the next block of a commitment. */
  isBlockhashValid(blockhash: Uint8Array, commitment: Commitment): boolean
  /** The block of a slot as the chain sees it at a commitment. */
  block(slot: number, commitment: Commitment): BlockAnswer
  /** The slots of kept blocks from one slot to another as the chain sees them at a commitment, ascending, at most so many. */
  blockSlots(first: number, last: number, limit: number, commitment: Commitment): readonly number[]
  /** As of the newest processed block, like all that is said of accounts. Null where there is none, or it holds no lamports. */
  account(address: Uint8Array): LocalAccount | null
  accountsOf(program: Uint8Array): readonly LocalAccount[]
  minimumBalance(dataLength: number): bigint
  /** Where a transaction is, and in which block: null when nobody has seen it, or its block is no longer kept. */
  transaction(signature: Uint8Array): FoundTransaction | null
  /** Newest first, of kept blocks; `before` and `until` are signatures, both excluded. */
  signaturesOf(
    address: Uint8Array,
    page: { readonly before?: Uint8Array; readonly until?: Uint8Array; readonly limit: number }
  ): readonly FoundTransaction[]
  /**
   * Takes a signed transaction for one of the next blocks. Throws a SendFailure where a node's preflight would refuse it, or
   * where its bytes, signatures or blockhash cannot land; with `skipPreflight` a transaction that fails lands as failed.
   */
  send(wire: Uint8Array, options: { readonly skipPreflight: boolean }): Uint8Array
  simulate(wire: Uint8Array, options: SimulationOptions): Simulation
  /** Sends lamports of the faucet by a transfer that lands as any other; returns its signature. Throws as `send` does. */
  airdrop(to: Uint8Array, lamports: bigint): Uint8Array
  /** Puts a transaction into the next block as it stands, with what it did to accounts: for the market alone. */
  include(transaction: ExecutedTransaction, accounts: readonly LocalAccount[]): void
  /** Hears of what happens, in order, until the returned function is called. A listener must not throw. */
  listen(listener: (event: ChainEvent) => void): () => void
}

export interface LatestBlockhash {
  readonly blockhash: Uint8Array
  readonly lastValidBlockHeight: number
  /** The slot as of which this is said. */
  readonly slot: number
}

export interface LocalAccount {
  readonly address: Uint8Array
  readonly owner: Uint8Array
  readonly lamports: bigint
  readonly data: Uint8Array
  readonly executable: boolean
  readonly rentEpoch: bigint
}

export interface LocalBlock {
  readonly slot: number
  readonly parentSlot: number
  readonly blockHeight: number
  readonly blockhash: Uint8Array
  readonly previousBlockhash: Uint8Array
  /** Unix seconds. */
  readonly blockTime: number
  readonly transactions: readonly ExecutedTransaction[]
}

export type BlockAnswer =
  | { readonly kind: 'block'; readonly block: LocalBlock }
  /** `pending`: not there yet at this commitment; `pruned`: no longer kept; `skipped`: there is none, and never will be. */
  | { readonly kind: 'pending' | 'pruned' | 'skipped' }

/** A transaction of a block: its bytes, and what a node records of its execution. */
export interface ExecutedTransaction {
  readonly signature: Uint8Array
  readonly wire: Uint8Array
  readonly isVote: boolean
  readonly meta: ExecutionMeta
}

export interface ExecutionMeta {
  /** As JSON-RPC writes it, such as `{ InstructionError: [0, { Custom: 1 }] }`; null where it succeeded. */
  readonly err: unknown
  readonly fee: bigint
  readonly computeUnits: bigint
  /** By account index: static keys, then loaded writable ones, then loaded readonly ones. */
  readonly preBalances: readonly bigint[]
  readonly postBalances: readonly bigint[]
  readonly preTokenBalances: readonly MetaTokenBalance[]
  readonly postTokenBalances: readonly MetaTokenBalance[]
  readonly inner: readonly InnerGroup[]
  readonly logs: readonly string[]
  readonly loadedWritable: readonly Uint8Array[]
  readonly loadedReadonly: readonly Uint8Array[]
  readonly returnData: { readonly program: Uint8Array; readonly data: Uint8Array } | null
}

export interface MetaTokenBalance {
  readonly accountIndex: number
  readonly mint: Uint8Array
  readonly owner: Uint8Array
  readonly program: Uint8Array
  readonly amount: bigint
  readonly decimals: number
}

/** The inner instructions of one outer instruction, in execution order. */
export interface InnerGroup {
  readonly index: number
  readonly instructions: readonly InnerInstruction[]
}

export interface InnerInstruction {
  readonly programIndex: number
  readonly accounts: readonly number[]
  readonly data: Uint8Array
  /** 2 for a direct call of the outer instruction, 3 for its calls, and so on. */
  readonly stackHeight: number
}

export interface FoundTransaction {
  readonly transaction: ExecutedTransaction
  readonly slot: number
  readonly blockTime: number
  readonly indexInBlock: number
  readonly commitment: Commitment
}

export interface SimulationOptions {
  readonly sigVerify: boolean
  readonly replaceRecentBlockhash: boolean
  /** Accounts whose state after the transaction is wanted. */
  readonly accounts: readonly Uint8Array[]
}

export interface Simulation {
  readonly err: unknown
  readonly logs: readonly string[]
  readonly computeUnits: bigint
  readonly inner: readonly InnerGroup[]
  readonly returnData: { readonly program: Uint8Array; readonly data: Uint8Array } | null
  readonly accounts: readonly (LocalAccount | null)[]
  /** With `replaceRecentBlockhash`: the one that was put in. */
  readonly replacement: LatestBlockhash | null
}

/** Why a transaction was not taken. */
export type SendProblem =
  | { readonly kind: 'undecodable'; readonly detail: string }
  | { readonly kind: 'signature' }
  | { readonly kind: 'blockhash' }
  | { readonly kind: 'preflight'; readonly simulation: Simulation }
  /** As many wait for a block as may: try again after the next one. */
  | { readonly kind: 'full'; readonly waitingMax: number }

export class SendFailure extends Error {
  readonly problem: SendProblem

  constructor(problem: SendProblem) {
    super(`the transaction is not taken: ${problem.kind}`)
    this.problem = problem
  }
}

export type ChainEvent =
  /** The block of a slot begins; skipped slots are not told of, as on a node. `root` is the newest finalized slot. */
  | { readonly kind: 'slot'; readonly slot: number; readonly parent: number; readonly root: number }
  /**
   * A block has reached a commitment; with the accounts that it changed, as they are after it. After a fork at processed the
   * next block follows an earlier parent, or comes for the same slot again, and has the accounts that went back with it.
   */
  | {
      readonly kind: 'block'
      readonly commitment: Commitment
      readonly block: LocalBlock
      readonly accounts: readonly LocalAccount[]
    }
