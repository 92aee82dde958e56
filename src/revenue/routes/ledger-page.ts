import type { BlockStore } from '../../../storage/port.ts'
import type { LedgerPage, LedgerReader, LedgerRow, SlotWindow } from '../ledger-reader.ts'
import type { WatchedAddress } from '../watched-address.ts'
import { DISORDER_SECONDS } from '../../data/routes/trade-filters.ts'

/** A page of the ledger, by block time. */
export interface LedgerQuery extends Omit<LedgerPage, keyof SlotWindow> {
  /** Only rows at or after this block time, unix seconds. */
  readonly from: number | undefined
  /** Only rows before this block time, unix seconds. */
  readonly to: number | undefined
  /** Only rows up to this slot (`LedgerReader.completeSlot`): a client that pages would miss rows that are stored later. */
  readonly complete: number
}

/** Lists the rows of a page. Rejects with the store's error, or the signal's reason. */
export async function ledgerPage(
  { reader, blocks }: { readonly reader: LedgerReader; readonly blocks: Pick<BlockStore, 'firstSince'> },
  watched: readonly WatchedAddress[],
  query: LedgerQuery,
  signal: AbortSignal
): Promise<readonly LedgerRow[]> {
  const { order, limit, from = -Infinity, to = Infinity, pause } = query
  const slots = await slotsOf(blocks, query)
  const rows: LedgerRow[] = []
  if (slots === null) return rows
  // The slots have some rows before and after the times.
  for (let after = query.after; ;) {
    signal.throwIfAborted()
    const asked = limit - rows.length
    const found = await reader.rows(watched, {
      ...slots,
      order,
      after,
      limit: asked,
      ...(pause && { pause })
    })
    rows.push(...found.filter(({ blockTime }) => blockTime >= from && blockTime < to))
    if (rows.length === limit || found.length < asked) return rows
    after = found.at(-1)!
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
