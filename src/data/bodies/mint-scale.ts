import { z } from 'zod'
import { multiplierAt, type UiScale } from '../../accounts/ui-scale.ts'
import * as schema from '../../kernel/http/schema.ts'
import { secondsText } from '../../kernel/http/time.ts'

const NEXT_MULTIPLIER = z
  .object({
    value: z.number().describe('The multiplier'),
    at: schema
      .time('Time from which it is in force', 'block')
      .nullable()
      .describe(
        'Time from which it is in force; UTC, `YYYY-MM-DD HH:MM:SS`; null if that is after the year 9999'
      )
  })
  .meta({ id: 'NextMultiplier' })

const INTEREST = z
  .object({
    rate_bps: z
      .int()
      .describe('Yearly rate, continuously compounded, in hundredths of a percent; may be negative'),
    average_rate_bps: z
      .int()
      .describe('Average of the rates before `updated_at`, in hundredths of a percent'),
    initialized_at: schema
      .time('Time from which interest counts', 'block')
      .nullable()
      .describe('Time from which interest counts; UTC, `YYYY-MM-DD HH:MM:SS`'),
    updated_at: schema
      .time('Time of the last change of the rate', 'block')
      .nullable()
      .describe('Time of the last change of the rate; UTC, `YYYY-MM-DD HH:MM:SS`')
  })
  .meta({
    id: 'Interest',
    description: 'Interest of a Token-2022 mint, which only displayed amounts include'
  })

/** Fields of the scale of a mint's displayed amounts. */
export const SCALE = {
  ui_multiplier: schema.uiMultiplier,
  ui_multiplier_since: schema
    .time('Time from which a stated multiplier is in force', 'block')
    .nullable()
    .describe(
      'Time from which the multiplier is in force, as the mint states it; UTC, `YYYY-MM-DD HH:MM:SS`. Null if the mint no longer states it, and for interest'
    ),
  ui_multiplier_next: NEXT_MULTIPLIER.nullable().describe(
    'The multiplier that comes next; null if no change is scheduled'
  ),
  interest: INTEREST.nullable().describe(
    'Interest that displayed amounts include; null if the mint has no interest'
  )
}

/** Renders how a mint scales displayed amounts at a time of the chain; null if that is unknown. */
export function scaleBody(scale: UiScale | null, atSeconds: number | null) {
  const none = {
    ui_multiplier: scale === null || atSeconds === null ? null : multiplierAt(scale, atSeconds),
    ui_multiplier_since: null,
    ui_multiplier_next: null,
    interest: null
  }
  if (scale === null) return none
  if (scale.kind === 'interest') {
    const { rateBps, averageRateBps, initializedAt, updatedAt } = scale
    const times = { initialized_at: writableTime(initializedAt), updated_at: writableTime(updatedAt) }
    return { ...none, interest: { rate_bps: rateBps, average_rate_bps: averageRateBps, ...times } }
  }
  if (atSeconds === null) return none
  const at = writableTime(scale.nextAt)
  return atSeconds >= scale.nextAt
    ? { ...none, ui_multiplier_since: at }
    : { ...none, ui_multiplier_next: { value: scale.next, at } }
}

/** The last second of the year 9999; later times do not fit the format. */
const LAST_SECOND = Date.UTC(9999, 11, 31, 23, 59, 59) / 1000

/** Formats a time that an account states; null if the format cannot state it. */
const writableTime = (unixSeconds: number): string | null =>
  unixSeconds >= 0 && unixSeconds <= LAST_SECOND ? secondsText(unixSeconds) : null
