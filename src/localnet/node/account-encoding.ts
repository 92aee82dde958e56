import { zstdCompressSync } from 'node:zlib'
import { encodeBase58 } from '../../chain/base58.ts'
import { pubkeyToBase58 } from '../../chain/pubkey.ts'
import type { LocalAccount } from '../chain.ts'
import { integer } from './json.ts'
import { parseAccount, type DecimalsOf } from './parsed-account.ts'
import { configOf, countOf, optional, variantOf, within, type JsonMap } from './params.ts'
import { invalidParams, invalidRequest } from './rpc-error.ts'

const ENCODINGS = ['binary', 'base58', 'base64', 'jsonParsed', 'base64+zstd'] as const

export type AccountEncoding = (typeof ENCODINGS)[number]

/** The requested form of an account: the encoding, and a slice of its data. */
export interface AccountForm {
  readonly encoding: AccountEncoding
  readonly slice: DataSlice | null
}

export interface DataSlice {
  readonly offset: number
  readonly length: number
}

/** Maximum number of bytes that a node writes as base58, whose time is quadratic (agave, MAX_BASE58_BYTES). */
const BASE58_BYTES_MAX = 128
/** Agave's text for longer data (account-decoder, encode_bs58). */
const BASE58_TOO_LONG = 'error: data too large for bs58 encoding'

/** Reads the encoding and the slice of a configuration. */
export function accountFormOf(config: JsonMap, fallback: AccountEncoding): AccountForm {
  return {
    encoding: optional(config.encoding, (value) => variantOf(value, ENCODINGS)) ?? fallback,
    slice: optional(config.dataSlice, sliceOf)
  }
}

function sliceOf(value: unknown): DataSlice {
  const slice = configOf(value, 'UiDataSliceConfig')
  const field = (name: 'offset' | 'length'): number => {
    if (!(name in slice)) throw invalidParams(`Invalid params: missing field \`${name}\`.`)
    return within(`.${name}`, () => countOf(slice[name], 'usize'))
  }
  return { offset: field('offset'), length: field('length') }
}

/** Encodes an account as nodes answer it. Throws an RpcError if it has too much data for base58. */
export function encodeAccount(account: LocalAccount, form: AccountForm, decimalsOf: DecimalsOf): object {
  const isBase58 = form.encoding === 'binary' || form.encoding === 'base58'
  if (isBase58 && dataOf(account, form).length > BASE58_BYTES_MAX)
    throw invalidRequest(
      `Encoded binary (base 58) data should be less than ${BASE58_BYTES_MAX} bytes, please use Base64 encoding.`
    )
  return encodeNotifiedAccount(account, form, decimalsOf)
}

export function encodeKeyedAccount(account: LocalAccount, form: AccountForm, decimalsOf: DecimalsOf): object {
  return { pubkey: pubkeyToBase58(account.address), account: encodeAccount(account, form, decimalsOf) }
}

/** Encodes an account as nodes notify of it: a text replaces data that is too long for base58. */
export function encodeNotifiedAccount(
  account: LocalAccount,
  form: AccountForm,
  decimalsOf: DecimalsOf
): object {
  const { lamports, owner, executable, rentEpoch, data } = account
  return {
    lamports: integer(lamports),
    data: encodeData(account, form, decimalsOf),
    owner: pubkeyToBase58(owner),
    executable,
    rentEpoch: integer(rentEpoch),
    space: data.length
  }
}

function encodeData(account: LocalAccount, form: AccountForm, decimalsOf: DecimalsOf): unknown {
  const { encoding } = form
  const data = dataOf(account, form)
  switch (encoding) {
    case 'binary':
      return base58Of(data)
    case 'base58':
      return [base58Of(data), encoding]
    case 'base64':
      return [base64Of(data), encoding]
    case 'base64+zstd':
      return [zstdCompressSync(data).toString('base64'), encoding]
    case 'jsonParsed':
      return parseAccount(account, decimalsOf) ?? [base64Of(data), 'base64']
  }
}

export function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}

function dataOf({ data }: LocalAccount, { slice }: AccountForm): Uint8Array {
  return slice === null ? data : data.subarray(slice.offset, slice.offset + slice.length)
}

function base58Of(data: Uint8Array): string {
  return data.length <= BASE58_BYTES_MAX ? encodeBase58(data) : BASE58_TOO_LONG
}
