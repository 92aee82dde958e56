import { pubkeyMapKey } from '../chain/pubkey.ts'
import { pairKey } from './pairs.ts'
import { addressText, byName, LATEST, READ_FIRST } from './records.ts'
import type { AddressOf, ReadName, RowOf } from './records.ts'
import type { Touched } from './touched.ts'

/** The addresses that the store must be asked for before a block can be folded. */
export type Missing = { readonly [Name in ReadName]: readonly AddressOf<Name>[] }

/** A row at its address; null where there is none. */
export interface Stored<Name extends ReadName> {
  readonly address: AddressOf<Name>
  readonly row: RowOf<Name> | null
}

/** The store's answers. */
export type Loaded = { readonly [Name in ReadName]: readonly Stored<Name>[] }

/** Whether a block changes, or may change, any of the addresses. */
export function isTouched(missing: Missing, touched: Touched): boolean {
  const owners = { mint: touched.tokens, pool: touched.pools }
  return (
    LATEST.some((name) => missing[name].some((address) => touched[name].has(addressText(name, address)))) ||
    missing.candles.some(({ mint, cash }) => touched.pairs.has(pairKey(mint, cash))) ||
    missing.activity.some(({ of, owner }) => of === 'market' || owners[of].has(pubkeyMapKey(owner)))
  )
}

/** The answers of a store that has the row of each address from `get`. */
export function loadedFrom(
  missing: Missing,
  get: <Name extends ReadName>(name: Name, address: AddressOf<Name>) => RowOf<Name> | null
): Loaded {
  return byName<Loaded>(READ_FIRST, (name) =>
    missing[name].map((address) => ({ address, row: get(name, address) }))
  )
}

/** The answers of an empty store. */
export const noneStored = (missing: Missing): Loaded => loadedFrom(missing, () => null)
