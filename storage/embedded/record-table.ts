import type { Amendment, Edit, RecordEdits } from '../../src/market/amendment.ts'
import { addressOf } from '../../src/market/records.ts'
import type {
  AddressOf,
  KeyedName,
  RecordName,
  RecordRows,
  RowOf,
  SingleName
} from '../../src/market/records.ts'
import { storedRecord } from '../codec/records.ts'
import type { AddressedName, StoredName } from '../codec/records.ts'
import type { BlockCommit, RecordStores } from '../port.ts'
import type { Database } from './database.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { View } from './view.ts'
import type { WriteBatch } from './write-batch.ts'

/** A record in the embedded store: its reads, and the writes that it adds to a batch. */
export interface RecordTable<Name extends RecordName> {
  readonly port: RecordStores[Name]
  /** Stages the changes of a block. */
  stage(view: View, batch: WriteBatch, block: BlockCommit): MaybePromise<void>
  /**
   * Stages the changes of many blocks, whose rows are not read in the near future: they are cached only as far as the next
   * blocks need it. By default like `stage`.
   */
  stageMany?(view: View, batch: WriteBatch, blocks: BlockCommit): MaybePromise<void>
  /** Stages the changes of an amendment. */
  amend(view: View, batch: WriteBatch, amendment: Amendment): MaybePromise<void>
}

type KeyedStoredName = StoredName & KeyedName

/** Rows each under the key of their address. */
export class KeyedRows<Name extends KeyedStoredName> {
  readonly #name: Name

  constructor(name: Name) {
    this.#name = name
  }

  get(view: View, address: AddressOf<Name>): RowOf<Name> | null {
    const { kind, keyOf } = storedRecord(this.#name)
    return view.get(kind, keyOf(address))
  }

  /** The rows at the addresses, in their order. */
  getMany(view: View, addresses: readonly AddressOf<Name>[]): MaybePromise<(RowOf<Name> | null)[]> {
    const { kind, keyOf } = storedRecord(this.#name)
    return view.getMany(kind, addresses.map(keyOf))
  }

  put(batch: WriteBatch, rows: readonly RowOf<Name>[]): void {
    const { kind, keyOf } = storedRecord(this.#name)
    for (const row of rows) batch.put(kind, keyOf(addressOf(this.#name, row)), row)
  }

  putUncached(batch: WriteBatch, rows: readonly RowOf<Name>[]): void {
    const { kind, keyOf } = storedRecord(this.#name)
    for (const row of rows) batch.putUncached(kind, keyOf(addressOf(this.#name, row)), row)
  }

  amend(batch: WriteBatch, { put, remove }: Edit<RowOf<Name>, AddressOf<Name>>): void {
    const { keyOf } = storedRecord(this.#name)
    for (const address of remove) batch.delete(keyOf(address))
    this.put(batch, put)
  }
}

/** A record of shape `latest` that has no store of its own. */
export function latestTable<Name extends AddressedName>(database: Database, name: Name): RecordTable<Name> {
  const rows = new KeyedRows(name)
  const store = { get: (address: AddressOf<Name>) => database.read((view) => rows.get(view, address)) }
  return {
    port: store as RecordStores[Name],
    stage: (_, batch, block: RecordRows) => rows.put(batch, block[name]),
    amend: (_, batch, amendment: RecordEdits) => rows.amend(batch, amendment[name])
  }
}

/** A record of shape `single`. */
export function singleTable<Name extends SingleName>(database: Database, name: Name): RecordTable<Name> {
  const { kind, keyOf } = storedRecord(name)
  const key = keyOf(null as AddressOf<Name>)
  return {
    port: { get: () => database.read((view) => view.get(kind, key)) },
    stage(_, batch, { [name]: row }) {
      if (row !== null) batch.put(kind, key, row)
    },
    amend(_, batch, { [name]: row }) {
      if (row === null) batch.delete(key)
      else batch.put(kind, key, row)
    }
  }
}
