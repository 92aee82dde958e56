import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { CURVE, curveBody } from '../bodies/curve.ts'
import { readCurve } from '../../accounts/pools/live-curve.ts'
import { ServiceError } from '../../kernel/errors.ts'
import { DATA_ERRORS } from '../errors.ts'
import type { DataNeeds } from './needs.ts'
import { untilNextSecond } from '../../kernel/http/time.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serveCached } from '../../kernel/http/serve-cached.ts'
import { EXAMPLE_LAUNCH } from '../../edge/routes/example-values.ts'
import { marketReader } from './market-reader.ts'
import { address } from '../../kernel/http/parameters.ts'

export const bondingCurve = endpoint({
  path: '/v1/tokens/{mint}/bonding-curve',
  tag: 'Tokens',
  summary: 'Bonding curve of a token',
  description:
    'Status, progress, reserves and price of the bonding curve. They come from its account at confirmed, or from its newest event or trade if that is newer. The service waits up to 1 s for the account. Without the account, the answer comes from the events, and `state_reason` gives the reason. A curve without a live event or trade has the state of the imported archive.',
  scope: 'data:read',
  params: z.object({ mint: address.describe('The token') }),
  answer: CURVE,
  errors: [DATA_ERRORS.CURVE_NOT_FOUND],
  examples: [{ name: 'A token of a launchpad', params: { mint: EXAMPLE_LAUNCH } }]
})

export const bondingCurveRoutes: FastifyPluginAsync<
  Pick<DataNeeds, 'storage' | 'archive' | 'accounts' | 'clock'>
> = async (app, deps) => {
  const { accounts, clock } = deps
  const marketOf = marketReader(deps)
  serveCached(app, bondingCurve, async ({ params: { mint } }) => {
    const { curves, archiveEnd } = marketOf()
    const row = await curves.get(mint)
    if (row === null)
      throw new ServiceError(DATA_ERRORS.CURVE_NOT_FOUND, 'no bonding curve of this token is known')
    const curve = await readCurve(accounts, row)
    const nowMs = clock.now()
    const { isCurrent } = curve
    const age =
      accounts === null || row.status === 'graduated'
        ? {}
        : { maxAgeMs: untilNextSecond(nowMs), ...(isCurrent !== undefined && { isCurrent }) }
    return { body: curveBody(curve, nowMs, archiveEnd), dependsOn: [mint], changesWith: 'tags', ...age }
  })
}
