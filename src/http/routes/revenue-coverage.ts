import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { coverageAnswer, gapBody, placeBody, statusOf, type CoverageBody } from '../../api/revenue.ts'
import { pubkeyToBase58 } from '../../chain/pubkey.ts'
import { LedgerGaps, type LedgerGap } from '../../revenue/ledger-gap.ts'
import type { WatchedAddress } from '../../revenue/watched-address.ts'
import { WatchedAddresses } from '../../revenue/watched-addresses.ts'
import { tenantOf } from '../caller-tenant.ts'
import type { AppDeps } from '../deps.ts'
import { endpoint, serve } from '../endpoint.ts'
import { address } from '../parameters.ts'

/** Gaps of one address, and of one answer, at most. Chosen: 1 MB for an answer. */
const GAPS_MAX = 1_000
const GAPS_OF_ANSWER_MAX = 10_000

export const revenueCoverage = endpoint({
  path: '/v1/revenue/coverage',
  tag: 'Revenue',
  summary: 'Coverage of the ledgers',
  description: `Since when each address is recorded, and the gaps since then. An address lists at most ${GAPS_MAX} gaps. An answer lists at most ${GAPS_OF_ANSWER_MAX}, shared equally by its addresses.`,
  scope: 'revenue',
  query: z.object({ address: address.optional().describe('Only this watched address') }),
  answer: coverageAnswer,
  errors: ['WATCH_NOT_FOUND'],
  examples: [{ name: 'All watched addresses' }]
})

export const revenueCoverageRoutes: FastifyPluginAsync<Pick<AppDeps, 'storage'>> = async (
  app,
  { storage }
) => {
  const registry = new WatchedAddresses(storage.documents)
  const ledgerGaps = new LedgerGaps(storage.documents)

  serve(app, revenueCoverage, async ({ query, caller }) => {
    const all = await registry.list(tenantOf(caller))
    const asked = query.address === undefined ? null : pubkeyToBase58(query.address)
    const listed = asked === null ? all : [await registry.get(tenantOf(caller), asked)]
    const first = earliest(listed)
    const gaps = first === null ? [] : await ledgerGaps.since(first.slot)
    const gapsMax = Math.min(GAPS_MAX, Math.floor(GAPS_OF_ANSWER_MAX / Math.max(1, listed.length)))
    return {
      addresses: listed.map((watched) => addressBody(watched, gaps, gapsMax)),
      archive_end: null,
      live_start: placeBody(earliest(all)),
      gap_between_archive_and_live: null
    }
  })
}

/** Returns the earliest start of the ledgers of addresses; null if none has begun. */
function earliest(watched: readonly WatchedAddress[]): WatchedAddress['captureFrom'] {
  return watched
    .map(({ captureFrom }) => captureFrom)
    .reduce((a, b) => (a === null || (b !== null && b.slot < a.slot) ? b : a), null)
}

function addressBody(
  watched: WatchedAddress,
  gaps: readonly LedgerGap[],
  gapsMax: number
): CoverageBody['addresses'][number] {
  const { address, label, role, captureFrom } = watched
  const own = captureFrom === null ? [] : gaps.filter(({ to }) => to >= captureFrom.slot)
  return {
    address,
    label,
    role,
    status: statusOf(watched),
    live_from: placeBody(captureFrom),
    archive: null,
    gaps: own.slice(0, gapsMax).map(gapBody),
    gaps_left_out: Math.max(0, own.length - gapsMax),
    complete: captureFrom !== null && own.length === 0
  }
}
