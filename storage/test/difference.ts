import { isDeepStrictEqual } from 'node:util'
import type { Amendment, Edit, RecordEdits } from '../../src/market/amendment.ts'
import { addressOf, byName, MANY, rowText } from '../../src/market/records.ts'
import type { AddressOf, ManyName, RowOf } from '../../src/market/records.ts'
import type { StorageModel } from './model.ts'

/** Builds the amendment that turns a store with one model's content into that of another, which then lists the pools put. */
export function differenceBetween(from: StorageModel, to: StorageModel): Amendment {
  const edits = byName<RecordEdits>(MANY, (name) => editOf(name, from, to))
  const pools = { ...edits.pools, put: [...edits.pools.put, ...poolsListedOrUnlisted(from, to)] }
  for (const pool of pools.put) to.list(pool)
  const before = new Map(from.slots.map((row) => [row.slot, row]))
  const after = new Set(to.slots.map(({ slot }) => slot))
  return {
    head: to.head(),
    slots: {
      put: to.slots.filter((row) => !isDeepStrictEqual(before.get(row.slot), row)),
      remove: [...before.keys()].filter((slot) => !after.has(slot))
    },
    ...edits,
    pools,
    ...to.rows.singles,
    kept: { put: [], remove: [] }
  }
}

function editOf<Name extends ManyName>(
  name: Name,
  from: StorageModel,
  to: StorageModel
): Edit<RowOf<Name>, AddressOf<Name>> {
  const [before, after] = [from.rows.maps[name], to.rows.maps[name]]
  return {
    put: to.rows.all(name).filter((row) => !isDeepStrictEqual(before.get(rowText(name, row)), row)),
    remove: from.rows
      .all(name)
      .filter((row) => !after.has(rowText(name, row)))
      .map((row) => addressOf(name, row))
  }
}

/** Pools that are equal in both, and listed in one. */
const poolsListedOrUnlisted = (from: StorageModel, to: StorageModel) =>
  to.rows
    .all('pools')
    .filter(
      (row) => isDeepStrictEqual(from.get('pools', row.pool), row) && from.isListed(row) !== to.isListed(row)
    )
