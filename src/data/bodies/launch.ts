import { z } from 'zod'
import { pubkeyToBase58 } from '../../chain/pubkey.ts'
import type { LaunchRow } from '../../market/rows.ts'
import { EVENT_FIELDS, eventFields, rawOrNull } from './event.ts'
import * as schema from '../../kernel/http/schema.ts'
import { sourceMark, sourceOfSlot, type ArchiveEnd } from '../../ingest/bodies/source.ts'
import { millisecondsText, secondsText } from '../../kernel/http/time.ts'

export const LAUNCH_STATUSES = ['created', 'trading', 'graduated'] as const

export const LAUNCH = z
  .object({
    kind: z.literal('launch').describe('Kind of event'),
    event: z.literal('create').describe('The event'),
    ...EVENT_FIELDS,
    ingested_at: z
      .string()
      .regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/)
      .describe(
        `Time at which the service received the block; ${schema.CLOCKS.ingest}, UTC, \`YYYY-MM-DD HH:MM:SS.mmm\``
      ),
    ts: schema.time('Time of the block', 'block'),
    creator: schema.address('Creator of the token'),
    mint: schema.address('The token'),
    base_mint: schema.address('The token, under the field name that events of pools use'),
    quote_mint: schema.address('Cash of the curve'),
    symbol: schema.text('Symbol, as the launch states it'),
    name: schema.text('Name, as the launch states it'),
    uri: schema.text('URI of the metadata, as the launch states it'),
    decimals: schema
      .count('Decimals of the token')
      .nullable()
      .describe('Decimals of the token; null when not stated'),
    supply_raw: schema.rawAmount('Supply at launch').nullable(),
    curve: schema.address('The bonding curve'),
    status: z
      .enum(LAUNCH_STATUSES)
      .describe(
        'Lifecycle: `created`; `trading` from its first trade on any venue; `graduated` once its curve has migrated'
      ),
    source: sourceMark('the launch is')
  })
  .meta({ id: 'Launch', description: 'The creation of a token on a launchpad' })

/** Columns of launches as CSV and Parquet. The order never changes, and new columns come last. */
export const LAUNCH_COLUMNS = [
  ...['cursor', 'ts', 'ts_ms', 'block_time', 'slot', 'signature', 'tx_index', 'ix_index', 'inner_ix_index'],
  ...['venue', 'program', 'pool', 'kind', 'event', 'mint', 'symbol', 'name', 'uri', 'decimals', 'supply_raw'],
  ...['creator', 'user', 'fee_payer', 'base_mint', 'quote_mint', 'curve', 'status', 'ingested_at'],
  ...['commitment', 'source']
] as const satisfies readonly (keyof z.input<typeof LAUNCH>)[]

/** Renders a launch: its documented fields, the lifecycle status, and the event's own fields. */
export function launchBody(row: LaunchRow, archiveEnd: ArchiveEnd = null): z.input<typeof LAUNCH> {
  const mint = pubkeyToBase58(row.mint)
  return {
    ...eventFields(row, 'launch', 'create'),
    ingested_at: millisecondsText(row.ingestedAtMs),
    ts: secondsText(row.blockTime),
    creator: pubkeyToBase58(row.creator),
    mint,
    base_mint: mint,
    quote_mint: pubkeyToBase58(row.quoteMint),
    symbol: row.symbol,
    name: row.name,
    uri: row.uri,
    decimals: row.decimals,
    supply_raw: rawOrNull(row.supply),
    curve: pubkeyToBase58(row.curve),
    status: row.status,
    ...sourceOfSlot(row.slot, archiveEnd)
  }
}
