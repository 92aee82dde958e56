import type { StreamEvent, WebhookBatch, WebhookEvent } from '../../client/webhooks.ts'
import { eventLine } from '../../stream/commands/event-line.ts'

/** Formats the events of a delivery, a line each: for people, or as JSON objects. */
export function deliveryLines({ events }: WebhookBatch, isJson: boolean): string[] {
  return events.map((event) => (isJson ? JSON.stringify(event) : lineOf(event)))
}

function lineOf(event: WebhookEvent): string {
  if (event.channel === 'test') {
    const { ts_ms, message, webhook_id } = event.data
    const time = new Date(ts_ms).toISOString().slice(11, 23)
    return `${time}  test  ${JSON.stringify(message)} of webhook ${webhook_id}`
  }
  const { channel, data } = event
  const { kind, cursor } = data as { readonly kind?: string; readonly cursor?: number }
  const known = kind ?? ('event' in data && data.event === 'retract' ? 'retract' : 'price')
  return eventLine({ kind: known, channel, cursor, replay: false, data } as StreamEvent)
}
