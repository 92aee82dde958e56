import { z } from 'zod'
import { humanAmount } from '../../market/amount.ts'
import { SOL_DECIMALS } from '../../market/cash.ts'
import type { Sums } from '../ledger-document.ts'
import { NO_SUMS, plus, type MintSums } from '../sums.ts'
import * as schema from '../../kernel/http/schema.ts'

/** Maximum mints in one list of sums. 200 addresses with full lists are 6 MB. */
export const MINTS_SHOWN = 100
const signed = (meaning: string) => z.number().describe(meaning)

const unpricedEvents = schema
  .count('Rows')
  .nullable()
  .optional()
  .describe(
    'Rows without a price, which the sums in USD lack. Absent if they have all rows; null if some of the rows are of a version that did not count them'
  )

/** Schema of the sums over all mints. */
export const SUMS = z.object({
  inflow_usd: schema.usd('Inflow').describe('Inflow in USD, of the changes with a price'),
  outflow_usd: schema.usd('Outflow').describe('Outflow in USD, of the changes with a price'),
  unpriced_events: unpricedEvents,
  net_usd: signed('`inflow_usd` − `outflow_usd`'),
  inflow_sol: schema.amount('Inflow of SOL and wrapped SOL'),
  outflow_sol: schema.amount('Outflow of SOL and wrapped SOL, with fees'),
  net_sol: signed('`inflow_sol` − `outflow_sol`'),
  events: schema.count('Rows of the ledger, including those without a price')
})
export type SumsBody = z.input<typeof SUMS>

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

/** Fields of the sums of each mint. */
export const BY_MINT = {
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
type MintsBody = z.input<z.ZodObject<typeof BY_MINT>>

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
export function mintsBody(mints: readonly MintSums[], symbolOf: (mint: string) => string | null): MintsBody {
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

/** Returns the sum of all sums. */
export const totalOf = (all: readonly Sums[]): Sums => all.reduce(plus, NO_SUMS)

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

/** Tells whether a flow has no value in USD. A value below a millionth of a USD counts as unknown. */
const isUnknown = (flow: bigint, microUsd: bigint): boolean => flow > 0n && microUsd === 0n

const isWithoutPrice = ({ inflow, outflow, inflowMicroUsd, outflowMicroUsd }: Sums): boolean =>
  isUnknown(inflow, inflowMicroUsd) || isUnknown(outflow, outflowMicroUsd)

const usdOf = (microUsd: bigint): number => signedAmount(microUsd, 6)

const signedAmount = (amount: bigint, decimals: number): number =>
  amount < 0n ? -humanAmount(-amount, decimals) : humanAmount(amount, decimals)
