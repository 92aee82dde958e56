import { z } from 'zod'
import { SLOT_MAX } from '../../chain/chain-numbers.ts'
import { instant } from '../../kernel/http/instant.ts'
import { invalid } from '../../kernel/http/parameters.ts'
import type { LedgerSince } from '../watch-history.ts'

/**
 * Smaller numbers are slots, others unix seconds. It is a time of 2001, before the chain; mainnet has this slot about
 * 2033.
 */
const SECONDS_MIN = 1_000_000_000
/** A larger number has milliseconds. */
const SECONDS_MAX = 99_999_999_999
const MESSAGE =
  'must be a slot below 1000000000, a time in unix seconds, or ISO 8601, as 2026-08-24T12:00:00Z'

/** The start of a ledger, in the body of a request: a slot or a time. */
export const since = z
  .union([z.int(), z.string()], { message: MESSAGE })
  .transform((value, context): LedgerSince => {
    const found = typeof value === 'number' ? ofNumber(value) : ofText(value)
    if (found !== null) return found
    context.addIssue({ code: 'custom', message: MESSAGE })
    return z.NEVER
  })
  .describe(
    'Start of the ledger: a slot (a number below 1,000,000,000), unix seconds, or an ISO time (UTC without a zone). 0 is the first block of the chain'
  )

/** Checks that a start is not in the future. Throws PARAMETER_INVALID. */
export function checkSince({ ts }: LedgerSince, nowMs: number): void {
  if (ts !== null && ts * 1_000 > nowMs) throw invalid('since', 'must not be in the future')
}

function ofText(text: string): LedgerSince | null {
  if (/^\d{1,11}$/.test(text)) return ofNumber(Number(text))
  const outcome = instant.safeParse(text)
  return outcome.success ? { slot: null, ts: outcome.data } : null
}

function ofNumber(value: number): LedgerSince | null {
  if (value < 0 || value > SECONDS_MAX) return null
  return value < Math.min(SECONDS_MIN, SLOT_MAX) ? { slot: value, ts: null } : { slot: null, ts: value }
}
