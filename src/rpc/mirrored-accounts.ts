import type { Storage } from '../../storage/port.ts'
import type { WorkCount } from '../access/work-meter.ts'
import { pubkeyFromBase58 } from '../chain/pubkey.ts'
import {
  ACCOUNT_ENCODINGS,
  AccountRows,
  TooLongForBase58,
  type AccountEncoding,
  type AccountForm,
  type RowText
} from '../program-accounts/account-rows.ts'
import { placeText } from '../program-accounts/field-place.ts'
import {
  checkFilters,
  DATA_BYTES_MAX,
  FilterFault,
  filtersOf,
  type AccountFilter
} from '../program-accounts/account-filters.ts'
import {
  MirrorReader,
  type MirrorRead,
  type SelectedBy,
  type TakeAccounts
} from '../program-accounts/mirror-reader.ts'
import { atOnce, type RunPiece } from '../work/turns.ts'
import { ANSWER_BYTES_MAX, ANSWER_TOO_LARGE, NO_NODE, upstreamDown, type Refusal } from './rpc-error.ts'

/** The accounts of a program: the bytes of the result's JSON text with its slot, or a refusal. */
export type MirroredAnswer =
  | { readonly result: readonly Buffer[]; readonly slot: number }
  | { readonly refusal: Refusal }

/** Account versions that one request examines: up to some seconds of CPU time. Larger reads can page over REST. */
const EXAMINED_TOTAL_MAX = 2_000_000

interface Wish {
  readonly filters: readonly AccountFilter[]
  readonly form: AccountForm
  readonly withContext: boolean
  readonly minContextSlot: number
}

/** Answers getProgramAccounts from the mirror, at one slot. */
export class MirroredAccounts {
  readonly #mirror: MirrorReader
  readonly #hasNode: boolean

  /**
   * @param count Called for each read of the mirror.
   * @param hasNode Whether the process has a node; without one, accounts that are not mirrored yet never will be.
   */
  constructor(
    storage: Pick<Storage, 'documents' | 'programAccounts' | 'isShared'>,
    count: (selectedBy: SelectedBy) => void,
    hasNode = true
  ) {
    this.#hasNode = hasNode
    this.#mirror = new MirrorReader(storage, count)
  }

  /** Rejects only with a store error or the signal's reason. */
  async answer(
    params: unknown,
    signal: AbortSignal,
    runPiece: RunPiece = atOnce,
    work?: WorkCount
  ): Promise<MirroredAnswer> {
    const [program, config] = Array.isArray(params) ? (params as unknown[]) : []
    if (typeof program !== 'string') return invalid('invalid length 0, expected a program address')
    const address = addressOf(program)
    if (address === null) return invalid('Invalid param: Invalid')
    const wish = wishOf(config)
    if ('refusal' in wish) return wish
    const status = await this.#mirror.status(address)
    if (status === null) return NOT_WHITELISTED(program)
    const { slot } = status.progress
    if (slot === null && !this.#hasNode) return { refusal: NO_NODE }
    if (slot === null) return { refusal: upstreamDown('the accounts of this program are still being read') }
    if (slot < wish.minContextSlot)
      return {
        refusal: {
          status: 200,
          error: {
            code: -32016,
            message: 'Minimum context slot has not been reached',
            data: { contextSlot: slot }
          }
        }
      }
    const rows = new AccountRows(wish.form, rowText(program, wish.form.encoding))
    const query = { slot, limit: Infinity, examined: EXAMINED_TOTAL_MAX, filters: wish.filters }
    const take: TakeAccounts = async (accounts) => {
      await rows.add(accounts)
      return rows.bytes <= ANSWER_BYTES_MAX
    }
    let end: MirrorRead
    try {
      end = await this.#mirror.read(address, status, query, take, { runPiece, signal, work })
    } catch (error) {
      if (error instanceof TooLongForBase58) return TOO_LONG_FOR_BASE58
      throw error
    }
    // Old versions may have been dropped during the read.
    if (end.now?.progress.slot == null || slot < end.now.progress.oldestSlot)
      return { refusal: upstreamDown('the accounts of this program changed during the request; try again') }
    if (end.next !== null || rows.bytes > ANSWER_BYTES_MAX) return { refusal: ANSWER_TOO_LARGE }
    const [open, close] = wish.withContext ? [`{"context":{"slot":${slot}},"value":[`, ']}'] : ['[', ']']
    return { result: [Buffer.from(open), ...rows.pieces, Buffer.from(close)], slot }
  }
}

/** Lamports and the epoch are whole numbers beyond 2^53, so they are written as text. */
const rowText =
  (program: string, encoding: AccountEncoding): RowText =>
  (address, { lamports, executable, rentEpoch, data: { length } }, data) =>
    `{"account":{"data":["${data}","${encoding}"],"executable":${executable},"lamports":${lamports},"owner":"${program}","rentEpoch":${rentEpoch},"space":${length}},"pubkey":"${address}"}`

function wishOf(config: unknown): Wish | { readonly refusal: Refusal } {
  if (config !== undefined && config !== null && (typeof config !== 'object' || Array.isArray(config)))
    return invalid('expected a config object')
  const {
    encoding = 'base64',
    filters,
    dataSlice,
    withContext,
    minContextSlot
  } = (config ?? {}) as Record<string, unknown>
  if (!(ACCOUNT_ENCODINGS as readonly unknown[]).includes(encoding))
    return invalid(`unknown variant, expected one of ${ACCOUNT_ENCODINGS.join(', ')}`)
  try {
    const slice = sliceOf(dataSlice)
    const list = filters === undefined || filters === null ? [] : filtersOf(JSON.stringify(filters))
    checkFilters(list)
    return {
      filters: list,
      form: { encoding: encoding as AccountEncoding, slice },
      withContext: isGiven(withContext) && flagOf(withContext, 'withContext'),
      minContextSlot: isGiven(minContextSlot)
        ? countOf(minContextSlot, Number.MAX_SAFE_INTEGER, 'minContextSlot')
        : 0
    }
  } catch (error) {
    if (error instanceof FilterFault) return invalidField(`filters${placeText(error.place)}`, error.message)
    if (error instanceof FieldFault) return invalidField(error.field, error.message)
    throw error
  }
}

/** A fault of a field of the configuration: its message, to be read after the field. */
class FieldFault extends Error {
  readonly field: string

  constructor(field: string, message: string) {
    super(message)
    this.field = field
  }
}

/** A node treats null as absent. */
const isGiven = (value: unknown): boolean => value !== undefined && value !== null

function flagOf(value: unknown, field: string): boolean {
  if (typeof value !== 'boolean') throw new FieldFault(field, 'must be true or false')
  return value
}

function countOf(value: unknown, max: number, field: string): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max) return value
  throw new FieldFault(field, `must be a whole number between 0 and ${max}`)
}

function sliceOf(value: unknown): AccountForm['slice'] {
  if (!isGiven(value)) return null
  if (typeof value !== 'object' || Array.isArray(value))
    throw new FieldFault('dataSlice', 'must be {"offset":n,"length":n}')
  const { offset, length } = value as { offset?: unknown; length?: unknown }
  return {
    offset: countOf(offset, DATA_BYTES_MAX, 'dataSlice.offset'),
    length: countOf(length, DATA_BYTES_MAX, 'dataSlice.length')
  }
}

function addressOf(base58: string): Uint8Array | null {
  try {
    return pubkeyFromBase58(base58)
  } catch {
    return null
  }
}

const invalid = (message: string): { readonly refusal: Refusal } => ({
  refusal: { status: 200, error: { code: -32602, message: `Invalid params: ${message}` } }
})

/** Refuses a field of the configuration, and names its place among the parameters. */
const invalidField = (field: string, message: string): { readonly refusal: Refusal } => ({
  refusal: {
    status: 200,
    error: {
      code: -32602,
      message: `Invalid params: ${field} ${message}`,
      data: { field: `params[1].${field}` }
    }
  }
})

const NOT_WHITELISTED = (program: string): MirroredAnswer => ({
  refusal: {
    status: 403,
    error: {
      code: -32010,
      message: `${program} excluded from account secondary indexes; this RPC method unavailable for key`,
      data: { program, see: '/v1/programs/{programId}/accounts' }
    }
  }
})

const TOO_LONG_FOR_BASE58 = invalid(
  'Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.'
)
