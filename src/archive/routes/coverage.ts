import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { COVERED_RANGES, coveredRangeBody, type RangeEnds } from '../../ingest/bodies/covered-range.ts'
import { coveredRanges, type CoveredRange, type Indexed } from '../covered-ranges.ts'
import { readArchivedRanges } from '../archived-ranges.ts'
import type { ArchiveStanding } from '../served-archive.ts'
import { VENUE_IDS, type VenueId } from '../../chain/venue-id.ts'
import { splitCursor } from '../../market/cursor.ts'
import type { SlotRow } from '../../market/rows.ts'
import { gapsAfter } from '../../ingest/coverage.ts'
import { readDecodingPeriods } from '../../ingest/decoding-periods.ts'
import type { GapRow, Storage } from '../../../storage/port.ts'
import { withCountedStorage } from '../../kernel/http/counted-storage.ts'
import type { ArchiveNeeds } from './needs.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serve } from '../../kernel/http/serve.ts'
import { readPageCursor, writePageCursor } from '../../kernel/http/page-cursor.ts'
import { oneOf, wholeNumber } from '../../kernel/http/parameters.ts'
import { ERRORS } from '../../kernel/errors.ts'

const LIST = 'coverage'
/** Slots that are searched for the block at an end of a range: leaders skip a few slots in a row. */
const NEAR = 64

export const coverage = endpoint({
  path: '/v1/coverage',
  tag: 'Market',
  summary: 'List indexed ranges of slots',
  description:
    'Ranges of slots, oldest first and without holes: live, archived, partial or missing. Rows of the Data API come from the first three. A range ends where the venues, the decoder or the origin change.',
  scope: 'data:read',
  query: z.object({
    limit: wholeNumber(1, 1_000, 100).describe('Maximum number of ranges'),
    after: z.string().optional().describe('The `nextCursor` of the previous page'),
    venue: oneOf(VENUE_IDS)
      .optional()
      .describe(
        'Only ranges in which this venue was decoded: no missing ones, and none whose venues are unknown'
      )
  }),
  answer: COVERED_RANGES,
  errors: [ERRORS.CURSOR_INVALID],
  examples: [{ name: 'All ranges' }, { name: 'Ranges of a venue', query: { venue: 'pumpswap' } }]
})

export const coverageRoutes: FastifyPluginAsync<Pick<ArchiveNeeds, 'storage' | 'archive'>> = async (
  app,
  { storage, archive }
) => {
  const unfollow = archive?.onChange(() => app.responseCache.forget())
  app.addHook('onClose', async () => unfollow?.())
  serve(app, coverage, async ({ query: { limit, after, venue }, slices }) => {
    const from = after === undefined ? -1 : readPageCursor(LIST, after)
    const standing = archive?.standing ?? null
    const current = archive?.current ?? null
    const served = current === null ? null : withCountedStorage(current)
    // A filter can skip any number of ranges, so it needs all gaps.
    const gaps =
      venue === undefined ? await firstGaps(storage, from, limit) : await gapsAfter(storage.coverage, from)
    const archived = served === null ? null : await readArchivedRanges(served.storage)
    const indexed = { ...(await liveIndexed(storage)), gaps, archive: served, archived }
    const periods = {
      live: await readDecodingPeriods(storage),
      archive: served === null ? [] : await readDecodingPeriods(served.storage)
    }
    const rangesAfter = (slot: number) =>
      coveredRanges({ ...indexed, periods }, slot).filter((range) => hasVenue(range, venue))
    const page = [...rangesAfter(from).take(limit)]
    const isMore = page.length === limit && rangesAfter(page.at(-1)!.to).next().done !== true
    const ends = await slices.mapReads(page, (range) => endsOf(range, storage, served?.storage ?? null))
    return {
      data: await slices.map(page, (range, at) => coveredRangeBody(range, ends[at]!)),
      nextCursor: isMore ? writePageCursor(LIST, page.at(-1)!.to) : null,
      archive: standing && archiveBody(standing)
    }
  })
}

async function liveIndexed(storage: Storage): Promise<Pick<Indexed, 'live' | 'rowsFrom'>> {
  const [head, first, horizon] = await Promise.all([
    storage.blocks.head(),
    storage.blocks.firstSince(0),
    storage.coverage.horizon()
  ])
  return {
    live: head === null || first === null ? null : { first, head: head.slot },
    rowsFrom: horizon === null ? null : splitCursor(horizon.cursor).slot
  }
}

/** Reads as many gaps as a page of ranges can have, and one more. */
const firstGaps = ({ coverage }: Storage, after: number, limit: number): Promise<GapRow[]> =>
  coverage.gaps({ after: after < 0 ? null : after, limit: limit + 1 })

const hasVenue = ({ venues }: CoveredRange, venue: VenueId | undefined): boolean =>
  venue === undefined || venues?.includes(venue) === true

/** Finds the blocks at the ends of a range; if the range is missing, the blocks around it. */
async function endsOf(range: CoveredRange, live: Storage, archive: Storage | null): Promise<RangeEnds> {
  const stores = archive === null ? [live] : [archive, live]
  const within = async (from: number, to: number): Promise<SlotRow[]> =>
    (await Promise.all(stores.map(({ blocks }) => blocks.between(Math.max(from, 0), to)))).flat()
  const { state, from, to } = range
  const [first, last] =
    state === 'missing'
      ? await Promise.all([within(from - NEAR, from - 1), within(to + 1, to + NEAR)])
      : await Promise.all([within(from, Math.min(from + NEAR, to)), within(Math.max(to - NEAR, from), to)])
  return state === 'missing'
    ? { first: first.at(-1) ?? null, last: last[0] ?? null }
    : { first: first[0] ?? null, last: last.at(-1) ?? null }
}

function archiveBody({ archive, reason }: ArchiveStanding) {
  const isReadable = archive !== null && archive.storage.damage.length === 0
  return {
    served: reason === null,
    first_slot: archive?.first.slot ?? null,
    last_slot: archive?.last.slot ?? null,
    reason: reason === null ? null : isReadable ? 'overlaps_live' : 'unreadable'
  }
}
