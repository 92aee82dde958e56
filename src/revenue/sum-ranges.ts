import { LEDGER_SUM_SLOTS, type LedgerStore, type LedgerSum } from '../../storage/port/ledger.ts'
import { MintTotals, type SumRow } from './mint-totals.ts'
import { packSums, sumsIn } from './packed-page.ts'

/** Slots of the shortest ranges of sums. */
export const SHORTEST_RANGE = LEDGER_SUM_SLOTS[0]
/** The level of pages, below that of the shortest ranges. */
export const PAGES = -1
/** The level of a piece with the pages of slots whose sums are not stored yet. */
export const TAIL = -2

/** Returns the slots of a range of a level; a page has one. */
export const slotsOf = (level: number): number => (level < 0 ? 1 : LEDGER_SUM_SLOTS[level]!)

/** Returns the first slot of the shortest range that has a slot. */
export const rangeStart = (slot: number): number => slot - (slot % SHORTEST_RANGE)

/** Consecutive ranges of one level: from ≤ number < to. */
export interface SumPiece {
  readonly level: number
  readonly from: number
  readonly to: number
}

/** Sums of the entries of a slot, or of a range of a level. */
export interface NumberedSums {
  readonly number: number
  readonly sums: SumRow
}

/** Divides the slots from ≤ slot < to into the fewest pages and ranges, ascending. Slots from `sealedTo` on are the tail. */
export function piecesOf(from: number, to: number, sealedTo: number): readonly SumPiece[] {
  const sealed = Math.min(to, sealedTo)
  const pieces = from < sealed ? dividedAt(LEDGER_SUM_SLOTS.length - 1, from, sealed) : []
  const first = Math.max(from, sealedTo)
  return first < to ? [...pieces, { level: TAIL, from: first, to }] : pieces
}

function dividedAt(level: number, from: number, to: number): readonly SumPiece[] {
  if (from >= to) return []
  if (level === PAGES) return [{ level, from, to }]
  const slots = slotsOf(level)
  const [first, end] = [Math.ceil(from / slots), Math.floor(to / slots)]
  if (first >= end) return dividedAt(level - 1, from, to)
  return [
    ...dividedAt(level - 1, from, first * slots),
    { level, from: first, to: end },
    ...dividedAt(level - 1, end * slots, to)
  ]
}

/** Sums that are to be stored, and those that are to be deleted. */
export interface SealedSums {
  readonly sums: readonly LedgerSum[]
  readonly outdated: readonly Pick<LedgerSum, 'level' | 'number'>[]
}

/**
 * Computes the sums of all ranges of an address that end after `from` and not after `to`, from the pages of these slots and
 * the stored sums before them. Both slots are starts of ranges. `writtenTo` ends the slots with stored sums that may be out
 * of date.
 */
export async function sealedSums(
  store: Pick<LedgerStore, 'sums'>,
  owner: string,
  pages: readonly NumberedSums[],
  { from, to, writtenTo }: { readonly from: number; readonly to: number; readonly writtenTo: number }
): Promise<SealedSums> {
  const sums: LedgerSum[] = []
  const outdated: Pick<LedgerSum, 'level' | 'number'>[] = []
  let children = pages
  for (let level = 0; level < LEDGER_SUM_SLOTS.length; level++) {
    const [slots, below] = [slotsOf(level), slotsOf(level - 1)]
    const [first, end] = [Math.floor(from / slots), Math.floor(to / slots)]
    if (first >= end) break
    // Ranges below that end after `from` are among the children.
    const [begun, known] = [(first * slots) / below, Math.floor(from / below)]
    const before = begun === known ? [] : (await store.sums(owner, level - 1, begun, known)).map(numberedOf)
    children = grouped([...before, ...children], below, slots).filter(({ number }) => number < end)
    for (const { number, sums: row } of children) sums.push({ owner, level, number, value: packSums(row) })
    if (from < writtenTo) {
      const numbers = new Set(children.map(({ number }) => number))
      const stored = await store.sums(owner, level, first, Math.min(end, Math.ceil(writtenTo / slots)))
      for (const { number } of stored) if (!numbers.has(number)) outdated.push({ level, number })
    }
  }
  return { sums, outdated }
}

export const numberedOf = ({ number, value }: Pick<LedgerSum, 'number' | 'value'>): NumberedSums => ({
  number,
  sums: sumsIn(value)
})

/** Adds up rows with `below` slots each to rows of ranges with `slots`. */
function grouped(rows: readonly NumberedSums[], below: number, slots: number): NumberedSums[] {
  const groups: NumberedSums[] = []
  let number = -1
  let totals = new MintTotals()
  const end = (): void => {
    const sums = totals.row()
    if (sums !== null) groups.push({ number, sums })
  }
  for (const row of rows) {
    const of = Math.floor((row.number * below) / slots)
    if (of !== number) {
      end()
      number = of
      totals = new MintTotals()
    }
    totals.add(row.sums)
  }
  end()
  return groups
}
