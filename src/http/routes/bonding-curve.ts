import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { CURVE, curveBody } from '../../api/curve.ts'
import { ServiceError } from '../../errors.ts'
import type { AppDeps } from '../deps.ts'
import { endpoint, serveCached } from '../endpoint.ts'
import { EXAMPLE_LAUNCH } from '../example-values.ts'
import { address } from '../parameters.ts'

export const bondingCurve = endpoint({
  path: '/v1/tokens/{mint}/bonding-curve',
  tag: 'Tokens',
  summary: 'Bonding curve of a token',
  description: 'Status, progress, reserves and price of the bonding curve after its newest event or trade.',
  scope: 'data:read',
  params: z.object({ mint: address.describe('The token') }),
  answer: CURVE,
  errors: ['CURVE_NOT_FOUND'],
  examples: [{ name: 'A token of a launchpad', params: { mint: EXAMPLE_LAUNCH } }]
})

export const bondingCurveRoutes: FastifyPluginAsync<Pick<AppDeps, 'storage'>> = async (app, { storage }) => {
  serveCached(app, bondingCurve, async ({ params: { mint } }) => {
    const curve = await storage.curves.get(mint)
    if (curve === null) throw new ServiceError('CURVE_NOT_FOUND', 'no bonding curve of this token is known')
    return { body: curveBody(curve), dependsOn: [mint], changesWith: 'tags' }
  })
}
