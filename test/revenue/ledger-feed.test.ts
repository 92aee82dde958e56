import t from 'tap'
import { ledgerEntryEvent } from '../../src/revenue/bodies/ledger-entry.ts'
import { WSOL } from '../../src/market/cash.ts'
import { LedgerFeed, type Watcher } from '../../src/revenue/ledger-feed.ts'
import type { TenantEvent } from '../../storage/cluster/coordination.ts'
import { ROW } from './ledger-row.ts'

const NOW_MS = 1_730_000_000_450
const OTHER_MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'

const watcher = (tenant: string, slot: number | null): Watcher => ({
  tenant,
  label: `fees of ${tenant}`,
  role: 'fee_wallet',
  captureFrom: slot === null ? null : { slot, ts: 0 }
})
const symbolOf = (mint: string): string | null => (mint === WSOL ? 'SOL' : null)

function feedOf() {
  const events: TenantEvent[] = []
  return { events, feed: new LedgerFeed((event) => events.push(event), { now: () => NOW_MS }) }
}

t.test('rows of an address, with two watchers, come to each in order, with its own label', async (t) => {
  const { events, feed } = feedOf()
  const rows = [ROW, { ...ROW, index: 1, isNative: false, mint: OTHER_MINT }]
  feed.entries([watcher('acme', 0), watcher('umbra', 0)], rows, 'entry', symbolOf)
  for (const tenant of ['acme', 'umbra']) {
    const names = { label: `fees of ${tenant}`, role: 'fee_wallet' }
    t.strictSame(
      events.filter((event) => event.tenant === tenant),
      rows.map((row, index) => ({
        tenant,
        channel: 'revenue',
        data: ledgerEntryEvent('entry', row, { ...names, symbol: index === 0 ? 'SOL' : null }, NOW_MS)
      }))
    )
  }
  t.equal(events.length, 4)
})

t.test('a row from before the watch of a tenant, or before any capture, is not sent to it', async (t) => {
  const { events, feed } = feedOf()
  const watchers = [watcher('early', 300), watcher('late', 301), watcher('waiting', null)]
  feed.entries(watchers, [ROW, { ...ROW, slot: 301 }], 'entry', symbolOf)
  t.strictSame(
    events.map(({ tenant, data }) => [tenant, data.slot]),
    [
      ['early', 300],
      ['early', 301],
      ['late', 301]
    ]
  )
})

t.test('a retraction, of a row sent before, repeats the row with the event retracted', async (t) => {
  const { events, feed } = feedOf()
  const watchers = [watcher('acme', 0)]
  feed.entries(watchers, [ROW], 'entry', symbolOf)
  feed.entries(watchers, [ROW], 'retracted', symbolOf)
  const [entry, retracted] = events.map(({ data }) => data)
  t.strictSame(retracted, { ...entry, event: 'retracted' })
})

t.test('rows are heard if one of their watchers has a client', (t) => {
  const feed = new LedgerFeed(
    () => undefined,
    { now: () => NOW_MS },
    (tenant) => tenant === 'acme'
  )
  t.ok(feed.isHeard([watcher('umbra', 0), watcher('acme', 0)]))
  t.notOk(feed.isHeard([watcher('umbra', 0)]))
  t.notOk(feed.isHeard([]))
  t.ok(feedOf().feed.isHeard([watcher('umbra', 0)]), 'by default')
  t.end()
})
