import type { Test } from 'tap'
import { LEDGER_SUM_SLOTS, type LedgerStore } from '../../storage/port/ledger.ts'
import { partOf, sumsIn, type LedgerPart } from '../../src/revenue/packed-page.ts'
import { MintTotals, rowOf } from '../../src/revenue/mint-totals.ts'
import { markIn } from '../../src/revenue/sum-mark.ts'
import { NO_SUMS, plus, sumsOf, type MintSums } from '../../src/revenue/sums.ts'

/** Reads all pages of an address. */
export async function storedParts(store: LedgerStore, owner: string): Promise<readonly LedgerPart[]> {
  const pages = await store.pages(owner, { from: 0, to: Infinity, order: 'asc', limit: 100_000 })
  return pages.map(partOf)
}

/** Sums of mints, in the order of their base58. */
const sorted = (sums: readonly MintSums[]): readonly MintSums[] =>
  sums.toSorted((a, b) => (a.mint < b.mint ? -1 : 1))

/** Adds up the entries of pages by mint, without their stored sums. */
function foldedSums(address: string, parts: readonly LedgerPart[]): readonly MintSums[] {
  const totals = new Map<string, MintSums>()
  for (const { entries } of parts) {
    const [, ...byMint] = sumsOf(address, entries)
    for (const { mint, decimals, sums } of byMint)
      totals.set(mint, { mint, decimals, sums: plus(totals.get(mint)?.sums ?? NO_SUMS, sums) })
  }
  return sorted([...totals.values()])
}

/**
 * Checks that the stored sums of an address up to its mark are those of its entries: each range with entries has sums, and
 * no other range. So are the sums of each page.
 */
export async function storedSumsEqual(
  t: Test,
  store: LedgerStore,
  owner: string,
  message: string
): Promise<void> {
  const parts = await storedParts(store, owner)
  const [value] = await store.marks([owner])
  const { sealedTo } = markIn(value!)
  const differences: string[] = []
  for (const [level, slots] of LEDGER_SUM_SLOTS.entries()) {
    const end = Math.floor(sealedTo / slots)
    const sealed = parts.filter(({ slot }) => slot < end * slots)
    const expected = Map.groupBy(sealed, ({ slot }) => Math.floor(slot / slots))
    const stored = new Map((await store.sums(owner, level, 0, end)).map((each) => [each.number, each.value]))
    for (const number of new Set([...expected.keys(), ...stored.keys()])) {
      const range = expected.get(number) ?? []
      const bytes = stored.get(number)
      const totals = new MintTotals()
      if (bytes !== undefined) totals.add(sumsIn(bytes))
      const isEqual =
        range.length > 0 &&
        bytes !== undefined &&
        sumsIn(bytes).lastAt === range.at(-1)!.blockTime &&
        textOf(sorted(totals.sums())) === textOf(foldedSums(owner, range))
      if (!isEqual) differences.push(`${level} ${number}`)
    }
  }
  for (const page of await store.pages(owner, { from: 0, to: Infinity, order: 'asc', limit: 100_000 })) {
    const part = partOf(page)
    const own = new MintTotals()
    own.add(sumsIn(page.value))
    const expected = new MintTotals()
    expected.add(rowOf(sumsOf(owner, part.entries).slice(1), part.blockTime))
    if (textOf(sorted(own.sums())) !== textOf(sorted(expected.sums()))) differences.push(`page ${part.slot}`)
  }
  t.strictSame(differences, [], `${message}: sums of ${owner} by range`)
}

const textOf = (sums: readonly MintSums[]): string =>
  JSON.stringify(sums, (_name, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
