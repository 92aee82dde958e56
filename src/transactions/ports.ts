import type { Commitment } from '../market/rows.ts'
import type { Stored } from '../../storage/documents.ts'
import type { Bundle } from './bundle.ts'
import type { EngineStatus } from './engine/answers.ts'
import type { TipFloor } from './engine/tip-floor.ts'
import type { RevocableTurn, SendTurn } from './fair-queue.ts'
import type { Places } from './places.ts'
import type { Submission, SubmissionProgress } from './submission.ts'

/** The status of a signature, as a node reports it. */
export interface SignatureStatus {
  readonly slot: number
  /** Null once the block is finalized. */
  readonly confirmations: number | null
  /** The chain's error in JSON-RPC form; null for a success. */
  readonly err: unknown
  readonly commitment: Commitment
  /** Number of queried nodes that state this block, at this commitment or above. Absent: one. */
  readonly nodes?: number
}

/** The outcome of a simulation, as a node reports a failed preflight. */
export interface SimulatedOutcome {
  readonly err: unknown
  readonly logs: readonly string[]
  readonly unitsConsumed: number | null
}

/**
 * The node methods that transactions need. Each call goes to the node with the newest slot, and rejects with
 * NodeError. No request is sent twice.
 */
export interface TransactionNode {
  /** Sends without preflight and without the node's own retries. Resolves when the node has accepted it. */
  send(wire: Uint8Array, signal: AbortSignal, turn?: SendTurn): Promise<void>
  /** Simulates at processed, with the signatures verified. */
  simulate(wire: Uint8Array, signal: AbortSignal): Promise<SimulatedOutcome>
  /**
   * Returns statuses in the order of the signatures (base58, at most 256), at a slot; null for an unknown signature.
   * With `history` every node is queried, also for old signatures; with `everyNode` every node is queried for recent
   * ones.
   */
  statuses(
    signatures: readonly string[],
    options: { readonly history: boolean; readonly everyNode?: boolean },
    signal: AbortSignal
  ): Promise<{ readonly contextSlot: number; readonly statuses: readonly (SignatureStatus | null)[] }>
  /**
   * Returns the first signatures of the transactions of a block at confirmed, in their order and in base58. Rejects if the
   * node does not have the block, or stores no history.
   */
  blockSignatures(slot: number, signal: AbortSignal): Promise<readonly string[]>
  /** The newest block at confirmed. */
  height(signal: AbortSignal): Promise<{ readonly slot: number; readonly height: number }>
  /** Returns whether a transaction with the blockhash can still land, at a slot at confirmed. */
  isBlockhashValid(
    blockhash: string,
    signal: AbortSignal
  ): Promise<{ readonly contextSlot: number; readonly isValid: boolean }>
  /** Returns the value of a durable nonce in base58, at a slot at confirmed; null if the account is not a nonce account. */
  nonce(
    account: string,
    signal: AbortSignal
  ): Promise<{ readonly contextSlot: number; readonly value: string | null }>
  /** Data of an account at confirmed; null if it does not exist. */
  account(
    address: string,
    signal: AbortSignal
  ): Promise<{ readonly owner: string; readonly data: Uint8Array } | null>
}

/** Sends directly to leaders. Never rejects; a write that resolves proves no delivery (see `docs`). */
export interface LeaderSender {
  /** Returns the number of leaders that the transaction was written to; 0 if none is known. */
  send(wire: Uint8Array, turn?: SendTurn): Promise<number>
}

/** The outcome of a submission to the block engine. */
export type SubmissionOutcome =
  /** The engine has accepted it. `id` is the bundle's id, or the signature; null if the answer has none. */
  | { readonly kind: 'accepted'; readonly id: string | null }
  /** The engine has refused it for good. */
  | { readonly kind: 'refused'; readonly code: number; readonly message: string }
  /** No region has accepted it; it may be retried after the wait. */
  | { readonly kind: 'deferred'; readonly detail: string; readonly waitMs: number }
  /** It may have been accepted: the answer was lost. */
  | { readonly kind: 'unsure'; readonly detail: string }
  /** The `begin` of its turn returned false. No request was sent. */
  | { readonly kind: 'withdrawn' }

/** Sends by the block engine. */
export interface EngineSender {
  /**
   * With `revertProtection` it lands only if it succeeds. Resolves with whether a region has received it. False if no
   * region was available, or if the send is no longer needed. Rejects with UPSTREAM_ERROR and the engine's reason for
   * a refusal, or with the signal's reason. A send whose answer was lost counts as received.
   */
  send(
    wire: Uint8Array,
    signal: AbortSignal,
    options: { readonly revertProtection: boolean; readonly turn: RevocableTurn }
  ): Promise<boolean>
}

/** A signature in a block that a source delivered, or in a block that was removed with a lost fork. */
export interface Sighting {
  readonly signature: string
  readonly slot: number
  readonly index: number
  readonly failed: boolean
}

/**
 * The use of a durable nonce by a transaction in a block, failed or not. No other transaction can use that value
 * afterwards.
 */
export interface SightedNonce {
  /** Nonce account, the value that is used up, and the first signature of the transaction; base58. */
  readonly account: string
  readonly value: string
  readonly signature: string
}

/** A block, as far as it concerns tracked transactions. */
export interface SightedBlock {
  readonly slot: number
  /** Null if the source does not name it. */
  readonly height: number | null
  readonly blockhash: string | null
  readonly commitment: Commitment
  /** The tracked signatures of the block. */
  readonly sightings: readonly Sighting[]
  /** Uses of the nonce accounts that are watched. */
  readonly nonces: readonly SightedNonce[]
}

/** The blocks that this process ingests. Emits nothing in a process that does not ingest. */
export interface BlockSightings {
  /** Searches every later block for a signature, and for uses of a nonce account, until the returned function is called. */
  watch(signature: string, nonceAccount?: string | null): () => void
  /**
   * Calls `seen` for each committed block, and `lost` with the slot after which stored blocks were on a lost fork.
   * Returns a function that unsubscribes.
   */
  subscribe(listener: {
    readonly seen: (block: SightedBlock) => void
    readonly lost: (afterSlot: number) => void
  }): () => void
  /** The last block height at which a transaction with this blockhash can land; null for an unknown blockhash. */
  lastValidBlockHeight(blockhash: string): number | null
  /**
   * First and last height of the newest gapless run of blocks that were read, both inclusive; null in a process that
   * reads no blocks.
   */
  readonly heights: { readonly first: number; readonly last: number } | null
  /**
   * First and last slot, both inclusive, of the newest gapless run of blocks that were searched; null in a process
   * that searches no blocks, and if heights are unknown.
   */
  readonly searched: { readonly first: number; readonly last: number } | null
  /** The highest slot of the blocks read so far, committed or not; -1 before the first. */
  readonly readTo: number
  /** The newest block; null before the first. */
  readonly newest: { readonly slot: number; readonly height: number | null } | null
}

/** The tracking processes, as the API sees them. */
export interface Tracking {
  /** Starts to send and track a stored submission: here, or by a hint to the process that has its shard. */
  begin(submission: Stored<Submission>): void
  /** The progress of a submission that this process tracks; null for any other. */
  progress(tenant: string, signature: string): SubmissionProgress | null
  /**
   * Returns the places in use, as they count for a tenant: of this process, and of the tenant in any process (at most
   * a second old).
   */
  count(tenant: string): Promise<Places>
}

/** Priority fees of the last blocks, in micro-lamports per compute unit, over non-vote transactions. */
export interface FeeStatistics {
  /** Number of changes so far; answers at different versions may differ. */
  readonly version: number
  /** Resolves once the blocks are there that can be read at once. To be called before an answer; never rejects. */
  upToDate(): Promise<void>
  /** Over all transactions, or those that write to one of the accounts (at most 128). Percentiles by nearest rank. */
  of(accounts: readonly Uint8Array[]): FeeSummary
}

export interface FeeSummary {
  /** Number of transactions; if it is 0, all fees are 0. */
  readonly samples: number
  /** The first and the last slot of the blocks; null before the first block. */
  readonly slots: readonly [number, number] | null
  readonly p25: number
  readonly p50: number
  readonly p75: number
  readonly p90: number
  readonly max: number
}

/** The block engine, as sending by it needs it. */
export interface BlockEngine extends EngineSender {
  /** Returns accounts in base58 to which a tip counts. Rejects with UPSTREAM_ERROR if they were never fetched. */
  tipAccounts(signal: AbortSignal): Promise<readonly string[]>
  /** Rejects with UPSTREAM_ERROR if they were never fetched. */
  tips(signal: AbortSignal): Promise<Tips>
}

/** Tip accounts, and the tips that landed last. */
export interface Tips {
  readonly accounts: readonly string[]
  readonly floor: TipFloor
  /** Whether the values are outdated because the feed was not reached since. */
  readonly isStale: boolean
}

/** The block engine, as the tracking of bundles needs it. */
export interface BundleEngine {
  /** Rejects only with the signal's reason, or with an error of the turn's `begin`. */
  submitBundle(
    wires: readonly Uint8Array[],
    signal: AbortSignal,
    turn: RevocableTurn
  ): Promise<SubmissionOutcome>
  /** Polls a bundle's status and calls `heard` with each answer, until the returned function is called. */
  follow(id: string, heard: (status: EngineStatus) => void): () => void
}

/** The processes that track bundles, as the API sees them. */
export interface BundleTracking {
  /** Starts to submit and track a stored bundle: here, or by a hint to the process that has its shard. */
  begin(bundle: Stored<Bundle>): void
}

/** All transaction services that the HTTP side uses. */
export interface TransactionServices {
  readonly node: TransactionNode
  readonly tracking: Tracking
  readonly sightings: BlockSightings
  /** Null if no engine is configured and the source is not a localnet. */
  readonly engine: BlockEngine | null
  readonly bundles: BundleTracking
  /** TTL of records in milliseconds; null for no expiry. */
  readonly retentionMs: number | null
}
