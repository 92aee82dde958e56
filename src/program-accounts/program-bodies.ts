import { z } from 'zod'
import { ACCOUNT_ENCODINGS, type AccountEncoding, type AccountRows, type RowText } from './account-rows.ts'
import { declaredIndexes } from './indexed-filters.ts'
import { WAYS_TO_SELECT } from './mirror-reader.ts'
import { PROGRAM_STATES } from './program.ts'
import type { ProgramStatus } from './whitelist.ts'
import { address, text, time } from '../kernel/http/schema.ts'
import { secondsText } from '../kernel/http/time.ts'

const INDEX_STATES = ['building', 'ready'] as const

const count = (meaning: string) => z.int().min(0).describe(meaning)

export const programAnswer = z
  .object({
    program: address('The program'),
    state: z
      .enum(PROGRAM_STATES)
      .describe(
        '`backfilling` until the first snapshot is stored; `live` after that, even while the node is unavailable'
      ),
    accounts: count('Number of accounts at `slot`; while backfilling, of the accounts stored so far'),
    slot: count('The newest slot whose accounts are complete; null while backfilling').nullable(),
    lag_slots: count('Slots from `slot` to the indexed head; null while backfilling').nullable(),
    reason: text('Reason why the mirror does not advance; null while it advances').nullable(),
    index: z
      .array(
        z.object({
          offset: count('Offset in the data'),
          length: count('Number of bytes'),
          state: z.enum(INDEX_STATES).describe('State of the index; reads use it once it is `ready`'),
          versions: count('Number of account versions that were read to build it')
        })
      )
      .describe('Indexed byte ranges; a `memcmp` filter on such a range needs no scan'),
    added_at: time('Time at which the program was added', 'service')
  })
  .meta({ id: 'MirroredProgram' })

export const removedProgramAnswer = z.object({
  program: address('The program'),
  deleted: z.literal(true).describe('Its mirrored accounts are deleted in the background')
})

export const programAccountsAnswer = z.object({
  program: address('The program'),
  slot: count('Slot at which all pages of a paging run show the accounts'),
  age_seconds: count('Seconds since the mirror was last complete; grows while the node is unavailable'),
  data: z
    .array(
      z.object({
        pubkey: address('The account'),
        account: z.object({
          lamports: z.string().regex(/^\d+$/).describe('Text, because it may exceed 2^53'),
          owner: address('The program'),
          executable: z.boolean().describe('Whether it is an executable program'),
          rent_epoch: z.string().regex(/^\d+$/).describe('Text, because it may exceed 2^53'),
          space: count('Size of the whole data in bytes, even if only a slice is returned'),
          data: z
            .tuple([z.string(), z.enum(ACCOUNT_ENCODINGS)])
            .describe('The data or its slice, and the encoding')
        })
      })
    )
    .describe(
      'Ascending by the bytes of the address. A page before the last one can have fewer than `limit` accounts'
    ),
  selected_by: z
    .enum(WAYS_TO_SELECT)
    .describe('How the accounts of this page were found: by an index, or by a scan of all accounts'),
  nextCursor: z.string().nullable().describe('The `after` of the next page; null on the last page')
})

/** Renders a program of the whitelist; `head` is the newest indexed slot. */
export function programBody(status: ProgramStatus, head: number | null): z.input<typeof programAnswer> {
  const { program, progress } = status
  const { slot, accounts, reason } = progress
  return {
    program: program.program,
    state: slot === null ? 'backfilling' : 'live',
    accounts,
    slot,
    lag_slots: slot === null || head === null ? null : Math.max(head - slot, 0),
    reason,
    index: declaredIndexes(status),
    added_at: secondsText(Math.floor(program.addedAtMs / 1000))
  }
}

/** Returns the JSON text of an account in a list, as `programAccountsAnswer` describes it, or of its selected fields. */
export const accountText = (
  program: string,
  encoding: AccountEncoding,
  fields: readonly string[] | null = null
): RowText => {
  const texts: Readonly<Record<string, RowText>> = {
    pubkey: (address) => `"pubkey":"${address}"`,
    account: (_, { lamports, executable, rentEpoch, data: { length } }, data) =>
      `"account":{"lamports":"${lamports}","owner":"${program}","executable":${executable},"rent_epoch":"${rentEpoch}","space":${length},"data":["${data}","${encoding}"]}`
  }
  const chosen = (fields ?? ['pubkey', 'account']).map((name) => texts[name]!)
  return (...row) => `{${chosen.map((text) => text(...row)).join(',')}}`
}

/** Renders a list of accounts whose rows are rendered already. */
export function programAccountsBytes({
  data,
  ...fields
}: Omit<z.input<typeof programAccountsAnswer>, 'data'> & { readonly data: AccountRows }): Buffer {
  const { program, slot, age_seconds, selected_by, nextCursor } = fields
  const head = JSON.stringify({ program, slot, age_seconds }).slice(0, -1)
  const tail = JSON.stringify({ selected_by, nextCursor }).slice(1)
  return Buffer.concat([Buffer.from(`${head},"data":[`), ...data.pieces, Buffer.from(`],${tail}`)])
}
