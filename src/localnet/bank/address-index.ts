import { readWire } from '../../chain/wire.ts'
import type { ExecutedTransaction } from '../chain.ts'
import { unpackTransaction, wireIn, type PackedBlock } from './block-records.ts'

/** Returns the addresses of a transaction's accounts. */
export function addressesOf({ wire, meta }: ExecutedTransaction): Uint8Array[] {
  const read = readWire(wire)
  if (read.kind === 'unreadable') return []
  const { keys, keyCount } = read.wire
  const fixed = Array.from({ length: keyCount }, (_, index) => keys.subarray(index * 32, index * 32 + 32))
  return [...fixed, ...meta.loadedWritable, ...meta.loadedReadonly]
}

/** Above the number of transactions in any block. */
export const INDEXES = 2 ** 21

/** Returns four bytes of an address. They rarely collide within a block; a collision costs only time. */
export function addressPrefix(address: Uint8Array): number {
  return prefixAt(address, 0)
}

function prefixAt(keys: Uint8Array, start: number): number {
  const high = (keys[start + 4]! << 8) | keys[start + 5]!
  const low = (keys[start + 6]! << 8) | keys[start + 7]!
  return (high * 65_536 + low) * INDEXES
}

/** Returns sorted numbers with an address prefix in the upper half and a transaction's index in the lower. */
export function addressIndexOf(packed: PackedBlock): Float64Array {
  const entries = new Set<number>()
  for (let index = 0; index < packed.offsets.length; index++) {
    const read = readWire(wireIn(packed, index))
    if (read.kind === 'unreadable') continue
    const { keys, lookups } = read.wire
    for (let start = 0; start < keys.length; start += 32) entries.add(prefixAt(keys, start) + index)
    if (lookups.length === 0) continue
    const { meta } = unpackTransaction(packed, index)
    for (const loaded of [meta.loadedWritable, meta.loadedReadonly])
      for (const address of loaded) entries.add(prefixAt(address, 0) + index)
  }
  return Float64Array.from(entries).sort()
}

/** Returns the indexes of transactions with a prefix, the last first. */
export function transactionsAt(index: Float64Array, prefix: number): number[] {
  let low = 0
  let end = index.length
  while (low < end) {
    const middle = (low + end) >>> 1
    if (index[middle]! < prefix) low = middle + 1
    else end = middle
  }
  const found: number[] = []
  for (; low < index.length && index[low]! < prefix + INDEXES; low++) found.push(index[low]! - prefix)
  return found.reverse()
}
