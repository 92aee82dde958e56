import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { COVERAGE, coverageBody } from '../bodies/coverage.ts'
import { readDecodingPeriods } from '../decoding-periods.ts'
import type { AppDeps } from '../../kernel/http/deps.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serve } from '../../kernel/http/serve.ts'
import { wholeNumber } from '../../kernel/http/parameters.ts'

/** Maximum gaps of one answer. A completely read chain has no gaps. */
const GAPS_MAX = 1_000
const SLOT_MAX = 999_999_999_999

export const coverage = endpoint({
  path: '/v1/admin/coverage',
  tag: 'Administration',
  summary: 'Which slots are indexed',
  description: `The indexed slots, the gaps (missing slots) with their reasons, and the oldest slot with trades. An answer has at most ${GAPS_MAX} gaps. Slots between the files of a recorded folder are not gaps.`,
  scope: 'admin',
  query: z.object({
    from_slot: wholeNumber(0, SLOT_MAX, 0).describe('The first slot to report')
  }),
  answer: COVERAGE,
  examples: [{ name: 'from the first slot on' }]
})

export const adminCoverageRoutes: FastifyPluginAsync<Pick<AppDeps, 'storage'>> = async (app, { storage }) => {
  serve(app, coverage, async ({ query }) => {
    const from = query.from_slot
    const [genesis, head, oldest, horizon, periods, gaps] = await Promise.all([
      storage.coverage.genesis(),
      storage.blocks.head(),
      storage.blocks.firstSince(0),
      storage.coverage.horizon(),
      readDecodingPeriods(storage),
      storage.coverage.gaps({ after: from === 0 ? null : from - 1, limit: GAPS_MAX + 1 })
    ])
    return coverageBody({
      genesis,
      first: oldest === null ? null : Math.max(oldest, from),
      head: head?.slot ?? null,
      horizon,
      periods,
      gaps: gaps.slice(0, GAPS_MAX),
      next: gaps[GAPS_MAX]?.from ?? null
    })
  })
}
