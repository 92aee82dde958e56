import type { Test } from 'tap'
import { Idempotency } from '../../src/kernel/http/idempotency.ts'
import { WebhookRegistry } from '../../src/webhooks/registry.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import { fakeParts } from './fake-parts.ts'

const WISH = { url: 'https://receiver.example.org/hook', channels: ['launches'] }
const CLOCK = { now: () => 1_790_000_000_000 }

/**
 * Asserts that a store keeps the promises that requests rely on when they change the webhooks of a tenant
 * concurrently. `stores` are those of several processes that share their data, or one store several times.
 */
export async function testRegistry(t: Test, stores: readonly DocumentStore[]): Promise<void> {
  const { guard, secrets } = fakeParts()
  const registries = stores.map(
    (documents) =>
      new WebhookRegistry({
        documents,
        guard,
        secrets,
        deliveries: { changed: () => undefined },
        changes: { publish: () => undefined },
        clock: CLOCK
      })
  )
  const of = (at: number) => registries[at % registries.length]!

  await t.test('of ten creations at once by several processes five succeed', async (t) => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, (_, at) => of(at).create({ tenant: 'five', id: at + 1 }, WISH))
    )
    t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 5)
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') t.match(outcome.reason, { code: 'WEBHOOK_LIMIT_REACHED' })
    for (const registry of registries) t.equal((await registry.list('five')).length, 5)
  })

  await t.test('repeats of one creation at once by several processes make one webhook', async (t) => {
    const shown = await Promise.all(
      Array.from({ length: 6 }, (_, at) =>
        new Idempotency(stores[at % stores.length]!).once(
          { tenant: 'one', operation: 'POST /v1/webhooks', key: 'k', content: WISH },
          async () => String(at + 1),
          ({ id }) => of(at).create({ tenant: 'one', id: Number(id) }, WISH)
        )
      )
    )
    t.equal(new Set(shown.map(({ webhook }) => webhook.id)).size, 1)
    t.equal(new Set(shown.map(({ secret }) => secret)).size, 1)
    t.equal((await of(0).list('one')).length, 1)
  })

  await t.test('changes of one webhook at once by several processes are all applied', async (t) => {
    const { webhook } = await of(0).create({ tenant: 'all', id: 7 }, WISH)
    await Promise.all(
      Array.from({ length: 12 }, (_, at) => of(at).enable('all', 7, { since: at, operation: `enable ${at}` }))
    )
    const { value } = await of(1).find('all', 7)
    t.equal(value.activation, webhook.activation + 12)
    await of(1).delete('all', 7)
    await t.rejects(of(0).find('all', 7), { code: 'WEBHOOK_NOT_FOUND' })
  })
}
