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
  /** All of its data, or the requested slice. */
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
  /** Length of the data in bytes; absent for any length. */
  readonly dataSize?: number
  readonly memcmp?: readonly BytesFilter[]
  /** The bytes of the data that are wanted; absent for all. */
  readonly dataSlice?: { readonly offset: number; readonly length: number }
}

/**
 * The operator's nodes, as the account side needs them. All answers are at one slot, at confirmed, from the node with the
 * newest slot. Each call rejects with NodeError, or with the signal's reason.
 */
export interface AccountNode {
  /**
   * Reads accounts in the order of the addresses; null for one that does not exist. Any number is allowed; each
   * request has at most 100.
   */
  accounts(
    addresses: readonly Pubkey[],
    signal: AbortSignal
  ): Promise<{ readonly slot: number; readonly accounts: readonly (Account | null)[] }>
  /** Reads the epoch schedule of the cluster, which never changes. */
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
  ): Promise<{
    readonly slot: number
    readonly accounts: readonly AddressedAccount[]
    /** The version of the node; absent if the node does not state it. */
    readonly apiVersion?: string | undefined
  }>
}

/** Fields of the JSON at a mint's URI, each null if it is absent or of another form. */
export interface OffChainFields {
  /** A URL with the scheme http, https, ipfs or ar. */
  readonly image: string | null
  readonly description: string | null
  /** Links, with http or https. */
  readonly website: string | null
  readonly twitter: string | null
  readonly telegram: string | null
  readonly discord: string | null
}

/** Reasons why a fetch of a URL that a stranger chose gave nothing. */
const FETCH_ERRORS = [
  'url_not_allowed',
  'unreachable',
  'timeout',
  'status',
  'too_many_redirects',
  'too_large'
] as const
export type FetchError = (typeof FETCH_ERRORS)[number]

/** Reasons why a URI gave no fields. */
export const OFF_CHAIN_ERRORS = [...FETCH_ERRORS, 'not_json', 'not_an_object'] as const
export type OffChainError = (typeof OFF_CHAIN_ERRORS)[number]

/** The outcome of fetching a URI. */
export type OffChainReading =
  | { readonly kind: 'read'; readonly fields: OffChainFields }
  | { readonly kind: 'failed'; readonly error: OffChainError }

/** The state of a URI: pending before the first outcome. After a failure, the last success is retained. */
export type KnownOffChain =
  | { readonly kind: 'pending' }
  | (OffChainReading & { /** When it was fetched. */ readonly readAtMs: number })

/** The JSON at URIs, fetched and cached. */
export interface OffChainSource {
  /**
   * Returns the known fields of URIs, in their order. Waits a short time for URIs that are fetched for the first time. Never
   * rejects.
   */
  read(uris: readonly string[]): Promise<readonly KnownOffChain[]>
}

/** An image of a token, as its host sent it. */
export interface TokenImage {
  readonly mediaType: string
  readonly bytes: Buffer
}

/** The outcome of fetching an image. `not_an_image`: it has another form than PNG, JPEG, GIF and WebP, or too many pixels. */
export type ImageReading =
  | { readonly kind: 'read'; readonly image: TokenImage }
  | { readonly kind: 'failed'; readonly error: FetchError | 'not_an_image' }

/** Images at URLs, fetched and cached. */
export interface TokenImageSource {
  /** Returns the image at a URL. Waits some seconds for an image that is fetched for the first time. Never rejects. */
  read(url: string): Promise<ImageReading | { readonly kind: 'pending' }>
}
