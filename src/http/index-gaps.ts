import type { CoverageStore } from '../../storage/port.ts'

/** Gaps of one read. Chosen: the page of `GET /v1/admin/coverage`. */
const GAPS_PER_READ = 1_000

/** Slots, both ends included, that the index does not have. */
export interface IndexGap {
  readonly from: number
  readonly to: number
}

/** Lists the gaps of the index that end at or after a slot, ascending by their first slot. Rejects with the store's error. */
export async function indexGapsAfter(
  coverage: Pick<CoverageStore, 'gaps'>,
  slot: number,
  signal: AbortSignal
): Promise<readonly IndexGap[]> {
  const found: IndexGap[] = []
  for (let after: number | null = null; ;) {
    signal.throwIfAborted()
    const page = await coverage.gaps({ after, limit: GAPS_PER_READ })
    for (const { from, to } of page) if (to >= slot) found.push({ from, to })
    if (page.length < GAPS_PER_READ) return found
    after = page.at(-1)!.from
  }
}
