import { pubkeyMapKey } from '../chain/pubkey.ts'
import { pairKey } from './pairs.ts'
import { addressText, byName, LATEST, READ_FIRST } from './records.ts'
import type { AddressOf, ReadName, RowOf } from './records.ts'
import type { AffectedKeys } from './affected-keys.ts'

/** Addresses that must be read from the store before a block can be folded. */
export type ReadSet = { readonly [Name in ReadName]: readonly AddressOf<Name>[] }

/** A row at its address; null if the store has no such row. */
export interface Stored<Name extends ReadName> {
  readonly address: AddressOf<Name>
  readonly row: RowOf<Name> | null
}

/** The store's answers. */
export type LoadedRecords = { readonly [Name in ReadName]: readonly Stored<Name>[] }

/** Returns whether a block changes, or may change, any of the addresses. */
export function isAffected(readSet: ReadSet, affected: AffectedKeys): boolean {
  const owners = { mint: affected.tokens, pool: affected.pools }
  return (
    LATEST.some((name) => readSet[name].some((address) => affected[name].has(addressText(name, address)))) ||
    readSet.candles.some(({ mint, cash }) => affected.pairs.has(pairKey(mint, cash))) ||
    readSet.activity.some(({ of, owner }) => of === 'market' || owners[of].has(pubkeyMapKey(owner)))
  )
}

/** The answers of a store that has the row of each address from `get`. */
export function loadedRecordsFrom(
  readSet: ReadSet,
  get: <Name extends ReadName>(name: Name, address: AddressOf<Name>) => RowOf<Name> | null
): LoadedRecords {
  return byName<LoadedRecords>(READ_FIRST, (name) =>
    readSet[name].map((address) => ({ address, row: get(name, address) }))
  )
}

/** The answers of two sources, of which each has answered for other addresses. */
export function joinedRecords(one: LoadedRecords, other: LoadedRecords): LoadedRecords {
  return byName<LoadedRecords>(READ_FIRST, (name) => [...one[name], ...other[name]])
}

/** The answers of an empty store. */
export const noneStored = (readSet: ReadSet): LoadedRecords => loadedRecordsFrom(readSet, () => null)
