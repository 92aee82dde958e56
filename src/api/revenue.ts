import { z } from 'zod'
import { SOL_DECIMALS } from '../market/cash.ts'
import { humanAmount } from '../market/amount.ts'
import type { Sums } from '../revenue/ledger-document.ts'
import type { LedgerGap } from '../revenue/ledger-gap.ts'
import { LEDGER_HOLES, type LedgerHoleRange } from '../revenue/ledger-progress.ts'
import { NO_SUMS, plus, type MintSums } from '../revenue/sums.ts'
import { CAPTURE_WITHIN_S, type WatchedAddress } from '../revenue/watched-address.ts'
import { moment, momentText } from './api-key.ts'
import { LEDGER_ENTRY_BODY } from './ledger-entry.ts'
import * as schema from './schema.ts'
import { secondsText } from './time.ts'

/** Mints that one list of sums has at most. Chosen: 200 addresses with full lists are 6 MB. */
export const MINTS_SHOWN = 100
/**
 * Slots by which the ledger may be behind the index and still be called complete: ten seconds. It stores its end every two
 * seconds, so a ledger further behind is not being written.
 */
export const LAG_SLOTS_MAX = 25

const address = schema.address('The watched address')
const label = schema.text('Label of the address; without one, the address itself')
const role = schema.text('Role of the address')
const createdAt = moment('Time of registration')
const status = z
  .enum(['starting', 'active'])
  .describe('`starting` until the ledger of the address begins, then `active`')

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

/** Schema of a newly watched address, and of one whose label or role was changed. */
export const watchedAnswer = z
  .object({
    address,
    label,
    role,
    created_at: createdAt,
    capture_starts_within_seconds: schema.count('The ledger begins within this number of seconds'),
    status
  })
  .meta({ id: 'WatchedAddress', description: 'An address whose balance changes are recorded' })

export const unwatchedAnswer = z.object({
  address,
  deleted: z.literal(true).describe('It is no longer watched')
})

const signed = (meaning: string) => z.number().describe(meaning)

const unpricedEvents = schema
  .count('Rows')
  .nullable()
  .optional()
  .describe(
    'Rows without a price, which the sums in USD lack. Absent if they have all rows; null if some of the rows are of a version that did not count them'
  )

const SUMS = z.object({
  inflow_usd: schema.usd('Inflow').describe('Inflow in USD, of the changes with a price'),
  outflow_usd: schema.usd('Outflow').describe('Outflow in USD, of the changes with a price'),
  unpriced_events: unpricedEvents,
  net_usd: signed('`inflow_usd` − `outflow_usd`'),
  inflow_sol: schema.amount('Inflow of SOL and wrapped SOL'),
  outflow_sol: schema.amount('Outflow of SOL and wrapped SOL, with fees'),
  net_sol: signed('`inflow_sol` − `outflow_sol`'),
  events: schema.count('Rows of the ledger, also those without a price')
})
type SumsBody = z.input<typeof SUMS>

const MINT_SUMS = z
  .object({
    mint: schema.address('The mint; that of wrapped SOL for SOL and wrapped SOL'),
    symbol: schema.text('Symbol; null if unknown').nullable(),
    decimals: schema.count('Decimals of the mint'),
    inflow: schema.amount('Inflow'),
    outflow: schema.amount('Outflow'),
    net: signed('`inflow` − `outflow`'),
    inflow_raw: schema.rawAmount('Inflow'),
    outflow_raw: schema.rawAmount('Outflow'),
    net_raw: z
      .string()
      .regex(/^-?\d+$/)
      .describe('`inflow_raw` − `outflow_raw`, in base units; text'),
    inflow_usd: schema
      .usd('Inflow')
      .nullable()
      .describe(
        'Inflow in USD, of the changes with a price; null if there is an inflow, and none has a price'
      ),
    outflow_usd: schema
      .usd('Outflow')
      .nullable()
      .describe(
        'Outflow in USD, of the changes with a price; null if there is an outflow, and none has a price'
      ),
    net_usd: signed('`inflow_usd` − `outflow_usd`; null if either is null').nullable(),
    unpriced_events: unpricedEvents,
    events: schema.count('Rows of the ledger')
  })
  .meta({ id: 'MintFlow', description: 'Inflow and outflow of a mint' })
export type MintSumsBody = z.input<typeof MINT_SUMS>

const byMint = {
  by_mint: z
    .array(MINT_SUMS)
    .describe(
      `The sums of each mint, at most ${MINTS_SHOWN}: those with the largest flow in USD first, then those with the most rows`
    ),
  mints_left_out: schema.count('Mints that `by_mint` leaves out'),
  mints_without_price: schema.count(
    'Mints with an inflow or an outflow that the sums in USD leave out, because none of its changes has a price'
  )
}

/** Schema of the list of watched addresses. */
export const accountList = schema
  .listOf(
    z
      .object({
        address,
        label,
        role,
        status,
        created_at: createdAt,
        capture_from: captureFrom,
        ...SUMS.shape,
        ...byMint,
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
    totals: SUMS.describe('The sums of all watched addresses'),
    by_role: z
      .array(z.object({ role, addresses: schema.count('Addresses with this role'), ...SUMS.shape }))
      .describe('The sums of each role, the largest flow in USD first'),
    ...byMint,
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

const gap = z.object({
  from_slot: schema.count('Its first slot'),
  to_slot: schema.count('Its last slot'),
  from_ts: schema.time('Time of its first slot; null if unknown', 'block').nullable(),
  to_ts: schema.time('Time of its last slot; null if unknown', 'block').nullable(),
  reason: z
    .enum(['ingest_down', 'not_registered', 'between_archive_and_live', 'upstream_missing'])
    .describe(
      '`ingest_down`: blocks passed while the ledger was not written. `upstream_missing`: no node had the blocks. The other two do not occur, because there is no archive'
    )
})
export type GapBody = z.input<typeof gap>

const hole = z.object({
  reason: z
    .enum(LEDGER_HOLES)
    .describe(
      'What some blocks do not state. `rewards-absent`: the rewards of the block. `balances-absent`, `token-balances-absent`: the lamports or tokens of the accounts of a transaction. `transactions-unreadable`: a whole transaction'
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
          status,
          live_from: captureFrom,
          archive: z.null().describe('The part of the ledger in an archive; always null, there is none'),
          gaps: z
            .array(gap)
            .describe('Slots whose changes are missing, ascending; a gap may begin before `live_from`'),
          gaps_left_out: schema.count('Later gaps that `gaps` leaves out'),
          holes: z
            .array(hole)
            .describe(
              'What blocks of the ledger do not state, so that rows may be missing; one for each reason. A hole may begin before `live_from`'
            ),
          complete_from_slot: schema
            .count('Slot')
            .nullable()
            .describe(
              'Slot from which on every row up to `complete_to` is stored: `live_from`, or the slot after the last gap and hole. Null if a gap or hole reaches `complete_to`, or the ledger has not begun'
            ),
          complete: z
            .boolean()
            .describe(
              `Whether every row from \`live_from\` to \`complete_to\` is stored: the ledger has begun, has no gap and no hole, and \`complete_to\` is at most ${LAG_SLOTS_MAX} slots before \`indexed_to\`. It says nothing of later blocks, nor of fees of votes, which are not recorded`
            )
        })
      )
      .describe('The watched addresses, in the order of their base58'),
    archive_end: z.null().describe('End of the archive; always null, there is none'),
    live_start: PLACE.nullable().describe('The earliest `live_from`; null while no ledger has begun'),
    gap_between_archive_and_live: z
      .null()
      .describe('The gap between the archive and `live_start`; always null, there is no archive')
  })
  .meta({ id: 'RevenueCoverage' })
export type CoverageBody = z.input<typeof coverageAnswer>

/** Renders a watched address for its registration. */
export function watchedBody(watched: WatchedAddress): z.input<typeof watchedAnswer> {
  return {
    address: watched.address,
    label: watched.label,
    role: watched.role,
    created_at: momentText(watched.createdAtMs),
    capture_starts_within_seconds: CAPTURE_WITHIN_S,
    status: statusOf(watched)
  }
}

export const statusOf = ({ captureFrom: from }: WatchedAddress): AccountBody['status'] =>
  from === null ? 'starting' : 'active'

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

/** Renders the sums over all mints. */
export function sumsBody(sums: Sums): SumsBody {
  const { inflow, outflow, inflowMicroUsd, outflowMicroUsd, entries } = sums
  return {
    inflow_usd: usdOf(inflowMicroUsd),
    outflow_usd: usdOf(outflowMicroUsd),
    net_usd: usdOf(inflowMicroUsd - outflowMicroUsd),
    ...unpricedIn(sums),
    inflow_sol: signedAmount(inflow, SOL_DECIMALS),
    outflow_sol: signedAmount(outflow, SOL_DECIMALS),
    net_sol: signedAmount(inflow - outflow, SOL_DECIMALS),
    events: entries
  }
}

/** Renders the largest sums of mints, with their symbols. */
export function mintsBody(
  mints: readonly MintSums[],
  symbolOf: (mint: string) => string | null
): Pick<AccountBody, keyof typeof byMint> {
  const shown = largestMints(mints)
  return {
    by_mint: shown.map((each) => mintBody(each, symbolOf(each.mint))),
    mints_left_out: mints.length - shown.length,
    mints_without_price: mints.filter(({ sums }) => isWithoutPrice(sums)).length
  }
}

/** Returns the mints that a list of sums shows, in its order. */
export function largestMints(mints: readonly MintSums[]): readonly MintSums[] {
  return mints.toSorted((a, b) => byFlow(a.sums, b.sums) || (a.mint < b.mint ? -1 : 1)).slice(0, MINTS_SHOWN)
}

/** Orders sums: the largest flow in USD first, then the most rows. */
export function byFlow(a: Sums, b: Sums): number {
  const [flowOfA, flowOfB] = [flowOf(a), flowOf(b)]
  return flowOfA === flowOfB ? b.entries - a.entries : flowOfA > flowOfB ? -1 : 1
}

export const totalOf = (all: readonly Sums[]): Sums => all.reduce(plus, NO_SUMS)

/** Renders a gap of the ledger. */
export function gapBody({ from, to, fromTs, toTs, reason }: LedgerGap): GapBody {
  return {
    from_slot: from,
    to_slot: to,
    from_ts: fromTs === null ? null : secondsText(fromTs),
    to_ts: toTs === null ? null : secondsText(toTs),
    reason
  }
}

const flowOf = ({ inflowMicroUsd, outflowMicroUsd }: Sums): bigint => inflowMicroUsd + outflowMicroUsd

function mintBody({ mint, decimals, sums }: MintSums, symbol: string | null): MintSumsBody {
  const { inflow, outflow } = sums
  const inflowUsd = isUnknown(inflow, sums.inflowMicroUsd) ? null : usdOf(sums.inflowMicroUsd)
  const outflowUsd = isUnknown(outflow, sums.outflowMicroUsd) ? null : usdOf(sums.outflowMicroUsd)
  const isNetKnown = inflowUsd !== null && outflowUsd !== null
  return {
    mint,
    symbol,
    decimals,
    inflow: signedAmount(inflow, decimals),
    outflow: signedAmount(outflow, decimals),
    net: signedAmount(inflow - outflow, decimals),
    inflow_raw: inflow.toString(),
    outflow_raw: outflow.toString(),
    net_raw: (inflow - outflow).toString(),
    inflow_usd: inflowUsd,
    outflow_usd: outflowUsd,
    net_usd: isNetKnown ? usdOf(sums.inflowMicroUsd - sums.outflowMicroUsd) : null,
    ...unpricedIn(sums),
    events: sums.entries
  }
}

function unpricedIn({ entries, counted, unpriced }: Sums): Pick<SumsBody, 'unpriced_events'> {
  if (counted < entries) return { unpriced_events: null }
  return unpriced === 0 ? {} : { unpriced_events: unpriced }
}

/** Tells whether a flow has no value in USD. One below a millionth of a USD counts as without a price. */
const isUnknown = (flow: bigint, microUsd: bigint): boolean => flow > 0n && microUsd === 0n

const isWithoutPrice = ({ inflow, outflow, inflowMicroUsd, outflowMicroUsd }: Sums): boolean =>
  isUnknown(inflow, inflowMicroUsd) || isUnknown(outflow, outflowMicroUsd)

const usdOf = (microUsd: bigint): number => signedAmount(microUsd, 6)

const signedAmount = (amount: bigint, decimals: number): number =>
  amount < 0n ? -humanAmount(-amount, decimals) : humanAmount(amount, decimals)
