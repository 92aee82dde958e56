import type { MintChanges } from '../../src/holders/balance-changes.ts'
import { NewestOfLog, packBlock, unpackBlock } from '../../src/holders/list-log.ts'
import { ListOverlay } from '../../src/holders/list-overlay.ts'
import {
  disagreement,
  foldedAccounts,
  foldedOwners,
  loggedBlock,
  ownersIn,
  SUMS_KEY,
  sumsRow,
  type FoldedRows
} from '../../src/holders/list-rows.ts'
import {
  BASE_SLOT,
  changeKey,
  slotInChangeKey,
  unpackBalance,
  unpackOwner,
  unpackSlotSums
} from '../../src/holders/row-bytes.ts'
import type { HolderListId, HolderRow, HolderRowKey, HolderStore, PresentRow } from '../../storage/port.ts'
import type { RecentRows } from './recent-rows.ts'

/** Rows of one durable write. */
export const WRITE_ROWS = 1_000
/** Blocks of a log that are read at a time. */
const CHANGES_AT_ONCE = 100
/**
 * Folded blocks that leave a log with one delete. A cluster applies as many at once: the rest of a log must end with its
 * newest blocks.
 */
const FORGOTTEN_AT_ONCE = 100
/** Accounts or owners whose rows are read and folded at a time: at most three rows each. */
const FOLDED_AT_ONCE = 300

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
 * Stores a block's changes of a list that is complete up to the block before, as one row of its log. `overlay` has the values
 * of the log. Resolves with the list's number of accounts, or with the fault by which the block does not follow the list; then
 * nothing is stored. Rejects with the store's error.
 */
export async function storeBlock(
  store: RecentRows,
  list: HolderListId,
  overlay: ListOverlay,
  slot: number,
  { accounts: changed, fault }: MintChanges
): Promise<{ readonly accounts: number } | { readonly fault: string }> {
  if (fault !== null) return { fault }
  const changes = [...changed.values()]
  const [sums, accounts] = await Promise.all([
    overlay.sums?.sums ?? sumsOf(store, list),
    known(
      changes.map(({ account }) => account),
      (account) => overlay.account(account),
      async (keys) => (await store.at(list, 'account', keys)).map((row) => row && unpackBalance(row.value))
    )
  ])
  if (sums === null) return { fault: 'its stored rows are lost' }
  const disagrees = disagreement(accounts, changes)
  if (disagrees !== null) return { fault: disagrees }
  const ownersOf = [...ownersIn(changes, accounts)]
  const balances = await known(
    ownersOf.map(([, owner]) => owner),
    (owner) => overlay.owner(owner),
    async (keys) => (await store.at(list, 'owner', keys)).map((row) => row && unpackOwner(row.value))
  )
  const owners = new Map(ownersOf.map(([key], i) => [key, balances[i] ?? null]))
  const block = loggedBlock({ sums, accounts, owners }, changes, slot)
  if (block === null) return { accounts: sums.accounts }
  await store.put(list, [{ kind: 'change', key: changeKey(slot), slot, value: packBlock(block) }])
  overlay.apply(block)
  return { accounts: block.sums.accounts }
}

async function sumsOf(store: RecentRows, list: HolderListId) {
  const [row] = await store.at(list, 'sums', [SUMS_KEY])
  return row == null ? null : unpackSlotSums(row.value).sums
}

/** The values of keys in their order: those of the log, and others from the snapshot. */
async function known<T>(
  keys: readonly Uint8Array[],
  inLog: (key: Uint8Array) => T | null | undefined,
  inSnapshot: (keys: readonly Uint8Array[]) => Promise<(T | null)[]>
): Promise<(T | null)[]> {
  const logged = keys.map(inLog)
  const rest = keys.filter((_, i) => logged[i] === undefined)
  const read = rest.length === 0 ? [] : await inSnapshot(rest)
  let next = 0
  return logged.map((value) => (value === undefined ? (read[next++] ?? null) : value))
}

/** Tells whether a list's snapshot exists: a damaged store is emptied. */
export async function isStored(store: HolderStore, list: HolderListId): Promise<boolean> {
  const [sums] = await store.at(list, 'sums', BASE_SLOT, [SUMS_KEY])
  return sums != null
}

/** Rolls back the blocks of a list after a slot: of its log, for no later block is folded. Returns the values of the rest. */
export async function rollBack(
  store: HolderStore,
  list: HolderListId,
  afterSlot: number
): Promise<ListOverlay> {
  const overlay = new ListOverlay()
  const lost: HolderRowKey[] = []
  for await (const { kind, key, slot, value } of changesOf(store, list))
    if (slot > afterSlot) lost.push({ kind, key, slot })
    else overlay.apply(unpackBlock(slot, value))
  await inPieces(lost, (rows) => store.drop(list, rows))
  return overlay
}

/**
 * Folds the blocks of a list's log up to a slot into its snapshot. Readers no longer read before that slot. The log keeps the
 * blocks until all of their rows are durable, and their values take the place of the snapshot's meanwhile. So a fold that
 * dies in the middle changes nothing for readers. It is repeated up to the same slot before any other: otherwise a row by
 * amount that it has written could stay.
 */
export async function fold(
  store: RecentRows,
  log: HolderStore,
  list: HolderListId,
  overlay: ListOverlay,
  upToSlot: number
): Promise<void> {
  const folded = new NewestOfLog()
  const done: HolderRowKey[] = []
  for await (const { kind, key, slot, value } of changesOf(log, list)) {
    if (slot > upToSlot) break
    folded.add(slot, value)
    done.push({ kind, key, slot })
  }
  const { sums } = folded
  if (sums === null) return
  await inPieces(
    folded.accounts,
    async (accounts) => {
      const keys = accounts.map(({ account }) => account)
      const before = await store.at(list, 'account', keys)
      await write(
        store,
        list,
        foldedAccounts(
          accounts,
          before.map((row) => row && unpackBalance(row.value))
        )
      )
    },
    FOLDED_AT_ONCE
  )
  await inPieces(
    folded.owners,
    async (owners) => {
      const keys = owners.map(({ owner }) => owner)
      const before = await store.at(list, 'owner', keys)
      await write(
        store,
        list,
        foldedOwners(
          owners,
          before.map((row) => row && unpackOwner(row.value))
        )
      )
    },
    FOLDED_AT_ONCE
  )
  await store.put(list, [sumsRow(sums)])
  await inPieces(done, (rows) => store.drop(list, rows), FORGOTTEN_AT_ONCE)
  overlay.forgetUpTo(upToSlot)
}

async function write(store: RecentRows, list: HolderListId, { ranks, rows }: FoldedRows): Promise<void> {
  for (const { put, drop } of [ranks, rows]) {
    if (put.length > 0) await store.put(list, put)
    if (drop.length > 0) await store.drop(list, drop)
  }
}

/** Yields the blocks of a log, the oldest first. */
async function* changesOf(store: HolderStore, list: HolderListId): AsyncGenerator<PresentRow> {
  for (let after: Uint8Array | undefined; ;) {
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

async function inPieces<T>(
  items: readonly T[],
  run: (items: readonly T[]) => Promise<void>,
  size = WRITE_ROWS
): Promise<void> {
  for (let from = 0; from < items.length; from += size) await run(items.slice(from, from + size))
}
