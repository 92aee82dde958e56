import type { EventMembers } from '../stream/frames.ts'
import type { CursorRange } from './webhook.ts'

/** Fields of a batch other than its events. */
export interface BatchFields {
  readonly webhookId: number
  readonly batchId: string
  readonly batchTsMs: number
  /** Cursor of the last event. */
  readonly last: number
  /** Dropped events that no acknowledged batch has reported. */
  readonly dropped: number
  readonly missed: CursorRange | null
}

const [OPEN, CLOSE, COMMA] = [...Buffer.from('{},')]

/**
 * Returns the body of a batch. An event's `data` has the bytes that it has on the stream. The bytes depend only on
 * the fields and events.
 */
export function batchBody(fields: BatchFields, events: readonly Pick<EventMembers, 'members'>[]): Buffer {
  const { webhookId, batchId, batchTsMs, last, dropped, missed } = fields
  const head = `{"webhook_id":${webhookId},"batch_id":${JSON.stringify(batchId)},"batch_ts":${batchTsMs},"cursor":${last},"events":[`
  const losses = [
    dropped > 0 ? `,"dropped":${dropped}` : '',
    missed === null ? '' : `,"missed":{"from_cursor":${missed.from},"to_cursor":${missed.to}}`
  ].join('')
  const end = `]${losses}}`
  // Each event has two braces and a comma; the end overwrites the last comma.
  const size = events.reduce((sum, { members }) => sum + members.length + 3, head.length + end.length - 1)
  const bytes = Buffer.allocUnsafe(size)
  let at = bytes.write(head, 'latin1')
  for (const { members } of events) {
    bytes[at++] = OPEN!
    bytes.set(members, at)
    at += members.length
    bytes[at++] = CLOSE!
    bytes[at++] = COMMA!
  }
  bytes.write(end, at - 1, 'latin1')
  return bytes
}
