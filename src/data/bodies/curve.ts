import { z } from 'zod'
import { encodeBase58 } from '../../chain/base58.ts'
import { pubkeyToBase58 } from '../../chain/pubkey.ts'
import type { LiveCurve } from '../../accounts/pools/live-curve.ts'
import { priceUsd } from '../../market/cash-price.ts'
import type { CurveRow } from '../../market/registry-rows.ts'
import { addressOrNull, humanOrNull, rawOrNull, timeOrNull } from './event.ts'
import * as schema from '../../kernel/http/schema.ts'
import { sourceMark, sourceOfSlot, type ArchiveEnd } from '../../ingest/bodies/source.ts'
import { ageSeconds, secondsText } from '../../kernel/http/time.ts'

const UNSTATED = 'null if the venue does not state it'

const CURVE_RESERVES = z
  .object({
    virtual_cash: schema.amount('Virtual cash').nullable(),
    virtual_cash_raw: schema.rawAmount('Virtual cash').nullable(),
    virtual_token: schema.amount('Virtual tokens').nullable(),
    virtual_token_raw: schema.rawAmount('Virtual tokens').nullable(),
    real_cash: schema.amount('Cash that the curve holds').nullable(),
    real_cash_raw: schema.rawAmount('Cash that the curve holds').nullable(),
    real_token: schema.amount('Tokens left for sale').nullable(),
    real_token_raw: schema.rawAmount('Tokens left for sale').nullable()
  })
  .meta({ id: 'CurveReserves', description: `Reserves at \`state_slot\`; each ${UNSTATED}` })

const GRADUATION = z
  .object({
    target_cash: schema
      .amount('Cash that completes the curve')
      .nullable()
      .describe(
        'Cash that completes the curve, as its launchpad states it; for a curve that is sold out, the target that follows from its start. Trades do not change it. Null if unknown'
      ),
    target_cash_raw: schema.rawAmount('Cash that completes the curve').nullable(),
    remaining_cash: schema
      .amount('Cash until the curve completes')
      .nullable()
      .describe('Cash until the curve completes, in human units; 0 after completion, null if unknown'),
    graduated_at: schema.time('Time of the migration to a pool', 'block').nullable(),
    graduated_slot: schema.count('Slot of the migration').nullable(),
    graduated_signature: schema.signature('Transaction of the migration').nullable(),
    pool: schema.address('The pool that the funds went to').nullable()
  })
  .meta({
    id: 'Graduation',
    description: 'Completion of the curve; each field is null while unknown'
  })

export const CURVE = z
  .object({
    mint: schema.address('The token'),
    platform: schema.venue('The launchpad, detected from the events'),
    curve: schema.address('The bonding curve'),
    status: z
      .enum(['bonding', 'graduating', 'graduated'])
      .describe(
        '`bonding` while it sells; `graduating` once it is sold out; `graduated` when its funds are in a pool. Platforms that do both in one step never show `graduating`'
      ),
    progress_pct: z
      .number()
      .min(0)
      .max(100)
      .nullable()
      .describe(
        'Sold share of the tokens for sale at the start, 0 to 100. For Meteora DBC: raised share of the target cash. Null if the state does not determine it'
      ),
    price: schema.price('Price').nullable().describe('Cash per token on the curve; null when unknown'),
    price_usd: schema.usd('Price').nullable(),
    cash_mint: schema.address('Cash of the curve').nullable(),
    reserves: CURVE_RESERVES,
    graduation: GRADUATION,
    creator: schema
      .address('Creator of the token')
      .nullable()
      .describe('Creator of the token; null if it was created before the index began'),
    created_at: schema.time('Time of creation', 'block').nullable(),
    state_from: z
      .enum(['account', 'event'])
      .describe(
        'Origin of status, progress, price and reserves: the account of the curve, or its newest event if that is newer'
      ),
    state_slot: schema.count('Slot of that state'),
    state_age_seconds: schema
      .count('Age of the reading')
      .nullable()
      .describe(
        'Seconds since the account was read, by the clock of the service; null with `state_from: event`'
      ),
    state_reason: z
      .string()
      .nullable()
      .describe(
        'Reason why the state is not fresh from the account. Null if it is fresh, if an event is newer, and for a graduated curve'
      ),
    slot: schema.count('Slot of the newest event of the curve'),
    updated_at: schema.time('Time of the newest event of the curve', 'block'),
    source: sourceMark('that event is')
  })
  .meta({
    id: 'BondingCurve',
    description: 'The bonding curve of a token, from its account or its newest event'
  })

/** Renders a bonding curve at a time of the service in Unix milliseconds. */
export function curveBody(
  { row, origin }: LiveCurve,
  nowMs: number,
  archiveEnd: ArchiveEnd = null
): z.input<typeof CURVE> {
  const { reserves, decimals, quoteDecimals, targetQuote, graduated } = row
  return {
    mint: pubkeyToBase58(row.mint),
    platform: row.platform,
    curve: pubkeyToBase58(row.curve),
    status: row.status,
    progress_pct: row.progressPct,
    price: row.price,
    price_usd: priceUsd(row),
    cash_mint: addressOrNull(row.quote),
    reserves: {
      virtual_cash: humanOrNull(reserves.virtualQuote, quoteDecimals),
      virtual_cash_raw: rawOrNull(reserves.virtualQuote),
      virtual_token: humanOrNull(reserves.virtualBase, decimals),
      virtual_token_raw: rawOrNull(reserves.virtualBase),
      real_cash: humanOrNull(reserves.realQuote, quoteDecimals),
      real_cash_raw: rawOrNull(reserves.realQuote),
      real_token: humanOrNull(reserves.realBase, decimals),
      real_token_raw: rawOrNull(reserves.realBase)
    },
    graduation: {
      target_cash: humanOrNull(targetQuote, quoteDecimals),
      target_cash_raw: rawOrNull(targetQuote),
      remaining_cash: humanOrNull(remainingQuote(row), quoteDecimals),
      graduated_at: timeOrNull(graduated?.blockTime),
      graduated_slot: graduated?.slot ?? null,
      graduated_signature: graduated === null ? null : encodeBase58(graduated.signature),
      pool: addressOrNull(graduated?.pool ?? null)
    },
    creator: addressOrNull(row.creator),
    created_at: timeOrNull(row.created?.blockTime),
    state_from: origin.from,
    state_slot: origin.slot,
    state_age_seconds: origin.readAtMs === null ? null : ageSeconds(origin.readAtMs, nowMs),
    state_reason: origin.reason,
    slot: row.slot,
    updated_at: secondsText(row.blockTime),
    ...sourceOfSlot(row.slot, archiveEnd)
  }
}

function remainingQuote({ status, targetQuote, reserves: { realQuote } }: CurveRow): bigint | null {
  if (status !== 'bonding') return 0n
  if (targetQuote === null || realQuote === undefined) return null
  return targetQuote > realQuote ? targetQuote - realQuote : 0n
}
