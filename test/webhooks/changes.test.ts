import t from 'tap'
import type { TenantEvent } from '../../storage/cluster/coordination.ts'
import { WebhookChanges } from '../../src/webhooks/changes.ts'
import { virtualClock } from '../virtual-time.ts'

const HOOK = { tenant: 'acme', id: 7, url: 'https://receiver.example.org/hook' }

function changesOf() {
  const clock = virtualClock()
  const events: TenantEvent[] = []
  const changes = new WebhookChanges((event) => events.push(event), clock)
  return { clock, events, changes, counts: () => events.map(({ data }) => [data.ts_ms, data.dropped]) }
}

t.test('a change is told to the tenant of the webhook, with the URL and the reason', async (t) => {
  const { changes, events } = changesOf()
  changes.publish(HOOK, { event: 'created' })
  changes.publish(HOOK, { event: 'deactivated', reason: 'gone' })
  const data = { webhook_id: 7, url: HOOK.url, ts_ms: 0 }
  t.strictSame(events, [
    { tenant: 'acme', channel: 'webhooks', data: { event: 'created', ...data } },
    { tenant: 'acme', channel: 'webhooks', data: { event: 'deactivated', ...data, reason: 'gone' } }
  ])
})

t.test('drops of a webhook are told once a second: at once, then together', async (t) => {
  const { changes, clock, counts } = changesOf()
  for (let at = 0; at < 5_000; at += 100) {
    if (at < 2_500) changes.dropped(HOOK, 1)
    clock.increment(100)
  }
  t.strictSame(counts(), [
    [0, 1],
    [1_000, 9],
    [2_000, 10],
    [3_000, 5]
  ])
  changes.dropped(HOOK, 3)
  t.strictSame(counts().at(-1), [5_000, 3], 'after a quiet second they are told at once')
})

t.test('drops of one webhook do not delay those of another', async (t) => {
  const { changes, counts } = changesOf()
  changes.dropped(HOOK, 1)
  changes.dropped({ ...HOOK, id: 8 }, 2)
  t.strictSame(counts(), [
    [0, 1],
    [0, 2]
  ])
})

t.test('at the end the drops that wait are told, and no timer is left', async (t) => {
  const { changes, clock, counts } = changesOf()
  changes.dropped(HOOK, 1)
  changes.dropped(HOOK, 4)
  changes.end()
  clock.increment(5_000)
  t.strictSame(counts(), [
    [0, 1],
    [0, 4]
  ])
})
