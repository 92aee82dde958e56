import type { AccountLocks } from '../account-locks.ts'
import type { TransactionConfig, TransactionVersion } from '../transaction.ts'
import {
  isCount,
  isObject,
  keyTextOf,
  listOf,
  listOrEmpty,
  objectOf,
  Unreadable,
  type JsonObject
} from './fields.ts'
import type { KeyScope } from './instruction.ts'

/** Returns the stated version; otherwise the version that the message shows. Throws Unreadable. */
export function versionOf(version: unknown, message: JsonObject): TransactionVersion {
  if (version === 'legacy' || version === 0 || version === 1) return version
  if (version !== undefined && version !== null) throw new Unreadable('version')
  // Nodes omit the version if the request does not require it; the message still shows it.
  if (isObject(message.transactionConfig)) return 1
  return Array.isArray(message.addressTableLookups) ? 0 : 'legacy'
}

/**
 * Returns the keys that are locked for writing: from the header, or in `jsonParsed` from each key. Null if neither
 * states them.
 */
export function locksOf(message: JsonObject, meta: JsonObject): AccountLocks | readonly boolean[] | null {
  const { header } = message
  const keys = message.accountKeys as unknown[]
  if (isObject(header)) {
    const { numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts } = header
    if (!isCount(numReadonlySignedAccounts) || !isCount(numReadonlyUnsignedAccounts)) return null
    return {
      signatures: numRequiredSignatures as number,
      readonlySigned: numReadonlySignedAccounts,
      readonlyUnsigned: numReadonlyUnsignedAccounts,
      statics: keys.length,
      loadedWritable: isObject(meta.loadedAddresses) ? (meta.loadedAddresses.writable as unknown[]).length : 0
    }
  }
  const flags: boolean[] = []
  for (const key of keys) {
    if (!isObject(key) || typeof key.writable !== 'boolean') return null
    flags.push(key.writable)
  }
  return flags
}

/** Reads the budget of version 1; an unreadable field counts as absent. */
export function configOf({ transactionConfig }: JsonObject): TransactionConfig | undefined {
  if (!isObject(transactionConfig)) return undefined
  const { priorityFee, computeUnitLimit, loadedAccountsDataSizeLimit, heapSize } = transactionConfig
  const numberOf = (value: unknown): number | null => (isCount(value) ? value : null)
  const fee = numberOf(priorityFee)
  return {
    priorityFeeLamports: fee === null ? null : BigInt(fee),
    computeUnitLimit: numberOf(computeUnitLimit),
    loadedAccountsBytesMax: numberOf(loadedAccountsDataSizeLimit),
    heapBytes: numberOf(heapSize)
  }
}

/** Tells whether a message is in `jsonParsed` form. */
export function isParsed({ accountKeys }: JsonObject): boolean {
  return Array.isArray(accountKeys) && isObject(accountKeys[0])
}

/**
 * Returns static and loaded keys. `jsonParsed` lists both under accountKeys; other encodings have the loaded ones in
 * the meta.
 */
export function keyTexts(message: JsonObject, meta: JsonObject): readonly string[] {
  const field = 'transaction.message.accountKeys'
  let complete = false
  const texts = listOf(message.accountKeys, field).map((key) => {
    if (!isObject(key)) return keyTextOf(key, field)
    if (key.source === 'lookupTable') complete = true
    return keyTextOf(key.pubkey, field)
  })
  if (complete) return texts
  const loaded = loadedTexts(meta)
  const lookups = listOrEmpty(message.addressTableLookups, 'transaction.message.addressTableLookups')
  if (lookups.length > 0 && loaded.length === 0) throw new Unreadable('meta.loadedAddresses')
  return loaded.length === 0 ? texts : texts.concat(loaded)
}

/** Returns the loaded keys, writable ones first; old records have none. */
export function loadedTexts({ loadedAddresses }: JsonObject): string[] {
  const field = 'meta.loadedAddresses'
  if (loadedAddresses === undefined || loadedAddresses === null) return []
  const { writable, readonly } = objectOf(loadedAddresses, field)
  const texts: string[] = []
  for (const text of listOf(writable, field)) texts.push(keyTextOf(text, field))
  for (const text of listOf(readonly, field)) texts.push(keyTextOf(text, field))
  return texts
}

/** Returns the scope of instructions that name keys by texts. */
export function textScope(texts: readonly string[]): KeyScope {
  let indexes: Map<unknown, number> | undefined
  return {
    count: texts.length,
    indexOf(text) {
      indexes ??= new Map(texts.map((key, index) => [key, index]))
      return indexes.get(text)
    }
  }
}
