import {
  checkFilters,
  DATA_BYTES_MAX,
  FilterFault,
  filtersOf,
  type AccountFilter
} from '../program-accounts/account-filters.ts'
import type { AccountForm } from '../program-accounts/account-rows.ts'
import { placeText } from '../program-accounts/field-place.ts'
import { COMMITMENTS, DEFAULT_COMMITMENT, isCommitment, type Commitment } from './commitment.ts'
import type { Refusal } from './rpc-error.ts'

/** The encodings of a node; `binary` is text in base58, without the name of the encoding. */
export const RPC_ACCOUNT_ENCODINGS = ['binary', 'base58', 'base64', 'base64+zstd', 'jsonParsed'] as const
export type RpcAccountEncoding = (typeof RPC_ACCOUNT_ENCODINGS)[number]

/** The commitments at which the mirror has accounts. */
export type MirroredCommitment = Exclude<Commitment, 'processed'>

/** The configuration of a getProgramAccounts. */
export interface ProgramAccountsRequest {
  readonly filters: readonly AccountFilter[]
  readonly encoding: RpcAccountEncoding
  readonly slice: AccountForm['slice']
  readonly commitment: MirroredCommitment
  readonly withContext: boolean
  readonly minContextSlot: number
}

/** A node reads slots as u64. This is the nearest double; no chain reaches a slot above the safe integers. */
const U64_MAX = 2 ** 64

type Refused = { readonly refusal: Refusal }

/** Reads the configuration of a getProgramAccounts with a node's defaults; `null` counts as absent. */
export function readProgramAccountsRequest(config: unknown): ProgramAccountsRequest | Refused {
  if (config !== undefined && config !== null && (typeof config !== 'object' || Array.isArray(config)))
    return invalidParams('expected a config object')
  const fields = (config ?? {}) as Record<string, unknown>
  const { filters, minContextSlot } = fields
  try {
    const encoding = variantOf(fields, 'encoding', RPC_ACCOUNT_ENCODINGS) ?? 'binary'
    const commitment = commitmentOf(fields)
    const slice = sliceOf(fields['dataSlice'])
    const list = isGiven(filters) ? filtersOf(JSON.stringify(filters)) : []
    checkFilters(list)
    // Accounts are always sorted.
    flagOf(fields, 'sortResults')
    return {
      filters: list,
      encoding,
      slice,
      commitment,
      withContext: flagOf(fields, 'withContext'),
      minContextSlot: isGiven(minContextSlot) ? countOf(minContextSlot, U64_MAX, 'minContextSlot') : 0
    }
  } catch (error) {
    if (error instanceof FilterFault) return invalidField(`filters${placeText(error.place)}`, error.message)
    if (error instanceof FieldFault) return invalidField(error.field, error.message)
    throw error
  }
}

/** Returns the refusal of invalid params. */
export const invalidParams = (message: string): Refused => ({
  refusal: { status: 200, error: { code: -32602, message: `Invalid params: ${message}` } }
})

/** Refuses a field of the configuration, and gives its path in the parameters. */
const invalidField = (field: string, message: string): Refused => ({
  refusal: {
    status: 200,
    error: {
      code: -32602,
      message: `Invalid params: ${field} ${message}`,
      data: { field: `params[1].${field}` }
    }
  }
})

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

function variantOf<T extends string>(
  fields: Record<string, unknown>,
  field: string,
  variants: readonly T[]
): T | null {
  const value = fields[field]
  if (!isGiven(value)) return null
  if ((variants as readonly unknown[]).includes(value)) return value as T
  throw new FieldFault(field, `is an unknown variant, expected one of ${variants.join(', ')}`)
}

function commitmentOf(fields: Record<string, unknown>): MirroredCommitment {
  const { commitment } = fields
  if (isGiven(commitment) && !isCommitment(commitment))
    throw new FieldFault('commitment', `must be one of ${COMMITMENTS.join(', ')}`)
  const named = (commitment ?? DEFAULT_COMMITMENT) as Commitment
  if (named !== 'processed') return named
  throw new FieldFault(
    'commitment',
    'must not be processed: accounts of programs are served at confirmed and finalized'
  )
}

function flagOf(fields: Record<string, unknown>, field: string): boolean {
  const value = fields[field] ?? false
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
