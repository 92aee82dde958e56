import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { metadataBody, statedMetadataBody } from '../../accounts/bodies/metadata.ts'
import { TOKEN, TOKEN_WINDOWS, tokenBody, type TokenWindow } from '../bodies/token.ts'
import { ServiceError } from '../../kernel/errors.ts'
import { DATA_ERRORS } from '../errors.ts'
import { WSOL } from '../../market/cash.ts'
import { newestUsd } from '../../market/latest-price.ts'
import { changeOf } from '../../market/windows.ts'
import type { DataNeeds } from './needs.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serveCached } from '../../kernel/http/serve-cached.ts'
import { holderSummaries } from '../../holders/routes/holder-summary.ts'
import { untilNextSecond } from '../../kernel/http/time.ts'
import { ageLimit, knownFacts, type Aged, type KnownFacts } from './known-mint.ts'
import { marketReader } from './market-reader.ts'
import { address } from '../../kernel/http/parameters.ts'
import { namesStatedBy } from './stated-names.ts'
import { readPricedToken } from './valued-token.ts'

export const token = endpoint({
  path: '/v1/tokens/{mint}',
  tag: 'Tokens',
  summary: 'Summary of a token',
  description:
    'Names, price, bonding curve and pools of a token, and its rolling windows, which end with the minute of the indexed head. The accounts of the token are read in the background. Their data is missing in the first answer for a token; later answers have it, with its slot. Wrapped SOL, USDC and USDT are always known. Facts and counts include an imported archive; the windows do if no block is missing between it and the live blocks.',
  scope: 'data:read',
  params: z.object({ mint: address.describe('The token') }),
  answer: TOKEN,
  errors: [DATA_ERRORS.TOKEN_NOT_FOUND],
  examples: [{ name: 'Wrapped SOL', params: { mint: WSOL } }]
})

export const tokenRoutes: FastifyPluginAsync<
  Pick<DataNeeds, 'storage' | 'archive' | 'cash' | 'accounts' | 'clock' | 'mintWindows'>
> = async (app, deps) => {
  const { storage, cash, accounts, clock, mintWindows } = deps
  const marketOf = marketReader(deps)
  const holdersOf = holderSummaries({ storage, accounts, clock, cash })
  serveCached(app, token, async ({ params: { mint }, head, slices }) => {
    const now = head?.blockTime ?? 0
    const read = await knownFacts(accounts, mint)
    const market = marketOf()
    const live = await storage.tokens.get(mint)
    const [row, { launch, curve, pair, value, liquidity }, open, holders] = await Promise.all([
      market.archiveEnd === null ? live : market.tokens.get(mint),
      readPricedToken({ ...market, pools: storage.pools }, mint, live, read, accounts),
      mintWindows.of(mint, now, TOKEN_WINDOWS, { traders: true, active: live?.activeHours }),
      holdersOf(mint, slices.pause)
    ])
    const known = cash.of(mint)
    if (
      read.facts === null &&
      known === undefined &&
      row === null &&
      launch === null &&
      curve === null &&
      pair === null
    ) {
      throw new ServiceError(DATA_ERRORS.TOKEN_NOT_FOUND, 'this token is not indexed')
    }
    const nowMs = clock.now()
    const stated = { mint, ...namesStatedBy(known, launch), supplyRaw: value.supplyRaw, supply: value.supply }
    const metadata =
      read.facts === null ? statedMetadataBody(stated) : metadataBody(read.facts, read, stated, nowMs)
    const lastUsd = newestUsd(pair)
    const of = (window: TokenWindow) => ({ ...open[window], changePct: changeOf(open[window], lastUsd) })
    const windows = { '5m': of('5m'), '1h': of('1h'), '6h': of('6h'), '24h': of('24h') }
    return {
      body: tokenBody(
        {
          ...{ mint, metadata, token: row, launch, curve, pair, value, holders },
          liquiditySlot: liquidity.slot,
          archiveEnd: market.archiveEnd
        },
        windows
      ),
      dependsOn: [mint],
      changesWith: 'minute',
      ...ageLimit([read, liquidity, ageOf(read, nowMs)])
    }
  })
}

/** Limits an answer that states the age of a token's facts, until that age changes. */
const ageOf = ({ facts, isCurrent }: KnownFacts, nowMs: number): Aged => ({
  maxAgeMs: facts === null ? undefined : untilNextSecond(nowMs),
  isCurrent
})
