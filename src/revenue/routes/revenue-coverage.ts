import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import {
  coverageAnswer,
  endBody,
  gapBody,
  holeBody,
  LAG_SLOTS_MAX,
  placeBody,
  type CoverageBody
} from '../bodies/revenue.ts'
import { archiveBody, statusOf } from '../bodies/revenue-history.ts'
import type { BackfillJob } from '../backfill-document.ts'
import { BackfillJobs, isEqualToChain, jobOf } from '../backfill-jobs.ts'
import { gapBeforeLive, historyGaps } from '../history-gaps.ts'
import { segmentsOf } from '../watch-history.ts'
import { pubkeyToBase58 } from '../../chain/pubkey.ts'
import { LedgerGaps, type LedgerGap } from '../ledger-gap.ts'
import { LedgerReader, type LedgerEnd } from '../ledger-reader.ts'
import type { WatchedAddress } from '../watched-address.ts'
import { WatchedAddresses } from '../watched-addresses.ts'
import { tenantOf } from '../../kernel/http/caller-tenant.ts'
import type { RevenueNeeds } from './needs.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serve } from '../../kernel/http/serve.ts'
import { ledgerEnd } from './ledger-end.ts'
import { address } from '../../kernel/http/parameters.ts'
import { REVENUE_ERRORS } from '../errors.ts'

/** Maximum gaps of one address, and of one answer: 1 MB for an answer. */
const GAPS_MAX = 1_000
const GAPS_OF_ANSWER_MAX = 10_000

export const revenueCoverage = endpoint({
  path: '/v1/revenue/coverage',
  tag: 'Revenue',
  summary: 'Coverage of the ledgers',
  description: `Since when each address is recorded, up to which block, and the gaps and holes between; what is archived from before. A row that \`complete_to\` has passed and that no gap or hole covers is stored. An address lists at most ${GAPS_MAX} gaps. An answer lists at most ${GAPS_OF_ANSWER_MAX}, shared equally by its addresses.`,
  scope: 'revenue',
  query: z.object({ address: address.optional().describe('Only this watched address') }),
  answer: coverageAnswer,
  errors: [REVENUE_ERRORS.WATCH_NOT_FOUND],
  examples: [{ name: 'All watched addresses' }]
})

export const revenueCoverageRoutes: FastifyPluginAsync<Pick<RevenueNeeds, 'storage'>> = async (
  app,
  { storage }
) => {
  const registry = new WatchedAddresses(storage.documents)
  const reader = new LedgerReader(storage)
  const ledgerGaps = new LedgerGaps(storage.documents)
  const jobs = new BackfillJobs(storage.documents)

  serve(app, revenueCoverage, async ({ query, caller, slices }) => {
    // Read before the gaps, which are stored before the end passes them, and before the head, which is never before the end.
    const end = await ledgerEnd(reader, storage.blocks)
    const indexed = await storage.blocks.head()
    const all = await registry.list(tenantOf(caller))
    const backfills = await jobs.list(tenantOf(caller))
    const jobIn = ({ address }: WatchedAddress): BackfillJob | null => backfills.get(address) ?? null
    const asked = query.address === undefined ? null : pubkeyToBase58(query.address)
    const listed = asked === null ? all : [await registry.get(tenantOf(caller), asked)]
    const first = earliest(listed)
    const gaps = first === null ? [] : await ledgerGaps.since(first.slot)
    const gapsMax = Math.min(GAPS_MAX, Math.floor(GAPS_OF_ANSWER_MAX / Math.max(1, listed.length)))
    const isBehind = end === null || (indexed !== null && end.slot < indexed.slot - LAG_SLOTS_MAX)
    // Sorted by their ends, so that gaps that end at or after a slot are the last ones.
    const sorted = gaps.toSorted((a, b) => a.to - b.to)
    const bodies = await slices.map(sorted, gapBody)
    const known = { gaps: sorted, bodies, gapsMax, end, isBehind }
    return {
      complete_to: endBody(end),
      indexed_to: endBody(indexed),
      addresses: await slices.map(listed, (watched) => addressBody(watched, jobIn(watched), known)),
      archive_end: archiveEnd(all),
      live_start: placeBody(earliest(all)),
      gap_between_archive_and_live: widestGap(all, jobIn)
    }
  })
}

/** Returns the earliest start of the ledgers of addresses; null if no ledger has begun. */
function earliest(watched: readonly WatchedAddress[]): WatchedAddress['captureFrom'] {
  return watched
    .map(({ captureFrom }) => captureFrom)
    .reduce((a, b) => (a === null || (b !== null && b.slot < a.slot) ? b : a), null)
}

/** Returns the last archived slot of addresses. */
function archiveEnd(watched: readonly WatchedAddress[]): CoverageBody['archive_end'] {
  return watched
    .map((each) => archiveBody(each)?.to ?? null)
    .reduce((a, b) => (a === null || (b !== null && b.slot > a.slot) ? b : a), null)
}

/** Returns the widest gap between archived and live rows of addresses. */
function widestGap(
  watched: readonly WatchedAddress[],
  jobIn: (watched: WatchedAddress) => BackfillJob | null
): CoverageBody['gap_between_archive_and_live'] {
  const gaps = watched.map((each) => gapBeforeLive(each, jobIn(each))).filter((gap) => gap !== null)
  const [first] = gaps.toSorted((a, b) => a.from - b.from)
  const last = gaps.toSorted((a, b) => b.to - a.to)[0]
  if (first === undefined || last === undefined) return null
  const { from, fromTs } = first
  const { to, toTs } = last
  const body = gapBody({ from, to, fromTs, toTs, reason: 'between_archive_and_live' })
  return { ...body, addresses: gaps.length }
}

/** The state that all ledgers share. */
interface LedgerState {
  /** Ascending by their ends. */
  readonly gaps: readonly LedgerGap[]
  readonly bodies: CoverageBody['addresses'][number]['gaps']
  readonly gapsMax: number
  readonly end: LedgerEnd | null
  /** Whether the ledgers end too far before the index. */
  readonly isBehind: boolean
}

function addressBody(
  watched: WatchedAddress,
  job: BackfillJob | null,
  { gaps, bodies, gapsMax, end, isBehind }: LedgerState
): CoverageBody['addresses'][number] {
  const { address, label, role, captureFrom } = watched
  // A ledger ends before its first block until that block is applied.
  const hasBegun = captureFrom !== null && end !== null && end.slot >= captureFrom.slot - 1
  const live = captureFrom === null ? [] : (end?.holes ?? []).filter(({ to }) => to >= captureFrom.slot)
  const holes = [...live, ...(jobOf(watched, job)?.holes ?? [])]
  const earlier = historyGaps(watched, job)
  const firstGap = captureFrom === null ? gaps.length : firstEndingSince(gaps, captureFrom.slot)
  const gapCount = gaps.length - firstGap + earlier.length
  const missing = [...earlier, ...gaps.slice(firstGap).slice(-1), ...holes]
  const shown = bodies.slice(firstGap, firstGap + gapsMax)
  const merged =
    earlier.length === 0
      ? shown
      : [...earlier.map(gapBody), ...shown].sort((a, b) => a.from_slot - b.from_slot).slice(0, gapsMax)
  return {
    address,
    label,
    role,
    status: statusOf(watched, job),
    live_from: placeBody(captureFrom),
    archive: archiveBody(watched),
    gaps: merged,
    gaps_left_out: Math.max(0, gapCount - gapsMax),
    holes: holes.map(holeBody),
    complete_from_slot: hasBegun ? completeFrom(segmentsOf(watched)[0]!.from, end.slot, missing) : null,
    complete: hasBegun && gapCount === 0 && holes.length === 0 && !isBehind && isEqualToChain(watched, job)
  }
}

/** Returns the index of the first gap that ends at or after a slot; the number of gaps if no gap does. */
function firstEndingSince(gaps: readonly LedgerGap[], slot: number): number {
  let [low, high] = [0, gaps.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (gaps[middle]!.to < slot) low = middle + 1
    else high = middle
  }
  return low
}

/** Returns the slot after all gaps and holes of a ledger; null if that slot is beyond its end. */
function completeFrom(
  first: number,
  end: number,
  missing: readonly { readonly to: number }[]
): number | null {
  if (missing.length === 0) return first
  const last = missing.reduce((slot, { to }) => Math.max(slot, to), 0)
  return last < end ? last + 1 : null
}
