import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { SLOT_MAX } from '../../chain/chain-numbers.ts'
import { pubkeyToBase58 } from '../../chain/pubkey.ts'
import { EXAMPLE_WATCHED } from '../../edge/routes/example-values.ts'
import { tenantOf } from '../../kernel/http/caller-tenant.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { address, invalid } from '../../kernel/http/parameters.ts'
import * as schema from '../../kernel/http/schema.ts'
import { serve } from '../../kernel/http/serve.ts'
import { ERRORS } from '../../kernel/errors.ts'
import { WSOL } from '../../market/cash.ts'
import { ArchiveWriter } from '../archive-writer.ts'
import { REVENUE_ERRORS } from '../errors.ts'
import { LedgerPrices } from '../ledger-prices.ts'
import { valued } from '../valued-entry.ts'
import { IMPORTED_MAX } from '../watch-history.ts'
import { WatchedAddresses } from '../watched-addresses.ts'
import { archivedRow, changeOf, faultIn, type ArchivedRow } from './archived-row.ts'
import type { RevenueNeeds } from './needs.ts'

/** Maximum rows of one request: with 600 bytes each, they fit into a body of 64 KiB. */
export const ARCHIVED_ROWS_MAX = 100

const slot = z.int().min(0).max(SLOT_MAX)

export const importArchive = endpoint({
  method: 'POST',
  path: '/v1/revenue/accounts/{address}/archive',
  tag: 'Revenue',
  summary: 'Import history of a watched address',
  description: `Stores rows of a watched address from before its watch, such as those of an export; \`millrace revenue backfill ADDRESS FILE…\` reads them from files. A request has at most ${ARCHIVED_ROWS_MAX} rows, with all rows of each transaction. A row that is stored already stays as it is. The rows are shown, with \`source\` = \`archive\`, once \`ranges\` names their slots and their sums are stored. Then the ledger is compared with the chain. Other fields of a row are ignored.`,
  scope: 'revenue',
  params: z.object({ address: address.describe('The watched address') }),
  body: z.object({
    rows: z.array(archivedRow).max(ARCHIVED_ROWS_MAX).describe('Rows, in any order'),
    ranges: z
      .array(
        z
          .object({ from_slot: slot.describe('First slot'), to_slot: slot.describe('Last slot') })
          .refine(({ from_slot, to_slot }) => from_slot <= to_slot, 'must not end before it begins')
      )
      .max(IMPORTED_MAX)
      .optional()
      .describe('Slots of which every row was sent; send them after the last rows')
  }),
  answer: z.object({
    address: schema.address('The watched address'),
    stored: schema.count('Rows that were new'),
    repeated: schema.count('Rows that were stored already')
  }),
  isIdempotent: true,
  shownBy: 'GET /v1/revenue/events',
  errors: [ERRORS.ADDRESS_INVALID, REVENUE_ERRORS.WATCH_NOT_FOUND, REVENUE_ERRORS.IMPORT_LIMIT_REACHED],
  examples: [
    {
      name: 'The end of an import',
      params: { address: EXAMPLE_WATCHED },
      body: { rows: [], ranges: [{ from_slot: 0, to_slot: 1 }] }
    }
  ]
})

export const revenueArchiveRoutes: FastifyPluginAsync<
  Pick<RevenueNeeds, 'storage' | 'cash' | 'clock' | 'watchedChanged'>
> = async (app, { storage, cash, clock, watchedChanged }) => {
  const registry = new WatchedAddresses(storage.documents)
  const writer = new ArchiveWriter(storage)
  const prices = new LedgerPrices(storage, cash)

  /** Stores rows. Resolves with the number of those that were new. */
  const store = async (tenant: string, address: string, rows: readonly ArchivedRow[]): Promise<number> => {
    if (rows.length > 0) await registry.countImported(tenant, address, rows.length)
    let stored = 0
    for (const [slot, list] of Map.groupBy(rows, (row) => row.slot)) {
      const blockTime = list[0]!.ts_ms / 1_000
      const isPriced = list.every(({ value_usd }) => value_usd !== undefined)
      const mints = [WSOL, ...list.map(({ mint }) => mint)]
      const known = isPriced ? new Map<string, number>() : await prices.at(mints, blockTime)
      const entries = list.toSorted(inBlock).map((row) => entryOf(row, address, known))
      stored += await writer.put({ tenant, address }, { slot, blockTime, entries })
    }
    return stored
  }

  serve(app, importArchive, async ({ params, body: { rows, ranges = [] }, caller, once }) => {
    const tenant = tenantOf(caller)
    const address = pubkeyToBase58(params.address)
    const fault = faultIn(rows, clock.now())
    if (fault !== null) throw invalid('body:', fault)
    const stored = await once(
      { address, rows, ranges },
      async () => String(await registry.nextRequestMs(tenant, address, clock.now())),
      async ({ id, isDone }) => {
        if (isDone) return 0
        const stored = await store(tenant, address, rows)
        if (ranges.length === 0) return stored
        const slots = ranges.map(({ from_slot: from, to_slot: to }) => ({ from, to }))
        const watched = await registry.importRanges(tenant, address, slots, Number(id))
        if (watched === null)
          throw invalid('ranges', `would be more than ${IMPORTED_MAX} of this address; join them`)
        return stored
      }
    )
    if (ranges.length > 0) watchedChanged?.()
    return { address, stored, repeated: rows.length - stored }
  })
}

const inBlock = (a: ArchivedRow, b: ArchivedRow): number => a.tx_index - b.tx_index || a.index - b.index

function entryOf(row: ArchivedRow, address: string, prices: ReadonlyMap<string, number>) {
  const entry = valued(changeOf(row), address, prices)
  const { value_usd: valueUsd = entry.valueUsd, attributed_fee_usd: feeUsd = entry.feeUsd } = row
  return { ...entry, valueUsd, feeUsd }
}
