import { z } from 'zod'
import { splitCursor } from '../market/cursor.ts'
import type { GapRow, RowHorizon } from '../../storage/port.ts'
import { count, text, time, unixMs } from './schema.ts'
import { secondsText } from './time.ts'

const RANGE = z.object({ from_slot: count('Its first slot'), to_slot: count('Its last slot') })

export const COVERAGE = z
  .object({
    genesis: text('The genesis hash of the cluster that blocks come from, in base58').nullable(),
    ranges: z
      .array(RANGE)
      .describe('Slots that are indexed, in order; a slot that the chain skipped counts as indexed'),
    gaps: z
      .array(
        RANGE.extend({
          reason: text(
            'A word for why: `pruned`, `missing`, `unreadable` or `unsupported`; `damaged`: blocks are stored, some of their rows were lost; `read_again`: a repair has emptied the store, and the source is asked again'
          ),
          detail: text('Why, in a line'),
          given_up_at: time('When its blocks were given up', 'service'),
          given_up_at_ms: unixMs('The same', 'service')
        })
      )
      .describe('Slots between them, whose blocks were given up'),
    rows_from: z
      .object({
        slot: count('Its slot'),
        ts: time('When the retention begins', 'block'),
        ts_ms: unixMs('The same', 'block')
      })
      .nullable()
      .describe(
        'From where on trades and pool events are kept; of slots before it they are past the retention, and candles, tokens, pools, launches and totals alone are left. Null while all are kept'
      ),
    next_from_slot: count('Ask from here for what comes after').nullable().describe('Null at the end')
  })
  .meta({ id: 'Coverage' })

/** What is indexed of a stretch of slots, and what is not. */
export interface Covered {
  readonly genesis: string | null
  /** Null on an empty store. */
  readonly first: number | null
  readonly head: number | null
  /** Where rows begin that the retention keeps; null while all are kept. */
  readonly horizon: RowHorizon | null
  /** Those that begin in the stretch, by slot. */
  readonly gaps: readonly GapRow[]
  /** Where the next page begins; null where there is none. */
  readonly next: number | null
}

export function coverageBody({
  genesis,
  first,
  head,
  horizon,
  gaps,
  next
}: Covered): z.input<typeof COVERAGE> {
  const ranges: z.input<typeof RANGE>[] = []
  const add = (from: number, to: number): void => {
    if (from <= to) ranges.push({ from_slot: from, to_slot: to })
  }
  if (first !== null && head !== null) {
    let from = first
    for (const gap of gaps) {
      add(from, Math.min(gap.from - 1, head))
      from = Math.max(from, gap.to + 1)
    }
    add(from, next === null ? head : Math.min(next - 1, head))
  }
  return {
    genesis,
    ranges,
    gaps: gaps.map(({ from, to, reason, detail, atMs }) => ({
      from_slot: from,
      to_slot: to,
      reason,
      detail,
      given_up_at: secondsText(Math.floor(atMs / 1_000)),
      given_up_at_ms: atMs
    })),
    rows_from: horizon && {
      slot: splitCursor(horizon.cursor).slot,
      ts: secondsText(horizon.time),
      ts_ms: horizon.time * 1_000
    },
    next_from_slot: next
  }
}
