import type { MintChanges } from '../../src/holders/balance-changes.ts'
import { changedRows, disagreement, ownersIn, SUMS_KEY, type Known } from '../../src/holders/list-rows.ts'
import {
  changeKey,
  slotInChangeKey,
  unpackBalance,
  unpackChanges,
  unpackOwner,
  unpackSums
} from '../../src/holders/row-bytes.ts'
import type { HolderListId, HolderRow, HolderRowKey, HolderStore, PresentRow } from '../../storage/port.ts'
import type { RecentRows } from './recent-rows.ts'

/** Rows of one durable write. */
export const WRITE_ROWS = 1_000
/** Rows of kind `change` that are read at a time. */
const CHANGES_AT_ONCE = 100

/** Writes rows in bounded pieces, in their order. */
export async function writeRows(
  store: Pick<HolderStore, 'put'>,
  list: HolderListId,
  rows: readonly HolderRow[]
): Promise<void> {
  for (let from = 0; from < rows.length; from += WRITE_ROWS)
    await store.put(list, rows.slice(from, from + WRITE_ROWS))
}

/**
 * Stores a block's changes of a list that is complete up to the block before. Resolves with the list's number of accounts,
 * or with the fault by which the block does not follow the list; then nothing is stored. Rejects with the store's error.
 */
export async function storeBlock(
  store: RecentRows,
  list: HolderListId,
  slot: number,
  { accounts: changed, fault }: MintChanges
): Promise<{ readonly accounts: number } | { readonly fault: string }> {
  if (fault !== null) return { fault }
  const before = slot - 1
  const changes = [...changed.values()]
  const keys = changes.map(({ account }) => account)
  const [[sums], rowsOfAccounts] = await Promise.all([
    store.at(list, 'sums', before, [SUMS_KEY]),
    store.at(list, 'account', before, keys)
  ])
  if (sums == null) return { fault: 'its stored rows are lost' }
  const accounts = rowsOfAccounts.map((row) => knownOf(row, unpackBalance))
  const disagrees = disagreement(accounts, changes)
  if (disagrees !== null) return { fault: disagrees }
  const ownersOf = [...ownersIn(changes, accounts)]
  const rowsOfOwners = await store.at(
    list,
    'owner',
    before,
    ownersOf.map(([, owner]) => owner)
  )
  const owners = new Map(ownersOf.map(([key], i) => [key, knownOf(rowsOfOwners[i] ?? null, unpackOwner)]))
  const known = { sums: { value: unpackSums(sums.value), slot: sums.slot }, accounts, owners }
  await writeRows(store, list, changedRows(known, changes, slot))
  let count = known.sums.value.accounts
  for (const [i, { after }] of changes.entries())
    count += (after === null ? 0 : 1) - (accounts[i] == null ? 0 : 1)
  return { accounts: count }
}

const knownOf = <T>(row: PresentRow | null, unpack: (bytes: Uint8Array) => T): Known<T> =>
  row && { value: unpack(row.value), slot: row.slot }

/** Tells whether a list's rows exist: a damaged store is emptied. */
export async function isStored(store: HolderStore, list: HolderListId, slot: number): Promise<boolean> {
  const [sums] = await store.at(list, 'sums', slot, [SUMS_KEY])
  return sums != null
}

/** Rolls back the blocks of a list after a slot. */
export async function rollBack(store: HolderStore, list: HolderListId, afterSlot: number): Promise<void> {
  for await (const change of changesOf(store, list, afterSlot)) {
    const { slot } = change
    const rows = unpackChanges(change.value).map(({ kind, key }) => ({ kind, key, slot }))
    await dropRows(store, list, rows)
    // The row that names the others goes last.
    await store.drop(list, [change])
  }
}

/** Deletes the versions of a list that slots up to the given one have superseded: later slots do not need them. */
export async function prune(store: HolderStore, list: HolderListId, upToSlot: number): Promise<void> {
  // Several blocks together: a write for each would take longer than its rows.
  let rows: HolderRowKey[] = []
  let done: PresentRow[] = []
  const drop = async (): Promise<void> => {
    await dropRows(store, list, rows)
    // Those that name the others go last.
    await dropRows(store, list, done)
    rows = []
    done = []
  }
  for await (const change of changesOf(store, list, -1)) {
    const { slot, value } = change
    if (slot > upToSlot) break
    for (const { kind, key, isGone, earlierSlot } of unpackChanges(value)) {
      if (earlierSlot !== null) rows.push({ kind, key, slot: earlierSlot })
      if (isGone) rows.push({ kind, key, slot })
    }
    done.push(change)
    if (rows.length >= WRITE_ROWS) await drop()
  }
  await drop()
}

async function* changesOf(
  store: HolderStore,
  list: HolderListId,
  afterSlot: number
): AsyncGenerator<PresentRow> {
  let after = afterSlot < 0 ? undefined : changeKey(afterSlot)
  for (;;) {
    const { rows, hasMore } = await store.page(list, 'change', {
      slot: Number.MAX_SAFE_INTEGER,
      after,
      limit: CHANGES_AT_ONCE
    })
    yield* rows
    if (!hasMore) return
    after = changeKey(slotInChangeKey(rows.at(-1)!.key))
  }
}

async function dropRows(
  store: HolderStore,
  list: HolderListId,
  rows: readonly HolderRowKey[]
): Promise<void> {
  for (let from = 0; from < rows.length; from += WRITE_ROWS)
    await store.drop(list, rows.slice(from, from + WRITE_ROWS))
}
