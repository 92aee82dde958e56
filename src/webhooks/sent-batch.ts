import type { EventMembers } from '../stream/frames.ts'
import type { BatchEvents } from './backlog.ts'
import { batchBody } from './body.ts'
import type { BatchIntent } from './webhook.ts'

/** A stored batch with its events. All webhooks of a channel share an event; a body is made for each attempt. */
export interface SentBatch {
  readonly intent: BatchIntent
  readonly events: readonly EventMembers[]
}

/** Returns a new batch of some events. */
export function newBatch(
  fields: Pick<BatchIntent, 'batchId' | 'batchTsMs' | 'dropped' | 'missed'>,
  { after, last, events }: BatchEvents
): SentBatch {
  const intent = { ...fields, after, last, events: events.length, checksum: checksumOf(events) }
  return { intent: { ...intent, attempts: 0, notBeforeMs: 0 }, events }
}

/** Returns a stored batch with the log's events; null if these differ from the events of the batch. */
export function repeatedBatch(intent: BatchIntent, events: readonly EventMembers[]): SentBatch | null {
  const isSame = events.length === intent.events && checksumOf(events) === intent.checksum
  return isSame ? { intent, events } : null
}

/** Returns the body of a batch, with identical bytes at each attempt. */
export function bodyOf(webhookId: number, { intent, events }: SentBatch): Buffer {
  return batchBody({ webhookId, ...intent }, events)
}

/** Returns an order-dependent checksum of the events' checksums, which are computed once for all webhooks. */
function checksumOf(events: readonly EventMembers[]): number {
  return events.reduce((sum, { crc32 }) => (Math.imul(sum, 31) + crc32) >>> 0, 0)
}
