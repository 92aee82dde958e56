import type { LoadedRecords, ReadSet } from './read-set.ts'
import { addressOf, addressText, byName, KEYED, READ_FIRST } from './records.ts'
import type { AddressOf, BlockRows, KeyedName, RowOf } from './records.ts'

/** Rows by address, with the addresses; null for an address known to have no row. */
export class RecordMap<Name extends KeyedName> {
  readonly #name: Name
  readonly #entries = new Map<string, { readonly address: AddressOf<Name>; row: RowOf<Name> | null }>()

  constructor(name: Name) {
    this.#name = name
  }

  /** Undefined if the row was neither loaded nor set. */
  get(address: AddressOf<Name>): RowOf<Name> | null | undefined {
    return this.#entries.get(addressText(this.#name, address))?.row
  }

  set(address: AddressOf<Name>, row: RowOf<Name> | null): void {
    const text = addressText(this.#name, address)
    const known = this.#entries.get(text)
    if (known === undefined) this.#entries.set(text, { address, row })
    else known.row = row
  }

  /** Sets a row unless the address is known. */
  setFirst(address: AddressOf<Name>, row: RowOf<Name> | null): void {
    if (!this.#entries.has(addressText(this.#name, address))) this.set(address, row)
  }

  /** In the order in which they were first set. */
  *[Symbol.iterator](): Iterator<[AddressOf<Name>, RowOf<Name> | null]> {
    for (const { address, row } of this.#entries.values()) yield [address, row]
  }
}

type RecordMaps = { readonly [Name in KeyedName]: RecordMap<Name> }

/** All known rows of records with addresses. */
export class MarketRecords {
  readonly #maps = byName<RecordMaps>(KEYED, (name) => new RecordMap(name))

  of<Name extends KeyedName>(name: Name): RecordMap<Name> {
    return this.#maps[name]
  }

  /** Sets all rows that a block changes. */
  take(block: BlockRows): void {
    for (const name of KEYED) for (const row of block[name]) this.of(name).set(addressOf(name, row), row)
  }

  /** Sets the loaded rows whose addresses are not known. */
  takeFirst(loaded: LoadedRecords): void {
    for (const name of READ_FIRST)
      for (const { address, row } of loaded[name]) this.of(name).setFirst(address, row)
  }

  /** Returns the addresses that are not known here. */
  unknownOf(readSet: ReadSet): ReadSet {
    return byName<ReadSet>(READ_FIRST, (name) =>
      readSet[name].filter((address) => this.of(name).get(address) === undefined)
    )
  }

  /** Returns the known rows at the addresses to read; addresses that are not known are left out. */
  knownOf(readSet: ReadSet): LoadedRecords {
    return byName<LoadedRecords>(READ_FIRST, (name) =>
      readSet[name].flatMap((address) => {
        const row = this.of(name).get(address)
        return row === undefined ? [] : [{ address, row }]
      })
    )
  }
}
