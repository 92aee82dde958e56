import type { Pubkey, PubkeyTable } from './pubkey.ts'

/**
 * The decoder's input form: what a block says of one transaction, independent of how a node wrote it.
 * Everything is addressed by account index; keys and instruction data are reached through accessors, so that a
 * JSON source decodes base58 only for what is looked at and a binary source hands out its bytes as they are.
 */
export interface Transaction {
  /** 64 bytes. */
  readonly signature: Uint8Array
  /** Position in the block, or null where the source does not say. */
  readonly index: number | null
  readonly version: TransactionVersion
  /** True when the runtime reports an error: nothing it did took effect. */
  readonly failed: boolean
  /** Static keys, then loaded writable ones, then loaded readonly ones. */
  readonly keys: AccountKeys
  /** The first so many keys signed; key 0 pays the fee. */
  readonly signerCount: number
  readonly feeLamports: bigint
  /** Outer and inner instructions in execution order. */
  readonly instructions: readonly Instruction[]
  /** False where an inner instruction came without its stack height, so that nesting is not known. */
  readonly nestingKnown: boolean
  /** Null where the source has none. */
  readonly logs: readonly string[] | null
  readonly preTokenBalances: readonly TokenBalance[]
  readonly postTokenBalances: readonly TokenBalance[]
  readonly preBalances: readonly number[]
  readonly postBalances: readonly number[]
}

export type TransactionVersion = 'legacy' | 0 | 1

export interface AccountKeys {
  readonly length: number
  /** The key at an index; throws a RangeError outside the list. */
  bytes(index: number): Pubkey
  /** The table's value for the key at an index. */
  lookup<T>(index: number, table: PubkeyTable<T>): T | undefined
}

export interface Instruction {
  /** Account index of the program. */
  readonly program: number
  /** Account indexes, in the instruction's order. */
  readonly accounts: ArrayLike<number>
  readonly data: Uint8Array
  /** 1 for an outer instruction, 2 for its direct calls; 0 where an inner one came without it. */
  readonly height: number
  readonly outerIndex: number
  /** Index in the inner group; null for the outer instruction itself. */
  readonly innerIndex: number | null
}

export interface TokenBalance {
  readonly account: number
  readonly mint: Pubkey
  /** Null in older records. */
  readonly owner: Pubkey | null
  readonly amount: bigint
  readonly decimals: number
}

/** One block of the chain, or what a source holds of it. */
export interface Block {
  readonly slot: number
  /** Unix seconds. */
  readonly blockTime: number
  readonly parentSlot: number | null
  /** Base58; absent where the source does not name it. */
  readonly blockhash?: string
  /** The hash of the parent; absent where the source does not name it. */
  readonly parentBlockhash?: string
  readonly transactions: readonly Transaction[]
  /** Votes left out before anything was decoded. */
  readonly votes: number
}
