import type { VenueId } from '../chain/venue-id.ts'

/** An event as the stream sends it, encoded once for all readers, from memory or from the store. */
export interface EncodedEvent {
  /** Cursor of its copy on the channel. */
  readonly cursor: number
  /** Its `data` as JSON in UTF-8 up to the value of its cursor: `{"venue":…,"cursor":`. */
  readonly body: Uint8Array
}

/**
 * A channel whose events are stored as they were sent; the events of other channels are built from rows. Events of
 * `pools` are not replayed to clients (src/docs/stream.md), only to live readers that missed a block. Two are
 * internal: `retractions` has the events sent on any client channel when a fork is lost. `moves` lists the slots that
 * are sent at cursors other than their own (`src/stream/delivery-order.ts`).
 */
export type LogChannel = `venue:${VenueId}` | 'launches' | 'curves' | 'pools' | 'retractions' | 'moves'

/** A slot's events on a channel: at least one, in cursor order. */
export interface LogEntry {
  readonly channel: LogChannel
  readonly slot: number
  readonly events: readonly EncodedEvent[]
}

export type LogAddress = Pick<LogEntry, 'channel' | 'slot'>

/** An allocator for the bytes of log entries that are read. */
export interface Allocator {
  /** Returns `length` bytes with any content. */
  allocate(length: number): Buffer
}
