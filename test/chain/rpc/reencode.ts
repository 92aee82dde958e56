import { encodeBase58 } from '../../../src/chain/base58.ts'
import { writeWire, type JsonLookup, type JsonMessage } from '../wire-writer.ts'

export const ENCODINGS = ['json', 'base64', 'base58'] as const
export type Encoding = (typeof ENCODINGS)[number]

/** A getTransaction result, or an entry of a getBlock result, in encoding `json`. */
export interface JsonResult {
  readonly version?: 'legacy' | 0 | 1 | null
  readonly transaction: { readonly signatures: readonly string[]; readonly message: JsonMessage }
  readonly meta: {
    readonly loadedAddresses?: { readonly writable: readonly string[]; readonly readonly: readonly string[] }
  }
}

/** Returns whether a result is in encoding `json` throughout, so that it can be written in the others. */
export function isCompiled(result: unknown): result is JsonResult {
  const { transaction } = result as { transaction?: { message?: { accountKeys?: unknown[] } } }
  return typeof transaction?.message?.accountKeys?.[0] === 'string'
}

/**
 * Returns a result as a node sends it in another encoding. If a fixture's source lost the lookup tables or their
 * indexes, the bytes name a made-up table of equal size. No reader depends on it.
 */
export function reencode(result: JsonResult, encoding: Encoding): unknown {
  if (encoding === 'json') return result
  const { signatures, message } = result.transaction
  const version = result.version ?? (message.addressTableLookups ? 0 : 'legacy')
  const addressTableLookups = version === 0 ? lookupsOf(result) : []
  const bytes = writeWire(version, signatures, { ...message, addressTableLookups })
  const text = encoding === 'base64' ? Buffer.from(bytes).toString('base64') : encodeBase58(bytes)
  return { ...result, version, transaction: [text, encoding] }
}

function lookupsOf({ transaction, meta }: JsonResult): readonly JsonLookup[] {
  const lookups = transaction.message.addressTableLookups ?? []
  const writable = meta.loadedAddresses?.writable.length ?? 0
  const readonly = meta.loadedAddresses?.readonly.length ?? 0
  const count = (field: 'writableIndexes' | 'readonlyIndexes'): number =>
    lookups.reduce(
      (sum, lookup) => sum + ((lookup[field] as readonly number[] | undefined)?.length ?? NaN),
      0
    )
  if (count('writableIndexes') === writable && count('readonlyIndexes') === readonly) return lookups
  return [
    {
      accountKey: '11111111111111111111111111111111',
      writableIndexes: Array.from({ length: writable }, (_, i) => i),
      readonlyIndexes: Array.from({ length: readonly }, (_, i) => i)
    }
  ]
}
