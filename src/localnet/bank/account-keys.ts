import { samePubkey } from '../../chain/pubkey.ts'
import { staticKey } from '../../chain/wire.ts'
import type { WireTransaction } from '../../chain/wire.ts'
import type { LocalAccount } from '../chain.ts'
import { LOOKUP_TABLE } from '../programs.ts'

/** The accounts of a transaction: static keys, then loaded writable ones, then loaded readonly ones. */
export interface AccountKeys {
  readonly all: readonly Uint8Array[]
  readonly loadedWritable: readonly Uint8Array[]
  readonly loadedReadonly: readonly Uint8Array[]
  /** Tells whether the transaction may change the account at an index. */
  isWritable(index: number): boolean
}

/** Offset of the addresses in a lookup table's data. */
const TABLE_HEAD_BYTES = 56

/**
 * Resolves a transaction's accounts; null if a lookup table is missing or too short, which the engine then reports.
 */
export function accountKeysOf(
  wire: WireTransaction,
  accountOf: (address: Uint8Array) => LocalAccount | null
): AccountKeys | null {
  const keys = Array.from({ length: wire.keyCount }, (_, index) => staticKey(wire, index))
  const loadedWritable: Uint8Array[] = []
  const loadedReadonly: Uint8Array[] = []
  for (const lookup of wire.lookups) {
    const table = accountOf(lookup.table)
    if (table === null || !samePubkey(table.owner, LOOKUP_TABLE)) return null
    const load = (indexes: Uint8Array, into: Uint8Array[]): boolean =>
      indexes.every((index) => {
        const start = TABLE_HEAD_BYTES + index * 32
        into.push(table.data.slice(start, start + 32))
        return start + 32 <= table.data.length
      })
    if (!load(lookup.writable, loadedWritable) || !load(lookup.readonly, loadedReadonly)) return null
  }
  const { signatures, readonlySigned, readonlyUnsigned } = wire.header
  const writableEnd = wire.keyCount + loadedWritable.length
  return {
    all: [...keys, ...loadedWritable, ...loadedReadonly],
    loadedWritable,
    loadedReadonly,
    isWritable: (index) => {
      if (index >= wire.keyCount) return index < writableEnd
      return index < signatures
        ? index < signatures - readonlySigned
        : index < wire.keyCount - readonlyUnsigned
    }
  }
}
