import t from 'tap'
import type { Storage } from '../../storage/port.ts'
import { block, NOON } from '../market/world.ts'
import { marketApp, type MarketApp } from './market-app.ts'
import { ALICE, entry, signatureOf, storeLedger } from '../revenue/revenue-client.ts'
import { Documents } from '../../storage/documents.ts'
import { WATCHED_ADDRESS } from '../../src/revenue/watched-address.ts'

/** Calls `fork` once, after the n-th read of a method of the store, counted from `arm` on: that read has the blocks before it. */
function forkedStorage<Name extends 'blocks' | 'ledger'>(store: Name, method: keyof Storage[Name]) {
  const plan = { left: 0, fired: 0, fork: async (): Promise<void> => undefined }
  const over = (storage: Storage): Storage => {
    const inner = storage[store] as object
    const proxy = new Proxy(inner, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name)
        if (typeof member !== 'function') return member
        const call = member.bind(target) as (...input: unknown[]) => Promise<unknown>
        if (name !== method) return call
        return async (...input: unknown[]) => {
          const read = await call(...input)
          if (plan.left > 0 && --plan.left === 0) {
            plan.fired++
            await plan.fork()
          }
          return read
        }
      }
    })
    return { ...storage, [store]: proxy }
  }
  const arm = (nth: number, fork: () => Promise<void>): void => {
    plan.left = nth
    plan.fork = fork
  }
  return { plan, over, arm }
}

/** Publishes that blocks were removed, as ingest does when it has amended the store. */
const amended = ({ deps }: MarketApp): void => deps.feed.amend(deps.feed.head)

t.test('coverage that several slices read is of the blocks after a fork that came meanwhile', async (t) => {
  const { plan, over, arm } = forkedStorage('blocks', 'between')
  const app = await marketApp(t, over)
  const slots = Array.from({ length: 40 }, (_, n) => 100 + 10 * n)
  for (const slot of slots) await app.commit(block(slot, NOON + slot, []))
  const gapAt = (from: number) =>
    app.storage.coverage.addGap({ from, to: from + 2, reason: 'pruned', detail: 'x', atMs: 0 })
  for (const slot of slots) await gapAt(slot + 1)
  const rangesAt = async () => (await app.get('/v1/coverage?limit=1000')).body.data
  const before = await rangesAt()
  t.ok(before.length > 20, 'more ranges than a slice reads')
  arm(2 * 30, async () => {
    await gapAt(105)
    amended(app)
  })
  const after = await rangesAt()
  t.equal(plan.fired, 1)
  t.ok(after.length > before.length, 'it has the gap that the fork left')
  t.strictSame(after, await rangesAt())
})

t.test('a page of the ledger that several slices read is of the blocks after a fork', async (t) => {
  const { plan, over, arm } = forkedStorage('ledger', 'pages')
  const app = await marketApp(t, over)
  const key = await app.makeKey(['revenue'])
  const { documents } = app.storage
  await new Documents(documents, WATCHED_ADDRESS).insert({
    ...{ tenant: 'acme', address: ALICE, slot: 0, label: 'Fees', role: 'fee_wallet', createdAtMs: 0 },
    captureFrom: { slot: 1, ts: NOON }
  })
  const store = (from: number, to: number) =>
    storeLedger(
      app.storage,
      ALICE,
      Array.from({ length: to - from + 1 }, (_, n) => ({
        slot: from + n,
        entries: Array.from({ length: 30 }, (_, txIndex) =>
          entry({ signature: signatureOf(from + n), txIndex })
        )
      }))
    )
  for (let slot = 10; slot < 32; slot++) await app.commit(block(slot, NOON + slot, []))
  await store(10, 29)
  const rows = async () => {
    const { status, body, text } = await app.get('/v1/revenue/events?limit=1000', { 'x-api-key': key })
    if (status !== 200) throw new Error(text)
    return body.data.map(({ slot }) => slot)
  }
  t.equal((await rows()).length, 600)
  // Reads: of the first pages, and, after hundreds of rows, of the next ones.
  arm(2, async () => {
    await store(30, 30)
    amended(app)
  })
  const found = await rows()
  t.equal(plan.fired, 1)
  t.equal(found.length, 630)
  t.equal(found[0], 30)
})
