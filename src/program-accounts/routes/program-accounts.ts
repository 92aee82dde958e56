import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { ACCOUNT_ENCODINGS, AccountRows, BASE58_BYTES_MAX, TooLongForBase58 } from '../account-rows.ts'
import { accountText, programAccountsAnswer, programAccountsBytes } from '../program-bodies.ts'
import { exactSlotUpTo } from '../exact-slots.ts'
import type { MirrorProgress } from '../program.ts'
import type { MirroredCommitment } from '../../rpc/program-accounts-request.ts'
import { pubkeyFromBase58, pubkeyToBase58, type Pubkey } from '../../chain/pubkey.ts'
import { ERRORS, ServiceError } from '../../kernel/errors.ts'
import { PROGRAM_ERRORS } from '../errors.ts'
import {
  checkFilters,
  DATA_BYTES_MAX,
  FilterFault,
  filtersOf,
  memcmpOf,
  type AccountFilter
} from '../account-filters.ts'
import { ACCOUNT_WORK, MirrorReader, type TakeAccounts } from '../mirror-reader.ts'
import type { RunPiece } from '../../kernel/work/turns.ts'
import type { ProgramAccountNeeds } from './needs.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serve } from '../../kernel/http/serve.ts'
import { EXAMPLE_PROGRAM } from '../../edge/routes/example-values.ts'
import { JsonBytes } from '../../kernel/http/json-bytes.ts'
import { readWordsCursor, writeWordsCursor } from '../../kernel/http/page-cursor.ts'
import { address, invalid, oneOf, wholeNumber } from '../../kernel/http/parameters.ts'

/**
 * Maximum account versions that one request examines: 10 ms if they are in memory, and 0.3 s if the engine reads them. If
 * the filters match rarely, a page has fewer accounts than `limit`, and a cursor.
 */
const EXAMINED_MAX = 100_000
/** Approximate maximum bytes of data in an answer: as much as most clients read at once. */
const ANSWER_DATA_BYTES_MAX = 4 * 2 ** 20

export const programAccounts = endpoint({
  path: '/v1/programs/{programId}/accounts',
  tag: 'Accounts',
  summary: 'List the accounts of a program',
  description:
    'Accounts of a whitelisted program, from the mirror on disk. All pages of a paging run show the state at one slot; a run lasts at most five minutes. ' +
    'A request has at most four filters, and each compares at most 128 bytes. The index answers a `memcmp` that covers an indexed range of the program.',
  scope: 'data:read',
  params: z.object({ programId: address.describe('The program, base58') }),
  query: z.object({
    dataSize: z
      .string()
      .regex(/^\d{1,8}$/, 'must be a number of bytes')
      .transform(Number)
      .optional()
      .describe('Only accounts whose data has this number of bytes'),
    memcmp: z
      .union([z.string(), z.array(z.string())])
      .optional()
      .describe('`<offset>:<base58>`: only accounts with these bytes at the offset; may be repeated'),
    filters: z
      .string()
      .max(4_096, 'must be at most 4096 characters')
      .optional()
      .describe('A JSON array of filters as in getProgramAccounts'),
    dataSlice: z
      .string()
      .regex(/^\d{1,8}:\d{1,8}$/, 'must be <offset>:<length>')
      .optional()
      .describe('`<offset>:<length>`: only these bytes of the data'),
    encoding: oneOf(ACCOUNT_ENCODINGS)
      .default('base64')
      .describe(`Encoding of the data; base58 for at most ${BASE58_BYTES_MAX} bytes`),
    commitment: oneOf(['confirmed', 'finalized'])
      .default('confirmed')
      .describe(
        'Commitment of the first page, whose slot all pages of the run show. `finalized`: the newest finalized slot whose accounts are mirrored'
      ),
    limit: wholeNumber(1, 1_000, 100).describe('Maximum number of accounts'),
    after: z.string().optional().describe('The `nextCursor` of the previous page, with the same filters')
  }),
  answer: programAccountsAnswer,
  weighted: 'program-accounts',
  work: [...ACCOUNT_WORK, 'kibibyte'],
  takesTurn: false,
  errors: [
    ERRORS.ADDRESS_INVALID,
    ERRORS.CURSOR_INVALID,
    ERRORS.CURSOR_EXPIRED,
    PROGRAM_ERRORS.PROGRAM_NOT_WHITELISTED,
    ERRORS.INDEX_LOADING,
    ERRORS.NOT_CONFIGURED
  ],
  examples: [
    {
      name: 'token accounts of a mint',
      params: { programId: EXAMPLE_PROGRAM },
      query: { dataSize: '165', memcmp: '0:So11111111111111111111111111111111111111112', limit: '10' }
    }
  ]
})

export const programAccountRoutes: FastifyPluginAsync<
  Pick<ProgramAccountNeeds, 'storage' | 'rpc' | 'clock' | 'mirror' | 'turns'>
> = async (app, { storage, rpc, clock, mirror: metrics, turns }) => {
  const mirror = new MirrorReader(storage, (selected_by) => metrics.pages.inc({ selected_by }))
  const missing = (program: string): ServiceError =>
    rpc.hasNode
      ? loading(program)
      : new ServiceError(ERRORS.NOT_CONFIGURED, 'this service has no node to read accounts from')
  const slotAt = (commitment: MirroredCommitment, program: string, progress: MirrorProgress): number => {
    if (commitment === 'confirmed') return progress.slot!
    const finalized = rpc.finalized?.newest() ?? null
    const slot = finalized === null ? null : exactSlotUpTo(progress, finalized)
    if (slot === null) throw notFinalized(program)
    return slot
  }

  serve(app, programAccounts, async ({ params, query, fields, caller, signal, work }) => {
    const program = pubkeyToBase58(params.programId)
    const filters = filtersIn(query)
    const slice = sliceOf(query.dataSlice)
    const list = `program accounts ${program} ${JSON.stringify(filters, withBytes)}`
    const place = query.after === undefined ? null : placeIn(list, query.after)
    const status = await mirror.status(params.programId)
    if (status === null)
      throw new ServiceError(PROGRAM_ERRORS.PROGRAM_NOT_WHITELISTED, `program ${program} is not whitelisted`)
    const { progress } = status
    if (progress.slot === null) throw missing(program)
    const slot = place?.slot ?? slotAt(query.commitment, program, progress)
    if (slot > progress.slot || slot < progress.oldestSlot) throw expired(slot)
    const { limit, encoding } = query
    const rows = new AccountRows({ encoding, slice }, accountText(program, encoding, fields))
    const take: TakeAccounts = async (accounts) => {
      await rows.add(accounts)
      return true
    }
    const wanted = {
      slot,
      after: place?.address,
      limit,
      examined: EXAMINED_MAX,
      filters,
      bytes: ANSWER_DATA_BYTES_MAX
    }
    const runPiece: RunPiece = (piece) => turns.run(caller!.tenant, piece, { signal })
    const { selectedBy, next, now } = await mirror
      .read(params.programId, status, wanted, take, { runPiece, signal, work })
      .catch((error: unknown) => {
        throw error instanceof TooLongForBase58 ? tooLong(error.address) : error
      })
    if (now?.progress.slot == null) throw missing(program)
    if (slot < now.progress.oldestSlot) throw expired(slot)
    return new JsonBytes(
      programAccountsBytes({
        program,
        slot,
        age_seconds: Math.max(0, Math.floor((clock.now() - now.progress.atMs) / 1_000)),
        data: rows,
        selected_by: selectedBy,
        nextCursor: next === null ? null : writeWordsCursor(list, [String(slot), pubkeyToBase58(next)])
      })
    )
  })
}

const tooLong = (account: Pubkey): ServiceError =>
  invalid(
    'encoding',
    `must not be base58 here: ${pubkeyToBase58(account)} has more than ${BASE58_BYTES_MAX} bytes; use base64 or dataSlice`
  )

const loading = (program: string): ServiceError =>
  new ServiceError(
    ERRORS.INDEX_LOADING,
    `the accounts of program ${program} are still being read from the node`
  )

const notFinalized = (program: string): ServiceError =>
  new ServiceError(
    ERRORS.INDEX_LOADING,
    `the accounts of program ${program} are not mirrored at finalized yet; retry within 20 s, or with commitment=confirmed`
  )

const expired = (slot: number): ServiceError =>
  new ServiceError(
    ERRORS.CURSOR_EXPIRED,
    `after is of slot ${slot}, which can no longer be read; begin with the first page`
  )

/** Returns all filters of a query. Throws PARAMETER_INVALID, which names the field. */
function filtersIn(query: {
  readonly dataSize?: number | undefined
  readonly memcmp?: string | readonly string[] | undefined
  readonly filters?: string | undefined
}): readonly AccountFilter[] {
  const filters: AccountFilter[] = query.dataSize === undefined ? [] : [{ dataSize: query.dataSize }]
  const compared = query.memcmp === undefined ? [] : [query.memcmp].flat()
  for (const text of compared) withField('memcmp', () => filters.push(memcmpOf(text)))
  withField('memcmp', () => checkFilters(filters))
  if (query.filters !== undefined)
    withField('filters', () => {
      filters.push(...filtersOf(query.filters!))
      checkFilters(filters)
    })
  return filters
}

function withField(field: string, run: () => unknown): void {
  try {
    run()
  } catch (error) {
    if (!(error instanceof FilterFault)) throw error
    throw invalid([field, ...error.place].join('.'), error.message)
  }
}

function sliceOf(text: string | undefined): { readonly offset: number; readonly length: number } | null {
  if (text === undefined) return null
  const [offset = 0, length = 0] = text.split(':').map(Number)
  if (offset > DATA_BYTES_MAX)
    throw invalid('dataSlice', `must begin within ${DATA_BYTES_MAX} bytes, the most that an account has`)
  return { offset, length }
}

function placeIn(list: string, text: string) {
  const [slot = '', last = ''] = readWordsCursor(list, text)
  return { slot: Number(slot), address: pubkeyFromBase58(last) }
}

const withBytes = (_: string, value: unknown): unknown =>
  value instanceof Uint8Array ? value.toHex() : value
