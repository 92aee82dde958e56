import type { EpochSchedule } from '../chain/epoch-schedule.ts'
import type { Pubkey } from '../chain/pubkey.ts'

/** An account as a node reports it. */
export interface Account {
  readonly lamports: bigint
  /** The program that owns it. */
  readonly owner: Pubkey
  readonly executable: boolean
  /** u64; 2^64 - 1 for an account that pays no rent. */
  readonly rentEpoch: bigint
  /** All of its data, or the slice that was asked for. */
  readonly data: Uint8Array
}

export interface AddressedAccount {
  readonly address: Pubkey
  readonly account: Account
}

/** Compares bytes of an account's data, as `memcmp` of getProgramAccounts does. */
export interface BytesFilter {
  readonly offset: number
  /** At most 128 bytes (agave, MAX_DATA_SIZE). */
  readonly bytes: Uint8Array
}

export interface ProgramAccountsQuery {
  /** Length of the data in bytes; absent for any. */
  readonly dataSize?: number
  readonly memcmp?: readonly BytesFilter[]
  /** The bytes of the data that are wanted; absent for all. */
  readonly dataSlice?: { readonly offset: number; readonly length: number }
}

/**
 * The operator's nodes, as the account side needs them. All answers are as of a slot at confirmed, from the node with the
 * newest one. Each call rejects with NodeError, or with the signal's reason.
 */
export interface AccountNode {
  /** Reads accounts in the order of the addresses; null for one that is not there. Any number: 100 are asked at a time. */
  accounts(
    addresses: readonly Pubkey[],
    signal: AbortSignal
  ): Promise<{ readonly slot: number; readonly accounts: readonly (Account | null)[] }>
  /** Reads how the cluster divides its slots into epochs; it never changes. */
  epochSchedule(signal: AbortSignal): Promise<EpochSchedule>
  /** Reads the token accounts of a wallet that one token program owns. */
  tokenAccounts(
    wallet: Pubkey,
    tokenProgram: Pubkey,
    signal: AbortSignal
  ): Promise<{ readonly slot: number; readonly accounts: readonly AddressedAccount[] }>
  /** Reads the accounts of a program that pass all filters. */
  programAccounts(
    program: Pubkey,
    query: ProgramAccountsQuery,
    signal: AbortSignal
  ): Promise<{ readonly slot: number; readonly accounts: readonly AddressedAccount[] }>
}
