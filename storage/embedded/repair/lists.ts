import { pubkeyMapKey, samePubkey, type Pubkey } from '../../../src/chain/pubkey.ts'
import { COPY_OFFSETS } from '../../../src/market/cursor.ts'
import type { TradeRow } from '../../../src/market/rows.ts'
import { addressIn, keyAfter, keysFrom, keysOf, pageKey, type Key, type KeyRange } from '../../codec/keys.ts'
import type { Level } from '../level.ts'
import { isMade, poolEventPages, tradePages, walletPages } from '../row-lists.ts'
import type { View } from '../view.ts'
import { WriteBatch } from '../write-batch.ts'
import { overlap, type Letter, type LostRange } from './lost-records.ts'

type List = 't' | 'w' | 'e'

/** Rows of lost pages, by list and by owner. An owner with lost pages is included, even without rows. */
export type LostRows = Readonly<
  Record<List, Map<string, { readonly owner: Pubkey; readonly rows: TradeRow[] }>>
>

/**
 * Finds the rows of lost pages in the other list that has them: a trade is stored under its mint and under its wallet. Holds
 * the rows in memory, some kilobytes for each damaged block.
 */
export async function collectLostRows(
  source: Level,
  lost: readonly LostRange[],
  {
    letters,
    isLost,
    isReferred
  }: {
    readonly letters: ReadonlySet<Letter>
    readonly isLost: (key: Key) => boolean
    /** Whether wallets' lists refer to those of mints, so that no other list has a row. */
    readonly isReferred: boolean
  }
): Promise<LostRows> {
  const found: LostRows = { t: new Map(), w: new Map(), e: new Map() }
  for (const list of ['t', 'w', 'e'] as const) {
    if (!letters.has(list)) continue
    for await (const key of source.keys(keysOf(list))) {
      const owner = addressIn(key)
      if (lost.some(({ keys }) => overlap(keys, pagesOf(list, owner)))) rowsOf(found, list, owner)
    }
  }
  if (isReferred) return found
  const windows = {
    t: await windowsOf(source, 't', lost, isLost),
    w: await windowsOf(source, 'w', lost, isLost)
  }
  if (windows.t.length > 0)
    for await (const [key, value] of source.iterator(keysOf('w'))) {
      if (isLost(key)) continue
      for (const made of walletPages.rowsIn(key, value))
        for (const row of listedRows(made)) take('t', row.mint, row)
    }
  if (windows.w.length > 0)
    for await (const [key, value] of source.iterator(keysOf('t'))) {
      if (isLost(key)) continue
      for (const row of tradePages.rowsIn(key, value)) if (isMade(row)) take('w', row.user, row)
    }
  return found

  function take(list: 't' | 'w', owner: Pubkey, row: TradeRow): void {
    const key = pageKey(list, owner, row.cursor)
    const place = { gte: key, lt: keyAfter(key) }
    if (windows[list].some((window) => overlap(window, place))) rowsOf(found, list, owner).push(row)
  }
}

/** Writes the lists that have lost pages. */
export async function mendLists(target: Level, view: View, found: LostRows): Promise<void> {
  for (const { owner, rows } of found.t.values())
    await inBatch(target, (batch) => tradePages.mend(view, batch, owner, rows))
  for (const { owner, rows } of found.w.values())
    await inBatch(target, (batch) => walletPages.mend(view, batch, owner, rows))
  for (const { owner } of found.e.values())
    await inBatch(target, (batch) => poolEventPages.mend(view, batch, owner, []))
}

async function inBatch(target: Level, stage: (batch: WriteBatch) => Promise<void>): Promise<void> {
  const batch = new WriteBatch(target)
  await stage(batch)
  await batch.write()
}

/** A row under each mint that its trade is listed under: without a cash side, these are two. */
function listedRows(made: TradeRow): TradeRow[] {
  if (made.cashSide !== null || samePubkey(made.inMint, made.outMint)) return [made]
  const { tradesOut } = COPY_OFFSETS.swap
  return [made, { ...made, mint: made.outMint, cursor: made.cursor + tradesOut }]
}

/**
 * The keys between the sound pages around each lost range. Rows of a lost page are in one of these ranges: a page's key is
 * its first row, and the open page's key is beyond all rows.
 */
async function windowsOf(
  source: Level,
  list: List,
  lost: readonly LostRange[],
  isLost: (key: Key) => boolean
): Promise<KeyRange[]> {
  const all = keysOf(list)
  const windows: KeyRange[] = []
  for (const { keys } of lost) {
    if (!overlap(keys, all)) continue
    const before = await firstSound({ gte: all.gte, lt: least(keys.gte, all.lt) }, true)
    const next = await firstSound({ gte: greatest(keys.lt, all.gte), lt: all.lt }, false)
    windows.push({ gte: before ?? all.gte, lt: next ?? all.lt })
  }
  return windows

  async function firstSound(range: KeyRange, reverse: boolean): Promise<Key | null> {
    for await (const key of source.keys({ ...range, reverse })) if (!isLost(key)) return key
    return null
  }
}

const pagesOf = (list: List, owner: Pubkey): KeyRange => keysFrom(Buffer.concat([Buffer.from(list), owner]))
const least = (a: Key, b: Key): Key => (Buffer.compare(a, b) < 0 ? a : b)
const greatest = (a: Key, b: Key): Key => (Buffer.compare(a, b) < 0 ? b : a)

function rowsOf(found: LostRows, list: List, owner: Pubkey): TradeRow[] {
  const key = pubkeyMapKey(owner)
  const known = found[list].get(key)
  if (known !== undefined) return known.rows
  const rows: TradeRow[] = []
  found[list].set(key, { owner, rows })
  return rows
}
