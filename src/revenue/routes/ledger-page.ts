import type { BlockStore } from '../../../storage/port.ts'
import type { EntryKind } from '../entry-enums.ts'
import type { LedgerPage, LedgerReader, LedgerRow, SlotWindow } from '../ledger-reader.ts'
import type { WatchedAddress } from '../watched-address.ts'
import { DISORDER_SECONDS } from '../../data/routes/trade-filters.ts'

/** Maximum number of rows that a request with a row filter examines: that of a filtered list of trades. */
const EXAMINED_MAX = 10_000
/** Rows that such a request reads at a time: each read begins with one of every watched address. */
const EXAMINED_AT_ONCE = 2_500

/** A page of the ledger, by block time. */
export interface LedgerQuery extends Omit<LedgerPage, keyof SlotWindow> {
  /** Only rows at or after this block time, unix seconds. */
  readonly from: number | undefined
  /** Only rows before this block time, unix seconds. */
  readonly to: number | undefined
  /** Only rows of this mint, base58. */
  readonly mint: string | undefined
  readonly kind: EntryKind | undefined
  /** Only rows up to this slot (`LedgerReader.completeSlot`): a client that pages would miss rows that are stored later. */
  readonly complete: number
}

/** Rows of a page, and the last examined row if the search ended before the list did. */
export interface FoundRows {
  readonly rows: readonly LedgerRow[]
  readonly stoppedAt: LedgerRow | null
}

/** Lists the rows of a page. Rejects with the store's error, or the signal's reason. */
export async function ledgerPage(
  { reader, blocks }: { readonly reader: LedgerReader; readonly blocks: Pick<BlockStore, 'firstSince'> },
  watched: readonly WatchedAddress[],
  query: LedgerQuery,
  signal: AbortSignal
): Promise<FoundRows> {
  const { order, limit, from = -Infinity, to = Infinity, mint, kind, pause } = query
  const slots = await slotsOf(blocks, query)
  const rows: LedgerRow[] = []
  if (slots === null) return { rows, stoppedAt: null }
  const isFiltered = mint !== undefined || kind !== undefined
  const isTimed = query.from !== undefined || query.to !== undefined
  const times = isTimed ? { from: from - DISORDER_SECONDS, to: to + DISORDER_SECONDS } : undefined
  // The slots have some rows before and after the times.
  const matches = (row: LedgerRow): boolean =>
    row.blockTime >= from &&
    row.blockTime < to &&
    (mint === undefined || row.mint === mint) &&
    (kind === undefined || row.kind === kind)
  let after = query.after
  for (let examined = 0; ;) {
    signal.throwIfAborted()
    const asked = isFiltered ? EXAMINED_AT_ONCE : limit - rows.length
    const found = await reader.rows(watched, {
      ...slots,
      ...(times && { times }),
      order,
      after,
      limit: asked,
      ...(pause && { pause })
    })
    for (const row of found) if (rows.length < limit && matches(row)) rows.push(row)
    if (rows.length === limit || found.length < asked) return { rows, stoppedAt: null }
    const last = found.at(-1)!
    examined += found.length
    if (isFiltered && examined >= EXAMINED_MAX) return { rows, stoppedAt: last }
    after = last
    await pause?.()
  }
}

/** Returns the slots that have all blocks between two times; null if no block is between them. */
async function slotsOf(
  blocks: Pick<BlockStore, 'firstSince'>,
  { from, to, complete }: LedgerQuery
): Promise<SlotWindow | null> {
  const [first, end] = await Promise.all([
    from === undefined ? 0 : blocks.firstSince(from - DISORDER_SECONDS),
    to === undefined ? null : blocks.firstSince(to + DISORDER_SECONDS)
  ])
  if (first === null) return null
  const until = Math.min(end === null ? Infinity : end - 1, complete)
  return until === Infinity ? { from: first } : { from: first, until }
}
