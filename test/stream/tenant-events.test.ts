import t from 'tap'
import type { TenantEvent } from '../../storage/cluster/coordination.ts'
import { TenantEvents } from '../../src/stream/tenant-events.ts'

const EVENT: TenantEvent = { tenant: 'acme', channel: 'webhooks', data: { event: 'created', webhook_id: 1 } }

t.test('an event reaches the listeners of its process, and other processes once through hints', async (t) => {
  const events = new TenantEvents()
  const heard: (TenantEvent | null)[] = []
  const sent: TenantEvent[] = []
  let arrive: (event: TenantEvent | null) => void = () => t.fail('nobody listens')
  const unsubscribe = events.subscribe((event) => heard.push(event), {
    subscribe(listener) {
      arrive = listener
      return () => (arrive = () => undefined)
    }
  })
  events.publish(EVENT, { publish: (event) => sent.push(event) })
  t.same([heard, sent], [[EVENT], [EVENT]])
  arrive({ ...EVENT, tenant: 'umbra' })
  arrive(null)
  t.same(heard, [EVENT, { ...EVENT, tenant: 'umbra' }, null])
  t.equal(sent.length, 1, 'an event of another process is not sent again')
  unsubscribe()
  events.publish(EVENT, null)
  arrive(EVENT)
  t.equal(heard.length, 3)
})

t.test(
  'an event is heard by a listener with a client for it, and always if there are other processes',
  (t) => {
    const events = new TenantEvents()
    t.notOk(events.isHeard('acme', 'revenue', null), 'nobody listens')
    const unsubscribe = events.subscribe(
      () => undefined,
      null,
      (tenant, channel) => tenant === 'acme' && channel === 'revenue'
    )
    t.ok(events.isHeard('acme', 'revenue', null))
    t.notOk(events.isHeard('acme', 'webhooks', null))
    t.notOk(events.isHeard('umbra', 'revenue', null))
    t.ok(events.isHeard('umbra', 'webhooks', { publish: () => undefined }), 'a client of another process')
    unsubscribe()
    t.notOk(events.isHeard('acme', 'revenue', null))
    t.end()
  }
)
