import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { TOKEN, TOKEN_WINDOWS, tokenBody, type TokenWindow } from '../../api/token.ts'
import { ServiceError } from '../../errors.ts'
import { WSOL } from '../../market/cash.ts'
import { newestUsd } from '../../market/latest-price.ts'
import { mintNames } from '../../market/mint-names.ts'
import { windowHours, windowOf } from '../../market/windows.ts'
import type { AppDeps } from '../deps.ts'
import { endpoint, serveCached } from '../endpoint.ts'
import { address } from '../parameters.ts'
import { readPricedToken } from '../valued-token.ts'

export const token = endpoint({
  path: '/v1/tokens/{mint}',
  tag: 'Tokens',
  summary: 'Summary of a token',
  description:
    'Names, price, rolling windows up to the minute of the indexed head, bonding curve and pools of a token. Fields that need account state are null. Wrapped SOL, USDC and USDT are always known.',
  scope: 'data:read',
  params: z.object({ mint: address.describe('The token') }),
  answer: TOKEN,
  errors: ['TOKEN_NOT_FOUND'],
  examples: [{ name: 'Wrapped SOL', params: { mint: WSOL } }]
})

export const tokenRoutes: FastifyPluginAsync<Pick<AppDeps, 'storage' | 'cash'>> = async (
  app,
  { storage, cash }
) => {
  serveCached(app, token, async ({ params: { mint }, head }) => {
    const now = head?.blockTime ?? 0
    const [row, { launch, curve, pair, value }, hours] = await Promise.all([
      storage.tokens.get(mint),
      readPricedToken(storage, mint),
      storage.activity.range('mint', mint, windowHours(now, TOKEN_WINDOWS['24h']))
    ])
    const known = cash.of(mint)
    if (known === undefined && row === null && launch === null && curve === null && pair === null) {
      throw new ServiceError('TOKEN_NOT_FOUND', 'nothing is known of this token')
    }
    const names = mintNames(known, launch)
    const lastUsd = newestUsd(pair)
    const of = (window: TokenWindow) => windowOf(hours, now, TOKEN_WINDOWS[window], lastUsd)
    const windows = { '5m': of('5m'), '1h': of('1h'), '6h': of('6h'), '24h': of('24h') }
    return {
      body: tokenBody({ mint, names, token: row, launch, curve, pair, value }, windows),
      dependsOn: [mint],
      changesWith: 'minute'
    }
  })
}
