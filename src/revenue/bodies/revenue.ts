import { z } from 'zod'
import { LEDGER_HOLES, type LedgerHoleRange } from '../ledger-progress.ts'
import { CAPTURE_WITHIN_S, type WatchedAddress } from '../watched-address.ts'
import { moment, momentText } from '../../access/bodies/api-key.ts'
import { LEDGER_ENTRY_BODY } from './ledger-entry.ts'
import { BY_MINT, SUMS } from './revenue-sums.ts'
import { ARCHIVE, PROGRESS, STATUS, statusOf } from './revenue-history.ts'
import type { BackfillJob } from '../backfill-document.ts'
import { ALL_GAP_REASONS, type HistoryGap } from '../history-gaps.ts'
import * as schema from '../../kernel/http/schema.ts'
import { secondsText } from '../../kernel/http/time.ts'

/**
 * Maximum slots by which the ledger may be behind the index and still be called complete: ten seconds. A running ledger
 * stores its end every two seconds, so a ledger further behind is not being written.
 */
export const LAG_SLOTS_MAX = 25

const address = schema.address('The watched address')
const label = schema.text('Label of the address; default: the address itself')
const role = schema.text('Role of the address')
const createdAt = moment('Time of registration')
const PLACE = z.object({
  slot: schema.count('The first slot whose blocks are recorded'),
  ts: schema.time('Time of the newest block before it', 'block'),
  ts_ms: schema.unixMs('The same', 'block')
})
const END = z.object({
  slot: schema.count('Its slot'),
  ts: schema.time('Its time; null if unknown', 'block').nullable(),
  ts_ms: schema.unixMs('The same', 'block').nullable()
})
const completeTo = END.nullable().describe(
  'The block up to which the rows of all ledgers are stored, apart from the gaps and holes of `GET /v1/revenue/coverage`; null while no ledger has begun. Later changes may exist and not be shown yet'
)
const captureFrom = PLACE.nullable().describe('Start of the ledger of the address; null while it is starting')

/** Schema of a watched address that was added, or whose label or role was changed. */
export const watchedAnswer = z
  .object({
    address,
    label,
    role,
    created_at: createdAt,
    capture_starts_within_seconds: schema.count('The ledger begins within this number of seconds'),
    status: STATUS
  })
  .meta({ id: 'WatchedAddress', description: 'An address whose balance changes are recorded' })

export const unwatchedAnswer = z.object({
  address,
  deleted: z.literal(true).describe('It is no longer watched')
})

/** Schema of the list of watched addresses. */
export const accountList = schema
  .listOf(
    z
      .object({
        address,
        label,
        role,
        status: STATUS,
        created_at: createdAt,
        capture_from: captureFrom,
        progress: PROGRESS,
        ...SUMS.shape,
        ...BY_MINT,
        last_event_at: schema.time('Time of the newest row', 'block').nullable(),
        last_event_at_ms: schema.unixMs('The same', 'block').nullable()
      })
      .meta({ id: 'RevenueAccount', description: 'A watched address with the sums of its ledger' })
  )
  .extend({
    complete_to: completeTo,
    limits: z
      .object({ max: schema.count('Addresses that a tenant may watch') })
      .describe('Limits of the tenant')
  })
export type AccountBody = z.input<typeof accountList>['data'][number]

/** Schema of the sums of a window. */
export const totalsAnswer = z
  .object({
    window_seconds: schema.count('Seconds of the window'),
    from: schema.time('Start of the window: blocks at or after this time count', 'block'),
    to: schema.time(
      'End of the window: time of the block of `complete_to`, which counts too. Time of the newest indexed block while no ledger has begun',
      'block'
    ),
    complete_to: completeTo,
    source: z
      .literal('archive')
      .optional()
      .describe('Present if the window reaches into archived rows, which are counted too'),
    totals: SUMS.describe('The sums of all watched addresses'),
    by_role: z
      .array(z.object({ role, addresses: schema.count('Addresses with this role'), ...SUMS.shape }))
      .describe('The sums of each role, the largest flow in USD first'),
    ...BY_MINT,
    by_address: z
      .array(z.object({ address, label, role, ...SUMS.shape }))
      .describe('The sums of each address, the largest flow in USD first')
  })
  .meta({ id: 'RevenueTotals' })
export type TotalsBody = z.input<typeof totalsAnswer>

/** Schema of a page of the ledger. */
export const eventList = schema
  .listOf(
    LEDGER_ENTRY_BODY.extend({
      cursor: schema.text('Place of this row: as `after`, it continues behind this row in either order')
    }).meta({ id: 'LedgerRow', description: 'A row of the ledger with its cursor' })
  )
  .extend({ complete_to: completeTo })

/** Columns of the ledger as CSV and Parquet. The order never changes, and new columns come last. */
export const LEDGER_COLUMNS = [
  ...['cursor', 'id', 'ts', 'ts_ms', 'slot', 'signature', 'ix_index', 'address', 'label', 'role', 'account'],
  ...['mint', 'symbol', 'decimals', 'is_native', 'direction', 'kind', 'delta', 'delta_raw', 'pre_raw'],
  ...['post_raw', 'value_usd', 'counterparty', 'counterparty_confidence', 'fee_lamports', 'fee_payer'],
  ...['attributed_fee_usd', 'source']
] as const satisfies readonly (keyof z.input<typeof eventList>['data'][number])[]

const gap = z.object({
  from_slot: schema.count('Its first slot'),
  to_slot: schema.count('Its last slot'),
  from_ts: schema.time('Time of its first slot; null if unknown', 'block').nullable(),
  to_ts: schema.time('Time of its last slot; null if unknown', 'block').nullable(),
  reason: z
    .enum(ALL_GAP_REASONS)
    .describe(
      '`ingest_down`: blocks passed while the ledger was not written. `upstream_missing`: no node had the blocks, or the archive node has no history of them. `not_registered`: the tenant did not watch the address. `between_archive_and_live`: the history that was requested is not stored yet'
    )
})
export type GapBody = z.input<typeof gap>

const hole = z.object({
  reason: z
    .enum(LEDGER_HOLES)
    .describe(
      'Data that some blocks do not state. `rewards-absent`: the rewards of the block, or those in the history of an account of stake or votes. `balances-absent`, `token-balances-absent`: the lamports or tokens of the accounts of a transaction. `transactions-unreadable`: a whole transaction'
    ),
  from_slot: schema.count('Slot of the first such block'),
  to_slot: schema.count('Slot of the last such block'),
  blocks: schema.count('Number of such blocks; null if they were not counted').nullable()
})

/** Schema of the coverage of the ledgers. */
export const coverageAnswer = z
  .object({
    complete_to: completeTo,
    indexed_to: END.nullable().describe(
      'The newest indexed block; null on an empty index. It stands still while no node answers'
    ),
    addresses: z
      .array(
        z.object({
          address,
          label,
          role,
          status: STATUS,
          live_from: captureFrom,
          archive: ARCHIVE,
          gaps: z
            .array(gap)
            .describe('Slots whose changes are missing, ascending; a gap may begin before `live_from`'),
          gaps_left_out: schema.count('Later gaps that `gaps` leaves out'),
          holes: z
            .array(hole)
            .describe(
              'Data that blocks of the ledger do not state, so that rows may be missing; one hole for each reason, and one more for each in the history. A hole may begin before `live_from`'
            ),
          complete_from_slot: schema
            .count('Slot')
            .nullable()
            .describe(
              'Slot from which on every row up to `complete_to` is stored: the first archived slot or `live_from`, or the slot after the last gap and hole. Null if a gap or hole reaches `complete_to`, or the ledger has not begun'
            ),
          complete: z
            .boolean()
            .describe(
              `Whether every row from \`live_from\` to \`complete_to\` is stored: the ledger has begun, has no gap and no hole, and, if its history was requested, the sum of all changes since its first row equals the chain. In addition \`complete_to\` is at most ${LAG_SLOTS_MAX} slots before \`indexed_to\`. It says nothing about later blocks, or about fees of votes, which are not recorded`
            )
        })
      )
      .describe('The watched addresses, in the order of their base58'),
    archive_end: END.nullable().describe(
      'The last archived slot of all addresses; null if no rows are archived'
    ),
    live_start: PLACE.nullable().describe('The earliest `live_from`; null while no ledger has begun'),
    gap_between_archive_and_live: z
      .object({ ...gap.shape, addresses: schema.count('Addresses with such a gap') })
      .nullable()
      .describe(
        'The slots between the requested or archived rows and `live_from` that are not stored: the widest range of all addresses; null if there are none'
      )
  })
  .meta({ id: 'RevenueCoverage' })
export type CoverageBody = z.input<typeof coverageAnswer>

/** Renders a watched address for its registration. */
export function watchedBody(watched: WatchedAddress, job: BackfillJob | null): z.input<typeof watchedAnswer> {
  return {
    address: watched.address,
    label: watched.label,
    role: watched.role,
    created_at: momentText(watched.createdAtMs),
    capture_starts_within_seconds: CAPTURE_WITHIN_S,
    status: statusOf(watched, job)
  }
}

/** Renders the start of a ledger. */
export function placeBody(place: WatchedAddress['captureFrom']): AccountBody['capture_from'] {
  return place && { slot: place.slot, ts: secondsText(place.ts), ts_ms: place.ts * 1_000 }
}

/** Renders a block by its slot and time, null if unknown. */
export function endBody(
  end: { readonly slot: number; readonly blockTime: number | null } | null
): z.input<typeof END> | null {
  if (end === null) return null
  const { slot, blockTime } = end
  return {
    slot,
    ts: blockTime === null ? null : secondsText(blockTime),
    ts_ms: blockTime === null ? null : blockTime * 1_000
  }
}

/** Renders a hole of the ledger. */
export function holeBody({ reason, from, to, blocks }: LedgerHoleRange): z.input<typeof hole> {
  return { reason, from_slot: from, to_slot: to, blocks }
}

/** Renders a gap of the ledger. */
export function gapBody({ from, to, fromTs, toTs, reason }: HistoryGap): GapBody {
  return {
    from_slot: from,
    to_slot: to,
    from_ts: fromTs === null ? null : secondsText(fromTs),
    to_ts: toTs === null ? null : secondsText(toTs),
    reason
  }
}
