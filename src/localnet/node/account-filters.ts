import { decodeBase58 } from '../../chain/base58.ts'
import type { LocalAccount } from '../chain.ts'
import {
  countOf,
  invalidType,
  isMap,
  listOf,
  stringOf,
  unknownVariant,
  within,
  type JsonMap
} from './params.ts'
import { invalidParams } from './rpc-error.ts'
import { isTokenAccount } from './token-state.ts'

export type AccountFilter = (account: LocalAccount) => boolean

// Limits of agave: MAX_GET_PROGRAM_ACCOUNT_FILTERS, and the length of a memcmp (filter.rs).
const FILTERS_MAX = 4
const COMPARED_BYTES_MAX = 128
const KINDS = ['dataSize', 'memcmp', 'tokenAccountState']

/** Combines a list of filters into one; `prefix` begins the message that refuses too many. */
export function accountFilterOf(value: unknown, prefix = ''): AccountFilter {
  const list = listOf(value)
  const filters = list.map((each, i) => within(`[${i}]`, () => filterOf(each)))
  if (list.length > FILTERS_MAX) {
    throw invalidParams(`${prefix}Too many filters provided; max ${FILTERS_MAX}`)
  }
  return (account) => filters.every((filter) => filter(account))
}

function filterOf(value: unknown): AccountFilter {
  if (value === 'tokenAccountState') return ({ data }) => isTokenAccount(data)
  if (typeof value === 'string') throw unknownVariant(value, KINDS)
  if (!isMap(value)) throw invalidType(value, 'string or map')
  const [kind, argument] = Object.entries(value)[0] ?? ['', null]
  switch (kind) {
    case 'dataSize': {
      const size = within('.dataSize', () => countOf(argument))
      return ({ data }) => data.length === size
    }
    case 'memcmp':
      return within('.memcmp', () => memcmpOf(argument))
    case 'tokenAccountState':
      return ({ data }) => isTokenAccount(data)
    default:
      throw unknownVariant(kind, KINDS)
  }
}

function memcmpOf(value: unknown): AccountFilter {
  if (!isMap(value)) throw invalidType(value, 'struct Memcmp')
  const offset = within('.offset', () => countOf(value.offset, 'usize'))
  const bytes = within('.bytes', () => comparedBytes(value))
  if (bytes.length > COMPARED_BYTES_MAX) throw invalidParams('Invalid param: DataTooLarge')
  return ({ data }) => {
    if (offset + bytes.length > data.length) return false
    for (let i = 0; i < bytes.length; i++) if (data[offset + i] !== bytes[i]) return false
    return true
  }
}

// Digits for 128 bytes; longer texts are refused before decoding (agave, filter.rs).
const BASE58_DIGITS_MAX = 175
const BASE64_DIGITS_MAX = 172

function comparedBytes({ bytes, encoding }: JsonMap): Uint8Array {
  if (Array.isArray(bytes))
    return Uint8Array.from(bytes, (byte, i) => within(`[${i}]`, () => countOf(byte, 'u8')))
  const text = stringOf(bytes)
  const inBase64 = encoding === 'base64'
  if (text.length > (inBase64 ? BASE64_DIGITS_MAX : BASE58_DIGITS_MAX)) {
    throw invalidParams('Invalid param: DataTooLarge')
  }
  return inBase64
    ? base64Bytes(text, 'Invalid param: Base64DecodeError(', ')')
    : base58Bytes(text, 'Invalid param: Base58DecodeError(', ')')
}

/** Decodes base64; throws an RpcError in a node's words, between `before` and `after`. */
export function base64Bytes(text: string, before: string, after = ''): Uint8Array {
  const strange = /[^A-Za-z0-9+/=]/.exec(text)
  if (strange !== null) {
    throw invalidParams(`${before}InvalidByte(${strange.index}, ${text.charCodeAt(strange.index)})${after}`)
  }
  try {
    return Uint8Array.fromBase64(text, { lastChunkHandling: 'strict' })
  } catch {
    throw invalidParams(
      `${before}${text.length % 4 === 0 ? 'InvalidPadding' : `InvalidLength(${text.length})`}${after}`
    )
  }
}

/** Decodes base58; throws like base64Bytes. */
export function base58Bytes(text: string, before: string, after = ''): Uint8Array {
  const strange = /[^1-9A-HJ-NP-Za-km-z]/.exec(text)
  if (strange === null) return decodeBase58(text)
  throw invalidParams(
    `${before}InvalidCharacter { character: '${strange[0]}', index: ${strange.index} }${after}`
  )
}
