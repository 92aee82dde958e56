import type { ChannelEvent } from './backlog.ts'
import type { CursorRange } from './webhook.ts'

/** Fields of a batch besides its events. */
export interface BatchFields {
  readonly webhookId: number
  readonly batchId: string
  readonly batchTsMs: number
  /** Cursor of the last event. */
  readonly last: number
  /** Dropped events that no acknowledged batch has told. */
  readonly dropped: number
  readonly missed: CursorRange | null
}

/**
 * Returns the body of a batch. The `data` of an event has the bytes that the stream sends; the same fields and events give
 * the same bytes.
 */
export function batchBody(fields: BatchFields, events: readonly ChannelEvent[]): Buffer {
  const { webhookId, batchId, batchTsMs, last, dropped, missed } = fields
  const head = `{"webhook_id":${webhookId},"batch_id":${JSON.stringify(batchId)},"batch_ts":${batchTsMs},"cursor":${last},"events":[`
  const told = [
    dropped > 0 ? `,"dropped":${dropped}` : '',
    missed === null ? '' : `,"missed":{"from_cursor":${missed.from},"to_cursor":${missed.to}}`
  ].join('')
  const heads = new Map<string, string>()
  const headOf = (channel: string): string => {
    const known = heads.get(channel)
    if (known !== undefined) return known
    const made = `{"channel":${JSON.stringify(channel)},"data":`
    heads.set(channel, made)
    return made
  }
  let size = head.length + told.length + 2
  for (const { channel, cursor, body } of events)
    size += headOf(channel).length + body.length + String(cursor).length + 3
  const bytes = Buffer.allocUnsafe(size)
  let at = bytes.write(head, 0, 'latin1')
  for (const [index, { channel, cursor, body }] of events.entries()) {
    at += bytes.write(index === 0 ? headOf(channel) : `,${headOf(channel)}`, at, 'latin1')
    bytes.set(body, at)
    at += body.length
    at += bytes.write(`${cursor}}}`, at, 'latin1')
  }
  at += bytes.write(`]${told}}`, at, 'latin1')
  return bytes.subarray(0, at)
}
