import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { ledgerEntryBody } from '../bodies/ledger-entry.ts'
import { endBody, eventList } from '../bodies/revenue.ts'
import { pubkeyToBase58, type Pubkey } from '../../chain/pubkey.ts'
import { LedgerReader } from '../ledger-reader.ts'
import type { WatchedAddress } from '../watched-address.ts'
import { WatchedAddresses } from '../watched-addresses.ts'
import { tenantOf } from '../../kernel/http/caller-tenant.ts'
import type { AppDeps } from '../../kernel/http/deps.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serve } from '../../kernel/http/serve.ts'
import { EXAMPLE_WATCHED } from '../../edge/routes/example-values.ts'
import { instant } from '../../kernel/http/instant.ts'
import { readLedgerCursor, writeLedgerCursor } from './ledger-cursor.ts'
import { ledgerEnd } from './ledger-end.ts'
import { ledgerPage } from './ledger-page.ts'
import { symbolsOf } from '../../data/mint-symbols.ts'
import { address, oneOf, wholeNumber } from '../../kernel/http/parameters.ts'
import { checkRange } from '../../data/routes/trade-filters.ts'

export const revenueEvents = endpoint({
  path: '/v1/revenue/events',
  tag: 'Revenue',
  summary: 'Ledger of the watched addresses',
  description:
    'Every balance change of the watched addresses of the tenant, newest first: one row for each changed account of a transaction. A failed transaction has the row of its fee. Over slots without a gap, the sum of `delta_raw` of an account is the last `post_raw` − the first `pre_raw`. To read new rows, send `order=asc` and the `cursor` of the newest row seen as `after`. Rows are stored for 400 days.',
  scope: 'revenue',
  query: z.object({
    limit: wholeNumber(1, 1000, 100).describe('Maximum number of rows'),
    after: z
      .string()
      .optional()
      .describe(
        '`nextCursor` of the previous page, or `cursor` of any row; valid with every order and filter'
      ),
    order: oneOf(['desc', 'asc']).default('desc').describe('`desc`: newest first'),
    address: address.optional().describe('Only rows of this watched address'),
    from: instant
      .optional()
      .describe('Only rows at or after this block time: unix seconds, or ISO 8601 (UTC without a zone)'),
    to: instant
      .optional()
      .describe('Only rows before this block time: unix seconds, or ISO 8601 (UTC without a zone)')
  }),
  answer: eventList,
  errors: ['CURSOR_INVALID', 'WATCH_NOT_FOUND'],
  examples: [
    { name: 'The newest rows', query: { limit: '10' } },
    { name: 'One address, oldest first', query: { address: EXAMPLE_WATCHED, order: 'asc', limit: '10' } }
  ]
})

export const revenueEventRoutes: FastifyPluginAsync<Pick<AppDeps, 'storage' | 'names' | 'cash'>> = async (
  app,
  deps
) => {
  const { documents, blocks } = deps.storage
  const registry = new WatchedAddresses(documents)
  const reader = new LedgerReader(documents)

  serve(app, revenueEvents, async ({ query, caller, signal, slices }) => {
    const tenant = tenantOf(caller)
    const { limit, order, from, to } = query
    checkRange(query)
    const after = query.after === undefined ? null : readLedgerCursor(tenant, query.after)
    const [watched, end] = await Promise.all([
      watchedBy(registry, tenant, query.address),
      ledgerEnd(reader, blocks)
    ])
    const complete = end?.slot ?? Infinity
    const page = { order, after, from, to, complete, limit: limit + 1, pause: slices.pause }
    const found = await ledgerPage({ reader, blocks }, watched, page, signal)
    const rows = found.slice(0, limit)
    const symbolOf = await symbolsOf(
      rows.map(({ mint }) => mint),
      deps
    )
    const byAddress = new Map(watched.map((each) => [each.address, each]))
    const data = await slices.map(rows, (row) => {
      const { label, role } = byAddress.get(row.address)!
      const body = ledgerEntryBody(row, { label, role, symbol: symbolOf(row.mint) })
      return { ...body, cursor: writeLedgerCursor(tenant, row) }
    })
    const nextCursor = found.length > limit ? (data.at(-1)?.cursor ?? null) : null
    return { tenant, data, nextCursor, complete_to: endBody(end) }
  })
}

/** Returns the watched addresses of a tenant, or the requested one. Rejects with WATCH_NOT_FOUND. */
async function watchedBy(
  registry: WatchedAddresses,
  tenant: string,
  address: Pubkey | undefined
): Promise<readonly WatchedAddress[]> {
  if (address === undefined) return registry.list(tenant)
  return [await registry.get(tenant, pubkeyToBase58(address))]
}
