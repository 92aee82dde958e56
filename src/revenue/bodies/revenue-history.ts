import { z } from 'zod'
import { BACKFILL_PHASES, type BackfillJob } from '../backfill-document.ts'
import { isBackfilling, jobOf } from '../backfill-jobs.ts'
import type { WatchedAddress } from '../watched-address.ts'
import * as schema from '../../kernel/http/schema.ts'
import { secondsText } from '../../kernel/http/time.ts'

export const STATUS = z
  .enum(['starting', 'backfilling', 'active'])
  .describe(
    '`starting` until the ledger of the address begins. `backfilling` while its history is read, until the sum of all changes equals the chain, or the node lacks a part of the history. Otherwise `active`'
  )

/** Schema of the progress of a backfill. */
export const PROGRESS = z
  .object({
    phase: z
      .enum(BACKFILL_PHASES)
      .describe(
        '`starting`: finds the slots that are missing. `reading`: reads transactions from the archive node. `summing`: stores the sums. `checking`: compares the ledger with the chain'
      ),
    from_slot: schema.count('First slot of the range that is being read; null if none is').nullable(),
    to_slot: schema.count('Last slot of the range').nullable(),
    reached_slot: schema
      .count(
        'Slot of the last transaction that was read; each account is read from its newest transaction on'
      )
      .nullable(),
    token_accounts: schema.count('Accounts of the range that are known so far, the address included'),
    token_accounts_done: schema.count('Accounts of the range that are read'),
    signatures: schema.count('Signatures listed since the request'),
    transactions: schema.count('Transactions read since the request'),
    rows: schema.count('Rows stored since the request'),
    differences: schema
      .count('Balances that differed from the chain in the last comparison; null before the first')
      .nullable(),
    note: schema.text('The current obstacle; null while the history advances').nullable()
  })
  .nullable()
  .describe('Progress of the history of the address; null unless `status` is `backfilling`')

/** Returns the status of a watch. */
export function statusOf(watched: WatchedAddress, job: BackfillJob | null): z.input<typeof STATUS> {
  if (watched.captureFrom === null) return 'starting'
  return isBackfilling(watched, job) ? 'backfilling' : 'active'
}

/** Renders the progress of a backfill. */
export function progressBody(watched: WatchedAddress, stored: BackfillJob | null): z.input<typeof PROGRESS> {
  if (statusOf(watched, stored) !== 'backfilling') return null
  const job = jobOf(watched, stored)
  return {
    phase: job?.phase ?? 'starting',
    from_slot: job?.run?.from ?? null,
    to_slot: job?.run?.to ?? null,
    reached_slot: job?.reachedSlot ?? null,
    token_accounts: job?.accounts ?? 0,
    token_accounts_done: job?.accountsDone ?? 0,
    signatures: job?.signatures ?? 0,
    transactions: job?.transactions ?? 0,
    rows: job?.rows ?? 0,
    differences: job?.check?.count ?? null,
    note: job?.note ?? null
  }
}

const ARCHIVE_END = z.object({
  slot: schema.count('Its slot'),
  ts: schema.time('Its time; null if unknown', 'block').nullable(),
  ts_ms: schema.unixMs('The same', 'block').nullable()
})

/** Schema of the archived part of a ledger. */
export const ARCHIVE = z
  .object({
    from: ARCHIVE_END.describe('First archived slot'),
    to: ARCHIVE_END.describe('Last archived slot')
  })
  .nullable()
  .describe(
    'First and last slot whose rows are archived (`source` = `archive`); the slots between them that are neither archived nor live are in `gaps`. Null if no rows are archived'
  )

/** Renders the archived part of a ledger. */
export function archiveBody({ history, captureFrom }: WatchedAddress): z.input<typeof ARCHIVE> {
  const archived = captureFrom === null ? [] : (history?.archived ?? [])
  const [first, last] = [archived[0], archived.at(-1)]
  if (first === undefined || last === undefined) return null
  return { from: endOf(first.from, first.fromTs), to: endOf(last.to, last.toTs) }
}

const endOf = (slot: number, ts: number | null): z.input<typeof ARCHIVE_END> => ({
  slot,
  ts: ts === null ? null : secondsText(ts),
  ts_ms: ts === null ? null : ts * 1_000
})
