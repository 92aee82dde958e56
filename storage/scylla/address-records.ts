import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { Key as StoreKey } from '../codec/keys.ts'
import type { RecordKind } from '../codec/record.ts'
import type { ScyllaBase } from './base.ts'
import { blob } from './client.ts'
import type { CqlRow } from './client.ts'
import { RecordTable } from './records.ts'

export interface AddressLayout<T> {
  readonly table: string
  /** The column of the address, which is all of the key. */
  readonly column: string
  readonly kind: RecordKind<T>
  readonly storeKey: (address: Pubkey) => StoreKey
}

/** Records by one address. */
export class AddressRecords<T> extends RecordTable<Pubkey, T> {
  constructor(base: ScyllaBase, { table, column, kind, storeKey }: AddressLayout<T>) {
    super(base, {
      table,
      partition: [column],
      clustering: [],
      kind,
      values: (address) => [blob(address)],
      storeKey,
      keyOf: (row) => addressIn(row, column)
    })
  }
}

/** The address in a column, copied: the row's buffer is a part of the whole response frame. */
export const addressIn = (row: CqlRow, column: string): Pubkey => new Uint8Array(row[column] as Buffer)
