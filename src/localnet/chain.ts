import type { Commitment } from '../market/rows.ts'

/**
 * The interface between the components of a localnet: the chain produces blocks, the market adds transactions to them, and
 * the node serves both by JSON-RPC. Addresses, hashes and signatures are raw bytes; balances are lamports or raw token
 * amounts.
 */
export interface LocalChain {
  readonly genesisHash: Uint8Array
  /** The first slot whose block is retained. */
  readonly firstSlot: number
  slot(commitment: Commitment): number
  /** Returns the number of blocks up to the slot of a commitment; skipped slots have no block. */
  blockHeight(commitment: Commitment): number
  latestBlockhash(commitment: Commitment): LatestBlockhash
  /** Tells whether a transaction with this blockhash can still land in the next block at a commitment. */
  isBlockhashValid(blockhash: Uint8Array, commitment: Commitment): boolean
  /** Returns the block of a slot at a commitment. */
  block(slot: number, commitment: Commitment): BlockAnswer
  /** Returns the number of transactions in a retained block; 0 if the slot has no retained block. */
  transactionsIn(slot: number): number
  /** Returns the slots of retained blocks between two slots, both included, at a commitment; ascending, at most `limit`. */
  blockSlots(first: number, last: number, limit: number, commitment: Commitment): readonly number[]
  /**
   * Returns an account at the newest block of a commitment, by default processed. Null if the account is missing or has no
   * lamports.
   */
  account(address: Uint8Array, commitment?: Commitment): LocalAccount | null
  /** Reads a program's accounts at the newest block of a commitment, by default processed. */
  accountsOf(program: Uint8Array, commitment?: Commitment): readonly LocalAccount[]
  minimumBalance(dataLength: number): bigint
  /** Finds a transaction and its block; null if it is unknown or its block is no longer retained. */
  transaction(signature: Uint8Array): FoundTransaction | null
  /** Returns transactions of retained blocks, newest first; `before` and `until` are signatures, both excluded. */
  signaturesOf(
    address: Uint8Array,
    page: { readonly before?: Uint8Array; readonly until?: Uint8Array; readonly limit: number }
  ): readonly FoundTransaction[]
  /**
   * Queues a signed transaction for one of the next blocks; returns its signature. Throws a SendFailure if a node's
   * preflight would refuse the transaction, or if its bytes, signatures or blockhash cannot land. With `skipPreflight`, a
   * failing transaction lands as failed.
   */
  send(wire: Uint8Array, options: { readonly skipPreflight: boolean }): Uint8Array
  /**
   * Queues signed transactions that land in one block, in order and all successful, or not at all; returns their
   * signatures. Each block that executes or refuses them calls `onOutcome`: again after a fork. Throws a SendFailure if the
   * bytes or signatures of a transaction are wrong, or the queue is full.
   */
  sendBundle(wires: readonly Uint8Array[], onOutcome: (outcome: BundleOutcome) => void): readonly Uint8Array[]
  simulate(wire: Uint8Array, options: SimulationOptions): Simulation
  /** Sends lamports of the faucet in an ordinary transfer; returns its signature. Throws as `send` does. */
  airdrop(to: Uint8Array, lamports: bigint): Uint8Array
  /** Adds an executed transaction to the next block with the accounts that it changed; only for the market. */
  include(transaction: ExecutedTransaction, accounts: readonly LocalAccount[]): void
  /** Calls a listener for every event, in order, until the returned function is called. A listener must not throw. */
  listen(listener: (event: ChainEvent) => void): () => void
}

export interface LatestBlockhash {
  readonly blockhash: Uint8Array
  readonly lastValidBlockHeight: number
  /** The slot at which the value is true. */
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
  /**
   * `pending`: no block yet at this commitment; `pruned`: no longer retained; `skipped`: the slot has no block, for good.
   */
  | { readonly kind: 'pending' | 'pruned' | 'skipped' }

/** A transaction of a block: its bytes, and a node's record of its execution. */
export interface ExecutedTransaction {
  readonly signature: Uint8Array
  readonly wire: Uint8Array
  readonly isVote: boolean
  readonly meta: ExecutionMeta
}

export interface ExecutionMeta {
  /** The error in JSON-RPC form, such as `{ InstructionError: [0, { Custom: 1 }] }`; null on success. */
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
  /** Accounts to return in their state after the transaction. */
  readonly accounts: readonly Uint8Array[]
}

export interface Simulation {
  readonly err: unknown
  readonly logs: readonly string[]
  readonly computeUnits: bigint
  readonly inner: readonly InnerGroup[]
  readonly returnData: { readonly program: Uint8Array; readonly data: Uint8Array } | null
  readonly accounts: readonly (LocalAccount | null)[]
  /** The inserted blockhash; null if `replaceRecentBlockhash` is not set. */
  readonly replacement: LatestBlockhash | null
}

/** Reasons why a transaction was not accepted. */
export type SendProblem =
  | { readonly kind: 'undecodable'; readonly detail: string }
  | { readonly kind: 'signature' }
  | { readonly kind: 'blockhash' }
  | { readonly kind: 'preflight'; readonly simulation: Simulation }
  /** The queue is full; retry after the next block. */
  | { readonly kind: 'full'; readonly waitingMax: number }

export class SendFailure extends Error {
  readonly problem: SendProblem

  constructor(problem: SendProblem) {
    super(`the transaction is not taken: ${problem.kind}`)
    this.problem = problem
  }
}

/** Outcome of a bundle in a block. */
export type BundleOutcome =
  | { readonly kind: 'landed'; readonly slot: number }
  /** `expired`: a blockhash is not valid; `known`: a member is in a block already; `failed`: a member failed. */
  | {
      readonly kind: 'refused'
      readonly why: 'expired' | 'known' | 'failed'
      /** Position of the member that is the reason, from 0. */
      readonly index: number
      /** The member's error in JSON-RPC form; null if it was not executed. */
      readonly err: unknown
    }

export type ChainEvent =
  /** The block of a slot begins; skipped slots are not reported, as on a node. `root` is the newest finalized slot. */
  | { readonly kind: 'slot'; readonly slot: number; readonly parent: number; readonly root: number }
  /**
   * A block has reached a commitment. Has the changed accounts, in their state after the block. After a fork at processed,
   * the next block follows an earlier parent, or repeats a slot, and has the restored accounts.
   */
  | {
      readonly kind: 'block'
      readonly commitment: Commitment
      readonly block: LocalBlock
      readonly accounts: readonly LocalAccount[]
    }
