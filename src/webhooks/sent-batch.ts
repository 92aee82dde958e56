import { crc32 } from 'node:zlib'
import type { BatchEvents, ChannelEvent } from './backlog.ts'
import { batchBody } from './body.ts'
import type { BatchIntent } from './webhook.ts'

/** A batch as it is stored, with its body. */
export interface SentBatch {
  readonly intent: BatchIntent
  readonly body: Buffer
}

/** Returns a new batch of some events. */
export function newBatch(
  webhookId: number,
  fields: Pick<BatchIntent, 'batchId' | 'batchTsMs' | 'dropped' | 'missed'>,
  { after, last, events }: BatchEvents
): SentBatch {
  const body = batchBody({ webhookId, last, ...fields }, events)
  const intent = { ...fields, after, last, events: events.length, crc32: crc32(body) }
  return { intent: { ...intent, attempts: 0, notBeforeMs: 0 }, body }
}

/** Returns a stored batch with its body from the events that the log has; null where they give other bytes. */
export function repeatedBatch(
  webhookId: number,
  intent: BatchIntent,
  events: readonly ChannelEvent[]
): SentBatch | null {
  if (events.length !== intent.events) return null
  const body = batchBody({ webhookId, ...intent }, events)
  return crc32(body) === intent.crc32 ? { intent, body } : null
}
