import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { ledgerEntryBody } from '../bodies/ledger-entry.ts'
import { endBody, eventList, LEDGER_COLUMNS } from '../bodies/revenue.ts'
import { pubkeyToBase58, type Pubkey } from '../../chain/pubkey.ts'
import { LedgerReader } from '../ledger-reader.ts'
import type { WatchedAddress } from '../watched-address.ts'
import { WatchedAddresses } from '../watched-addresses.ts'
import { tenantOf } from '../../kernel/http/caller-tenant.ts'
import type { RevenueNeeds } from './needs.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serve } from '../../kernel/http/serve.ts'
import { EXAMPLE_WATCHED } from '../../edge/routes/example-values.ts'
import { instant } from '../../kernel/http/instant.ts'
import { readLedgerCursor, writeLedgerCursor } from './ledger-cursor.ts'
import { ROLE } from './revenue-accounts.ts'
import { ledgerEnd } from './ledger-end.ts'
import { ENTRY_KINDS } from '../entry-enums.ts'
import { ledgerPage } from './ledger-page.ts'
import { symbolsOf } from '../../data/mint-symbols.ts'
import { address, oneOf, wholeNumber } from '../../kernel/http/parameters.ts'
import { checkRange } from '../../data/routes/trade-filters.ts'
import { REVENUE_ERRORS } from '../errors.ts'
import { ERRORS } from '../../kernel/errors.ts'

export const revenueEvents = endpoint({
  path: '/v1/revenue/events',
  tag: 'Revenue',
  summary: 'Ledger of the watched addresses',
  description:
    'Every balance change of the watched addresses of the tenant, newest first: one row for each changed account of a transaction. A failed transaction has the row of its fee. Over slots without a gap, the sum of `delta_raw` of an account is the last `post_raw` − the first `pre_raw`. To read new rows, send `order=asc` and the `cursor` of the newest row seen as `after`. Rows are stored for 400 days. A request with `mint` or `kind` examines at most 10,000 rows, so a page can be short, or empty, and still have a `nextCursor`.',
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
    role: ROLE.optional().describe('Only rows of the watched addresses with this role'),
    mint: address.optional().describe('Only rows of this mint; that of wrapped SOL includes lamports'),
    kind: oneOf(ENTRY_KINDS).optional().describe('Only rows of this kind'),
    from: instant
      .optional()
      .describe('Only rows at or after this block time: unix seconds, or ISO 8601 (UTC without a zone)'),
    to: instant
      .optional()
      .describe('Only rows before this block time: unix seconds, or ISO 8601 (UTC without a zone)')
  }),
  answer: eventList,
  columns: LEDGER_COLUMNS,
  errors: [ERRORS.CURSOR_INVALID, REVENUE_ERRORS.WATCH_NOT_FOUND],
  examples: [
    { name: 'The newest rows', query: { limit: '10' } },
    { name: 'One address, oldest first', query: { address: EXAMPLE_WATCHED, order: 'asc', limit: '10' } }
  ]
})

export const revenueEventRoutes: FastifyPluginAsync<
  Pick<RevenueNeeds, 'storage' | 'names' | 'cash'>
> = async (app, deps) => {
  const { documents, blocks } = deps.storage
  const registry = new WatchedAddresses(documents)
  const reader = new LedgerReader(deps.storage)

  serve(app, revenueEvents, async ({ query, caller, signal, slices }) => {
    const tenant = tenantOf(caller)
    const { limit, order, from, to, kind } = query
    const mint = query.mint === undefined ? undefined : pubkeyToBase58(query.mint)
    checkRange(query)
    const after = query.after === undefined ? null : readLedgerCursor(tenant, query.after)
    const [watched, end] = await Promise.all([watchedBy(registry, tenant, query), ledgerEnd(reader, blocks)])
    const complete = end?.slot ?? Infinity
    const page = { order, after, from, to, mint, kind, complete, limit: limit + 1, pause: slices.pause }
    const { rows: found, stoppedAt } = await ledgerPage({ reader, blocks }, watched, page, signal)
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
    const last = found.length > limit ? (rows.at(-1) ?? null) : stoppedAt
    const nextCursor = last === null ? null : writeLedgerCursor(tenant, last)
    return { data, nextCursor, complete_to: endBody(end) }
  })
}

/** Returns the watched addresses that a request selects. Rejects with WATCH_NOT_FOUND. */
async function watchedBy(
  registry: WatchedAddresses,
  tenant: string,
  { address, role }: { readonly address?: Pubkey | undefined; readonly role?: string | undefined }
): Promise<readonly WatchedAddress[]> {
  const watched =
    address === undefined
      ? await registry.list(tenant)
      : [await registry.get(tenant, pubkeyToBase58(address))]
  return role === undefined ? watched : watched.filter((each) => each.role === role)
}
