import type { VenueId } from '../chain/venue-id.ts'

/** An event as the stream sends it, encoded once for all readers, from memory or from the store. */
export interface EncodedEvent {
  /** Cursor of its copy on the channel. */
  readonly cursor: number
  /** Its `data` as JSON in UTF-8 up to where its cursor is written: `{"venue":…,"cursor":`. */
  readonly body: Uint8Array
}

/**
 * A channel whose events are kept as they were sent; those of others are made of rows. Clients are not given those of
 * `pools` again (spec choices, section 6): who reads them live is, when it was not told of a block. Two are no
 * channels of clients: `retractions` has what is sent on any of theirs where a fork is lost, and `moves` says which slots are
 * told at cursors other than their own (`src/stream/delivery-order.ts`).
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
