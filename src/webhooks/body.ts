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
  // The text before each event, which ends the event before it: one write each.
  const texts: string[] = []
  let size = 0
  let text = head
  for (const [index, { channel, cursor, body }] of events.entries()) {
    text += index === 0 ? headOf(channel) : `,${headOf(channel)}`
    texts.push(text)
    size += text.length + body.length
    text = `${cursor}}}`
  }
  text += `]${told}}`
  const bytes = Buffer.allocUnsafe(size + text.length)
  let at = 0
  for (const [index, { body }] of events.entries()) {
    at += bytes.write(texts[index]!, at, 'latin1')
    bytes.set(body, at)
    at += body.length
  }
  bytes.write(text, at, 'latin1')
  return bytes
}
