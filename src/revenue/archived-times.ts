import type { LedgerStore } from '../../storage/port/ledger.ts'
import { numberedOf, PAGES, piecesOf, slotsOf, TAIL } from './sum-ranges.ts'
import { markIn } from './sum-mark.ts'
import { sumsIn } from './packed-page.ts'

/** Block times, unix seconds: `from` is included, `to` is not. */
export interface TimeWindow {
  readonly from: number
  readonly to: number
}

/** Pages of one read. */
const PAGES_PER_READ = 64

/**
 * Returns the first and the last slot with pages of an owner between two block times, or null. Sums state the
 * time of their newest entry, so that a few reads of them find a slot.
 */
export async function slotsBetween(
  store: LedgerStore,
  owner: string,
  { from, to }: TimeWindow
): Promise<{ readonly from: number; readonly to: number } | null> {
  const [newest] = await store.pages(owner, { from: 0, to: SLOT_END, order: 'desc', limit: 1 })
  if (newest === undefined) return null
  const first = await firstSlotAt(store, owner, from)
  const end = to === Infinity ? null : await firstSlotAt(store, owner, to)
  const last = end === null ? newest.slot : end - 1
  return first === null || first > last ? null : { from: first, to: last }
}

const SLOT_END = Number.MAX_SAFE_INTEGER

/** Returns the first slot with a page whose block time is at or after a time, unix seconds; null if all pages are earlier. */
async function firstSlotAt(store: LedgerStore, owner: string, time: number): Promise<number | null> {
  const [value] = await store.marks([owner])
  const { sealedTo } = markIn(value!)
  for (const { level, from, to } of piecesOf(0, SLOT_END, sealedTo)) {
    if (level === TAIL) return firstInPages(store, owner, from, SLOT_END, time)
    const found = await firstIn(store, owner, level, from, to, time)
    if (found !== null) return found
  }
  return null
}

async function firstIn(
  store: LedgerStore,
  owner: string,
  level: number,
  from: number,
  to: number,
  time: number
): Promise<number | null> {
  if (level === PAGES) return firstInPages(store, owner, from, to, time)
  const sums = (await store.sums(owner, level, from, to)).map(numberedOf)
  const range = sums.find(({ sums: { lastAt } }) => lastAt >= time)
  if (range === undefined) return null
  const children = slotsOf(level) / slotsOf(level - 1)
  const first = range.number * children
  return firstIn(store, owner, level - 1, first, first + children, time)
}

async function firstInPages(
  store: LedgerStore,
  owner: string,
  from: number,
  to: number,
  time: number
): Promise<number | null> {
  for (let next = from; next < to;) {
    const pages = await store.pages(owner, { from: next, to: to - 1, order: 'asc', limit: PAGES_PER_READ })
    const found = pages.find(({ value }) => sumsIn(value).lastAt >= time)
    if (found !== undefined) return found.slot
    if (pages.length < PAGES_PER_READ) return null
    next = pages.at(-1)!.slot + 1
  }
  return null
}
