import { ALL_MINTS } from './ledger-document.ts'
import { slotBounds } from './ledger-segments.ts'
import type { SegmentLists, StoredSums, SumList } from './segment-lists.ts'
import { minus, plus, type MintSums } from './sums.ts'
import type { LedgerSegment } from './watch-history.ts'
import type { WatchedAddress } from './watched-address.ts'
import type { Sums } from './ledger-document.ts'

/**
 * Minimum and maximum sums of one read. A mint with thousands of documents costs few unneeded sums, and thousands of
 * mints with one document each cost few reads.
 */
const [SUMS_MIN, SUMS_MAX] = [4, 256]

/** Sums of a segment whose entries are documents. */
export interface SegmentSums {
  readonly byMint: readonly MintSums[]
  /** Block time of the newest entry, unix seconds. */
  readonly lastAt: number
}

/** Sums up a segment whose entries are documents; null if there are no entries. */
export async function documentSums(
  lists: SegmentLists,
  watched: WatchedAddress,
  segment: LedgerSegment
): Promise<SegmentSums | null> {
  const list = lists.sums(watched, segment)
  const of = await sumsOfMint(list, ALL_MINTS, segment)
  if (of === null) return null
  const byMint: MintSums[] = []
  for await (const { mint, decimals, sums } of sumsOfMints(list, segment))
    byMint.push({ mint, decimals, sums })
  return { byMint, lastAt: of.lastAt }
}

/** Sums up a mint's entries in a segment; null if there are no entries. `known` is the first document, if it was read. */
async function sumsOfMint(
  { prefix, list }: SumList,
  mint: string,
  segment: LedgerSegment,
  known?: StoredSums
): Promise<MintWindow | null> {
  const range = { ...slotBounds(segment), prefix: [...prefix, mint], limit: 1 }
  const one = async (order: 'asc' | 'desc'): Promise<StoredSums | undefined> =>
    (await list({ ...range, order })).documents[0]?.value
  const [first, last] = await Promise.all([known ?? one('asc'), one('desc')])
  return first === undefined || last === undefined ? null : windowOf(first, last)
}

/** Sums up the entries of each mint in a segment. */
async function* sumsOfMints(
  sums: SumList,
  segment: LedgerSegment
): AsyncGenerator<MintWindow & { readonly mint: string }, void, undefined> {
  const { prefix, list } = sums
  for (let above = ALL_MINTS, limit = SUMS_MIN; ;) {
    const page = await list({ prefix, above: [above], limit })
    const groups = [...Map.groupBy(page.documents, ({ value }) => value.mint)]
    for (const [at, [mint, documents]] of groups.entries()) {
      const isWhole = page.next === null || at < groups.length - 1
      const inside = documents
        .map(({ value }) => value)
        .filter(({ slot }) => slot >= segment.from && slot <= segment.to)
      const [first, last] = [inside[0], inside.at(-1)]
      const known = first === undefined || last === undefined ? null : windowOf(first, last)
      const found = isWhole ? known : await sumsOfMint(sums, mint, segment, first)
      if (found !== null) yield { mint, ...found }
      above = mint
    }
    if (page.next === null) return
    limit = groups.length > limit / 2 ? Math.min(2 * limit, SUMS_MAX) : SUMS_MIN
  }
}

/** The sums of a mint's entries in a window, or of all mints. */
interface MintWindow {
  readonly decimals: number
  readonly sums: Sums
  /** Block time of the newest entry, unix seconds. */
  readonly lastAt: number
}

/** Returns the sums of a window by its first and its last document. */
function windowOf(first: StoredSums, last: StoredSums): MintWindow {
  const sums = plus(minus(last.total, first.total), first.own)
  return { decimals: last.decimals, sums, lastAt: last.blockTime }
}
