import { Registry } from 'prom-client'
import t from 'tap'
import { webhookMetrics } from '../../src/webhooks/metrics.ts'

t.test('/metrics tells webhooks by state, POSTs by outcome, accepted and dropped events', async (t) => {
  const registry = new Registry()
  const metrics = webhookMetrics(registry)
  metrics.show({ active: () => 3, deactivated: () => 2, behind: () => 1 })
  metrics.posts.inc({ outcome: '2xx' }, 5)
  metrics.posts.inc({ outcome: 'failed' })
  metrics.events.inc(320)
  metrics.dropped.inc(64)
  metrics.seconds.observe(0.02)
  const lines = (await registry.metrics()).split('\n')
  for (const line of [
    'millrace_webhooks{state="active"} 3',
    'millrace_webhooks{state="deactivated"} 2',
    'millrace_webhooks{state="behind"} 1',
    'millrace_webhook_posts_total{outcome="2xx"} 5',
    'millrace_webhook_posts_total{outcome="failed"} 1',
    'millrace_webhook_events_total 320',
    'millrace_webhook_dropped_total 64',
    'millrace_webhook_post_seconds_bucket{le="0.025"} 1'
  ])
    t.ok(lines.includes(line), line)

  metrics.show(null)
  t.match(await registry.metrics(), 'millrace_webhooks{state="active"} 0', 'a process that delivers nothing')
})
