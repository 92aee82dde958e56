import type { Pubkey, PubkeyTable } from './pubkey.ts'

/**
 * The decoder's input: one transaction of a block, independent of the encoding that a node used. Everything is addressed
 * by account index. Accessors return keys and data: a JSON source decodes base58 only when read, and a binary source
 * returns its bytes unchanged.
 */
export interface Transaction {
  /** 64 bytes. */
  readonly signature: Uint8Array
  /** Position in the block; null if the source does not state it. */
  readonly index: number | null
  readonly version: TransactionVersion
  /** True if the runtime reports an error: the transaction then had no effect except its fee. */
  readonly failed: boolean
  /** Static keys, then loaded writable ones, then loaded readonly ones. */
  readonly keys: AccountKeys
  /** Number of keys that signed: the first ones in the list. Key 0 pays the fee. */
  readonly signerCount: number
  /** The recent blockhash, or the value of a durable nonce; 32 bytes. Absent if the source does not state it. */
  readonly lifetime?: Uint8Array | undefined
  /** The budget that version 1 states; absent in other versions. */
  readonly config?: TransactionConfig | undefined
  readonly feeLamports: bigint
  /** Outer and inner instructions in execution order. */
  readonly instructions: readonly Instruction[]
  /** False if an inner instruction lacks its stack height, so that nesting is unknown. */
  readonly nestingKnown: boolean
  /** Log lines; null if the source has no log. */
  readonly logs: readonly string[] | null
  readonly preTokenBalances: readonly TokenBalance[]
  readonly postTokenBalances: readonly TokenBalance[]
  readonly preBalances: readonly number[]
  readonly postBalances: readonly number[]
  /** Sections that the source does not state, so that their lists are incomplete; absent if it states all sections. */
  readonly unstated?: readonly UnstatedSection[] | undefined
}

/**
 * An optional section of a transaction's meta. Logs are not included: `logs` is null if absent. A node that does not
 * record a section omits it; an omitted section differs from an empty one.
 */
export type UnstatedSection = 'inner-instructions' | 'balances' | 'token-balances'

export type TransactionVersion = 'legacy' | 0 | 1

/** The budget of version 1; null if the transaction leaves the default. */
export interface TransactionConfig {
  readonly priorityFeeLamports: bigint | null
  readonly computeUnitLimit: number | null
  readonly loadedAccountsBytesMax: number | null
  readonly heapBytes: number | null
}

export interface AccountKeys {
  readonly length: number
  /** The key at an index; throws a RangeError outside the list. */
  bytes(index: number): Pubkey
  /** The table's value for the key at an index. */
  lookup<T>(index: number, table: PubkeyTable<T>): T | undefined
  /** Tells whether the message requests a write lock on the account; false if the source does not state it. */
  isWritable(index: number): boolean
  /** One of the two hashes of the key (`accountHashes`), whichever is cheaper. */
  hash(index: number): number
  /** Writes the hashes of all writable keys into a list from an index on, and returns the index after them. */
  writableHashes(into: Float64Array, from: number): number
}

export interface Instruction {
  /** Account index of the program. */
  readonly program: number
  /** Account indexes, in the instruction's order. */
  readonly accounts: ArrayLike<number>
  readonly data: Uint8Array
  /** 1 for an outer instruction, 2 for its direct calls; 0 if an inner instruction has no recorded height. */
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
  /**
   * Mint, owner and amount as the source wrote them, if they are texts: decoding a key takes 4 µs, and most are never
   * read.
   */
  readonly mintBase58?: string
  readonly ownerBase58?: string | null
  readonly amountText?: string
}

/** One block of the chain, with the facts that a source has. */
export interface Block {
  readonly slot: number
  /** Unix seconds. */
  readonly blockTime: number
  readonly parentSlot: number | null
  /** Base58; absent if the source does not name it. */
  readonly blockhash?: string
  /** Base58 hash of the parent; absent if the source does not name it. */
  readonly parentBlockhash?: string
  /** Number of earlier blocks on its fork; absent if the source does not state it. */
  readonly height?: number
  readonly transactions: readonly Transaction[]
  /** Number of votes, which are left out without decoding. */
  readonly votes: number
  /** Number of transactions that cannot be read and are left out; absent for 0. */
  readonly leftOut?: number
  /** Rewards that the block paid, in its order; absent if the source does not state them. */
  readonly rewards?: readonly Reward[]
}

/** A payment of a block that no transaction causes. */
export interface Reward {
  /** Base58: a validator's identity, a vote account or a stake account. */
  readonly address: string
  /** Negative for rent that was collected. */
  readonly lamports: bigint
  /** Balance after the reward. */
  readonly postLamports: bigint
  /** Null if the source does not state it, or names a type unknown here. */
  readonly type: RewardType | null
}

/** `fee` and `rent` are paid at the end of a block, the others before its first transaction. */
export type RewardType = 'fee' | 'rent' | 'staking' | 'voting'
