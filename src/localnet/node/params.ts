import { decodeBase58 } from '../../chain/base58.ts'
import type { Commitment } from '../../market/rows.ts'
import { invalidParams, RpcError } from './rpc-error.ts'

export type JsonMap = Readonly<Record<string, unknown>>

export function isMap(value: unknown): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Describes a value in the words of a node that refuses it. */
function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return 'sequence'
  switch (typeof value) {
    case 'boolean':
      return `boolean \`${value}\``
    case 'bigint':
      return `integer \`${value}\``
    case 'number':
      return Number.isInteger(value) ? `integer \`${value}\`` : `floating point \`${value}\``
    case 'string':
      return `string ${JSON.stringify(value)}`
    default:
      return 'map'
  }
}

export function invalidType(value: unknown, expected: string): RpcError {
  return invalidParams(`Invalid params: invalid type: ${kindOf(value)}, expected ${expected}.`)
}

export function stringOf(value: unknown): string {
  if (typeof value !== 'string') throw invalidType(value, 'a string')
  return value
}

export function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw invalidType(value, 'a sequence')
  return value
}

export function booleanOf(value: unknown): boolean {
  if (typeof value !== 'boolean') throw invalidType(value, 'a boolean')
  return value
}

/** Reads a value inside another value, and prefixes the place in a refusal with its own: `.name` or `[index]`. */
export function within<T>(place: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof RpcError) error.place = `${place}${error.place}`
    throw error
  }
}

const U64_MAX = 2n ** 64n - 1n

/** Reads a u64 or usize of any size. */
export function u64Of(value: unknown, expected = 'u64'): bigint {
  if (typeof value !== 'bigint' && !Number.isInteger(value)) throw invalidType(value, expected)
  const integer = BigInt(value as number | bigint)
  if (integer < 0n) {
    throw invalidParams(`Invalid params: invalid value: integer \`${integer}\`, expected ${expected}.`)
  }
  // Above 64 bits a node reads a floating point number.
  if (integer > U64_MAX) throw invalidType(Number(integer) + 0.5, expected)
  return integer
}

/** Reads a u64 that is a slot, a length or a limit: these stay below 2^53, so the nearest double suffices. */
export function countOf(value: unknown, expected = 'u64'): number {
  return Number(u64Of(value, expected))
}

/** Reads an optional value; a node treats null as absent. */
export function optional<T>(value: unknown, read: (value: unknown) => T): T | null {
  return value === undefined || value === null ? null : read(value)
}

/** Reads a configuration object, named as in a node's refusal; an absent one is empty. */
export function configOf(value: unknown, name: string): JsonMap {
  if (value === undefined || value === null) return {}
  if (!isMap(value)) throw invalidType(value, `struct ${name}`)
  return value
}

/** Reads one of several words; the refusal of any other word lists them all. */
export function variantOf<T extends string>(value: unknown, variants: readonly T[]): T {
  if (typeof value !== 'string') throw invalidType(value, 'string or map')
  if ((variants as readonly string[]).includes(value)) return value as T
  throw unknownVariant(value, variants)
}

export function unknownVariant(value: string, variants: readonly string[]): RpcError {
  const words = variants.map((variant) => `\`${variant}\``)
  const expected = words.length === 2 ? words.join(' or ') : `one of ${words.join(', ')}`
  return invalidParams(`Invalid params: unknown variant \`${value}\`, expected ${expected}.`)
}

const COMMITMENTS = ['processed', 'confirmed', 'finalized'] as const

/** Reads the commitment of a configuration. As on a node, an unknown commitment counts as absent: finalized. */
export function commitmentOf({ commitment }: JsonMap): Commitment {
  return COMMITMENTS.find((known) => known === commitment) ?? 'finalized'
}

/** Reads a commitment in a parameter or a field of its own; an unknown one is refused. */
export function strictCommitmentOf(value: unknown): Commitment {
  return optional(value, (given) => variantOf(given, COMMITMENTS)) ?? 'finalized'
}

/** Reads a parameter that is a commitment configuration and nothing else. */
export function commitmentConfigOf(value: unknown): Commitment {
  return (
    optional(value, (given) => {
      const config = configOf(given, 'CommitmentConfig')
      if (!('commitment' in config)) throw invalidParams('Invalid params: missing field `commitment`.')
      return variantOf(config.commitment, COMMITMENTS)
    }) ?? 'finalized'
  )
}

/** Refuses processed: blocks that may still be lost have no history. */
export function atLeastConfirmed(commitment: Commitment): Commitment {
  if (commitment !== 'processed') return commitment
  throw invalidParams('Method does not support commitment below `confirmed`')
}

// Longer texts cannot be a key, hash or signature, and are not decoded.
const DIGITS_MAX = 90

function bytesOf(text: string, size: number): Uint8Array {
  const digitsMax = size === 64 ? 88 : 44
  if (text.length > Math.min(digitsMax, DIGITS_MAX)) throw new Error('WrongSize')
  let bytes: Uint8Array
  try {
    bytes = decodeBase58(text)
  } catch {
    throw new Error('Invalid')
  }
  if (bytes.length !== size) throw new Error('WrongSize')
  return bytes
}

function sized(value: unknown, size: number, prefix: string): Uint8Array {
  const text = stringOf(value)
  try {
    return bytesOf(text, size)
  } catch (error) {
    throw invalidParams(prefix + (error as Error).message)
  }
}

export const addressOf = (value: unknown): Uint8Array => sized(value, 32, 'Invalid param: ')
export const signatureOf = (value: unknown): Uint8Array => sized(value, 64, 'Invalid param: ')
/** Reads a blockhash; a node's refusal of a blockhash has no prefix. */
export const blockhashOf = (value: unknown): Uint8Array => sized(value, 32, '')

/** Decodes a key or signature; null if the text is neither. */
export function bytesOrNull(text: string, size: 32 | 64): Uint8Array | null {
  try {
    return bytesOf(text, size)
  } catch {
    return null
  }
}
