import type { Edit, RecordEdits, SingleRows } from '../../src/market/amendment.ts'
import { addressOf } from '../../src/market/records.ts'
import type { AddressOf, RowOf, SingleName } from '../../src/market/records.ts'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import { addressedRecord, storedRecord, tableOf } from '../codec/records.ts'
import type { AddressedName } from '../codec/records.ts'
import type { RecordStores, SingleStore } from '../port.ts'
import { AddressRecords } from './address-records.ts'
import type { ScyllaBase } from './base.ts'
import type { TableCommit } from './commit.ts'
import { RecordTable } from './records.ts'
import type { Table } from './table.ts'

/** The rows of a record by an address of the chain, in the table of its name. */
export class AddressedRows<Name extends AddressedName> extends AddressRecords<RowOf<Name>> {
  readonly #name: Name

  constructor(base: ScyllaBase, name: Name) {
    const { kind, keyOf, column } = addressedRecord(name)
    super(base, { table: tableOf(name), column, kind, storeKey: keyOf })
    this.#name = name
  }

  /** Puts rows in place of those of their addresses; an address may come once. */
  put(commit: TableCommit, rows: readonly RowOf<Name>[]): Promise<void> {
    return this.stage(
      commit,
      rows.map((value) => ({ key: addressOf(this.#name, value), value }))
    )
  }

  async amend(commit: TableCommit, { put, remove }: Edit<RowOf<Name>, Pubkey>): Promise<void> {
    await this.put(commit, put)
    await this.remove(commit, remove)
  }
}

/** A record of shape `latest` that has no store of its own. */
export function latestTable<Name extends AddressedName>(
  base: ScyllaBase,
  name: Name
): Table<RecordStores[Name]> {
  const rows = new AddressedRows(base, name)
  const store = { get: (address: Pubkey) => rows.get(address) }
  return {
    port: store as RecordStores[Name],
    stage: (commit) => rows.put(commit, commit.blocks[name]),
    amend: (commit, amendment: RecordEdits) => rows.amend(commit, amendment[name])
  }
}

/** The key of a record of one row. */
const CHAIN = 'solana'

/** A record of shape `single`: a table of one row. */
export function singleTable<Name extends SingleName>(base: ScyllaBase, name: Name): Table<SingleStore<Name>> {
  const { kind, keyOf } = storedRecord(name)
  const table = new RecordTable(base, {
    table: name,
    partition: ['chain'],
    clustering: [],
    kind,
    values: (chain: string) => [chain],
    storeKey: () => keyOf(null as AddressOf<Name>),
    keyOf: (row) => row['chain'] as string
  })
  return {
    port: { get: () => table.get(CHAIN) },
    async stage(commit) {
      const value = commit.blocks[name]
      if (value !== null) await table.stage(commit, [{ key: CHAIN, value }])
    },
    amend: (commit, { [name]: value }: SingleRows) =>
      value === null ? table.remove(commit, [CHAIN]) : table.stage(commit, [{ key: CHAIN, value }])
  }
}
