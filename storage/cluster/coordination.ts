import type { StoredQuestion } from '../port/questions.ts'
import type { SharedReadings } from '../port/readings.ts'

/** Ports for the coordination of several processes of one service. Each may be unavailable for a while. */

/** A right that one process has at a time. */
export interface Lease {
  /** Fencing token: grows with every holder, so that writes of a former holder can be recognized and refused. */
  readonly token: number
  /**
   * Aborts once the lease is released, or known to be another process's. It does not abort while the state is unknown. The
   * holder then continues, and the store refuses its token once another process has claimed.
   */
  readonly lost: AbortSignal
  /**
   * Whether no other process can have the lease. It is false from shortly before the server can end the lease until the
   * server has renewed it. It reads the clock, so it is false also in a process that stood still.
   */
  readonly held: boolean
  /** Releases the lease, so that another process need not wait for its end. Never rejects. */
  release(): Promise<void>
}

export interface Leases {
  /**
   * Resolves with null while another process has it, and while the state is unknown. The lease's token is greater than
   * `above`. Callers need `above` if the server has lost its tokens and its clock is behind them.
   */
  acquire(name: string, above?: number): Promise<Lease | null>
}

/** Notifies that the store may have changed. The store is the truth: a hint can be lost, come twice or come late. */
export interface HintChannel<What> {
  /** Whether hints of other processes arrive at present. */
  readonly available: boolean
  /** Sends a hint to the other processes; it may reach none of them. */
  publish(what: What): void
  /**
   * Calls `heard` for each hint of another process, and with null if some may have been lost, until the returned
   * function is called. It must not throw.
   */
  subscribe(heard: (what: What | null) => void): () => void
}

/** The key of a stored submission or bundle. */
export interface StoredSubmission {
  readonly tenant: string
  /** Base58; of a bundle its id. */
  readonly signature: string
}

/** An event of a private channel of the stream: only connections of its tenant hear it. */
export interface TenantEvent {
  readonly tenant: string
  readonly channel: string
  /** The event's `data` without `cursor`, which the process of each connection adds. */
  readonly data: Readonly<Record<string, unknown>>
}

/** The answer of a counter to one call. */
export interface RateUse {
  /** Whether the call was within the quota; one that was not has taken nothing. */
  readonly allowed: boolean
  /** Calls left in the window. */
  readonly left: number
  /** Start of the next window: in unix seconds, and in whole seconds from now, at least 1. */
  readonly resetAt: number
  readonly resetIn: number
}

/**
 * Counts calls against quotas in fixed windows, the minutes of the wall clock. A counter that several processes share
 * returns a promise; one in memory answers at once.
 */
export interface RateCounter {
  /** Takes calls (one by default) from a name's quota in the window of a time: all of them, or none. */
  take(name: string, quota: number, nowMs: number, calls?: number): RateUse | Promise<RateUse>
  /** Reads the quota without taking a call out of it. */
  look(name: string, quota: number, nowMs: number): RateUse | Promise<RateUse>
  /** Counts the work of these callers. */
  readonly work: WorkCounter
}

/**
 * Counts units of work against quotas in these windows. Work is charged once it is done, so a name may exceed its quota;
 * the excess is a debt that the next windows begin with. Nothing waits for other processes.
 */
export interface WorkCounter {
  /** Reads a name's quota. `allowed` is whether anything is left, and `resetAt` when the debt is worked off. */
  look(name: string, quota: number, nowMs: number): RateUse
  /** Adds units of work that a name has done. */
  charge(name: string, quota: number, units: number, nowMs: number): void
}

/** Places of the sockets of API keys, over all processes. */
export interface SocketPlaces {
  /** Takes a place for a socket of a key; false if all are taken. Never rejects. */
  take(keyId: string): Promise<boolean>
  /** Returns the place of a socket that has closed. */
  release(keyId: string): void
}

/** The newest slots that API keys have seen over all processes, by commitment. */
export interface SharedSlotFloors {
  /** Whether they can be reached. */
  readonly available: boolean
  /**
   * Raises the slots of a key in the order of the commitments, from `processed`; none ever falls. Resolves with the slots
   * of all processes. Rejects while the server is unavailable.
   */
  raise(keyId: string, slots: readonly number[]): Promise<readonly number[]>
}

/** Digests of recent blocks, as bytes, for processes that do not ingest them. They may be lost, or of a lost fork. */
export interface BlockDigests {
  /** Replaces the digest of a slot. Rejects while the server is unavailable. */
  put(slot: number, digest: Uint8Array): Promise<void>
  /** Returns a digest for each slot: its own, that of another slot, or null. Rejects while the server is unavailable. */
  read(slots: readonly number[]): Promise<(Uint8Array | null)[]>
  /** Calls `listener` when digests cease or begin to be reachable, until the returned function is called. */
  onChange(listener: (available: boolean) => void): () => void
}

/** Seconds-old announcements of the processes of a service, as one of them reads them. */
export interface HeardProcesses {
  /** Milliseconds for which every announcement would have been heard; shorter after a start, or a loss of the server's data. */
  readonly coversMs: number
  /** Processes with an announcement in the last `PRESENCE_MS`, and at most `PROCESSES_MAX`. */
  readonly processes: readonly HeardProcess[]
}

export interface HeardProcess {
  readonly id: string
  /** The text that it announced last. */
  readonly text: string
  /** Milliseconds since then. */
  readonly silentMs: number
}

/** Milliseconds without an announcement after which a process counts as gone: five announcements. */
export const PRESENCE_MS = 5_000
/** Maximum processes that are heard; each announces about 2 KB. Ten times the largest fleet of the plan. */
export const PROCESSES_MAX = 400

/** Announcements by which the processes of a service know each other. */
export interface Presence {
  /** Replaces the announcement of this process, and reads those of all. Rejects while the server is unavailable. */
  announce(id: string, text: string): Promise<HeardProcesses>
  /** Removes the announcement of a process that ends. Never rejects. */
  leave(id: string): Promise<void>
}

/** Coordination of this process with the others of the service, apart from the store. */
export interface ClusterCoordination {
  /** Null if the processes have nothing to coordinate with. */
  readonly leases: Leases | null
  /** The slot of a committed block. Null if processes do not notify each other, like `keys`. */
  readonly commits: HintChannel<number> | null
  /** A key or tenant was made or changed. */
  readonly keys: HintChannel<void> | null
  /** A webhook was created, changed or deleted. */
  readonly webhooks: HintChannel<void> | null
  /** A process that delivers to webhooks is alive; the content identifies it. */
  readonly deliverers: HintChannel<string> | null
  /** A submission was stored. After a lost hint it is found by the lists of its shard's owner. */
  readonly submissions: HintChannel<StoredSubmission> | null
  /** A process that tracks transactions is alive; the content identifies it. */
  readonly trackers: HintChannel<string> | null
  /**
   * An event of a private channel of the stream. A lost event of webhooks is never sent again; changes of submissions are
   * stored.
   */
  readonly tenantEvents: HintChannel<TenantEvent> | null
  /** Fees of recent blocks. */
  readonly digests: BlockDigests | null
  /** Announcements of all processes; null if the processes have none but those in the store. */
  readonly presence: Presence | null
  /** Counts the calls of each key. */
  readonly limits: RateCounter
  /** Places of the sockets of keys; null if this process counts them alone. */
  readonly sockets: SocketPlaces | null
  /** Slots that keys have seen; null if each process has its own. */
  readonly slotFloors: SharedSlotFloors | null
  /** Readings of accounts; null if this process shares them by the store, or with nobody. */
  readonly readings: SharedReadings | null
  /** A question to the processes that hold names and rankings was stored. */
  readonly questions: HintChannel<StoredQuestion> | null
  /** Such a question was answered; the content is its id. */
  readonly answers: HintChannel<string> | null
  /** Sets the number of processes that share each quota while no shared counter answers. */
  readonly shareAmong: (gateways: number) => void
  /** The current outage of all these ports, or null; it ends by itself. */
  readonly outage: { readonly sinceMs: number; readonly detail: string } | null
  close(): Promise<void>
}
