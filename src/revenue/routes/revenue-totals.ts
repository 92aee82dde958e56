import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { endBody, totalsAnswer, type TotalsBody } from '../bodies/revenue.ts'
import { byFlow, largestMints, mintsBody, sumsBody, totalOf } from '../bodies/revenue-sums.ts'
import { secondsText } from '../../kernel/http/time.ts'
import { LedgerReader } from '../ledger-reader.ts'
import { NO_SUMS, plus, type MintSums } from '../sums.ts'
import type { WatchedAddress } from '../watched-address.ts'
import { WatchedAddresses } from '../watched-addresses.ts'
import type { Slices } from '../../kernel/work/slices.ts'
import { tenantOf } from '../../kernel/http/caller-tenant.ts'
import type { RevenueNeeds } from './needs.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serve } from '../../kernel/http/serve.ts'
import { ledgerEnd } from './ledger-end.ts'
import { symbolsOf } from '../../data/mint-symbols.ts'
import { wholeNumber } from '../../kernel/http/parameters.ts'
import { SUMS_DEADLINE_MS, watchedSums, type WatchedSums } from './watched-sums.ts'

const DAY_S = 86_400
const YEAR_S = 365 * DAY_S

export const revenueTotals = endpoint({
  path: '/v1/revenue/totals',
  tag: 'Revenue',
  summary: 'Sums of all watched addresses',
  description:
    'Inflow and outflow of the watched addresses of the tenant in a window that ends with the block of `complete_to`: the newest whose changes are all stored. Each address counts from its `capture_from` on, and with its archived rows. A transaction counts with the net change of a mint of an address. A transfer between two watched addresses is an outflow of one and an inflow of the other.',
  scope: 'revenue',
  query: z.object({ window: wholeNumber(60, YEAR_S, DAY_S).describe('Seconds of the window') }),
  answer: totalsAnswer,
  deadlineMs: SUMS_DEADLINE_MS,
  examples: [{ name: 'The last hour', query: { window: '3600' } }]
})

export const revenueTotalRoutes: FastifyPluginAsync<
  Pick<RevenueNeeds, 'storage' | 'names' | 'cash' | 'clock'>
> = async (app, deps) => {
  const { storage, clock } = deps
  const registry = new WatchedAddresses(storage.documents)
  const reader = new LedgerReader(storage)

  serve(app, revenueTotals, async ({ query: { window }, caller, head, signal, slices }) => {
    const end = await ledgerEnd(reader, storage.blocks)
    const indexed = head?.blockTime ?? Math.floor(clock.now() / 1_000)
    const to = Math.min(indexed, end?.blockTime ?? indexed)
    const from = Math.max(0, to - window)
    const [watched, first] = await Promise.all([
      registry.list(tenantOf(caller)),
      head === null ? null : storage.blocks.firstSince(from)
    ])
    const until = Math.min(head?.slot ?? -1, end?.slot ?? Infinity)
    const times = { from, to: Infinity }
    const slots = first === null || until < 0 ? null : { from: first, until, times }
    const sums =
      slots === null
        ? watched.map(nothingOf)
        : await watchedSums(reader, watched, slots, { signal, pause: slices.pause })
    const mints = await mintTotals(sums, slices)
    const isArchived = sums.some(({ hasArchived }) => hasArchived)
    const symbolOf = await symbolsOf(
      largestMints(mints).map(({ mint }) => mint),
      deps
    )
    return {
      window_seconds: window,
      from: secondsText(from),
      to: secondsText(to),
      complete_to: endBody(end),
      ...(isArchived && { source: 'archive' as const }),
      totals: sumsBody(totalOf(sums.map(({ all }) => all))),
      by_role: byRole(sums),
      ...mintsBody(mints, symbolOf),
      by_address: await byAddress(sums, slices)
    }
  })
}

const nothingOf = (watched: WatchedAddress): WatchedSums => ({
  watched,
  all: NO_SUMS,
  byMint: [],
  lastAt: null,
  hasArchived: false
})

/** Adds up the sums of each mint over all addresses. */
async function mintTotals(all: readonly WatchedSums[], slices: Slices): Promise<readonly MintSums[]> {
  const totals = new Map<string, MintSums>()
  const add = (each: MintSums): void => {
    const before = totals.get(each.mint)?.sums ?? NO_SUMS
    totals.set(each.mint, { ...each, sums: plus(before, each.sums) })
  }
  await slices.map(
    all.flatMap(({ byMint }) => byMint),
    add
  )
  return [...totals.values()]
}

function byRole(all: readonly WatchedSums[]): TotalsBody['by_role'] {
  return [...Map.groupBy(all, ({ watched }) => watched.role)]
    .map(([role, group]) => ({ role, addresses: group.length, sums: totalOf(group.map((each) => each.all)) }))
    .sort((a, b) => byFlow(a.sums, b.sums) || (a.role < b.role ? -1 : 1))
    .map(({ role, addresses, sums }) => ({ role, addresses, ...sumsBody(sums) }))
}

function byAddress(all: readonly WatchedSums[], slices: Slices): Promise<TotalsBody['by_address']> {
  return slices.map(
    all.toSorted((a, b) => byFlow(a.all, b.all)),
    ({ watched: { address, label, role }, all: sums }) => ({ address, label, role, ...sumsBody(sums) })
  )
}
