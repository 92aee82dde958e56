import { pubkeyMapKey, type Pubkey } from '../chain/pubkey.ts'
import { SecondChanceCache } from '../kernel/memory/second-chance-cache.ts'
import type { HolderListId, HolderStore } from '../../storage/port.ts'
import { unpackBlock, type LoggedBlock } from './list-log.ts'
import { ListOverlay, type RankKind, type RankRow } from './list-overlay.ts'
import { BASE_SLOT, changeKey } from './row-bytes.ts'

/** Blocks of a log that are read at a time: 100 KB of a busy list. */
const BLOCKS_AT_ONCE = 100
/** Estimated bytes of cached logs: some thirty busy lists, or thousands of quiet ones. */
const CACHED_BYTES_MAX = 48 * 2 ** 20
/** Bytes of a changed account or owner in memory, in a block and in the overlay, estimated. */
const ENTRY_BYTES = 500
/**
 * Slots by which a cached log may be behind: a minute. Blocks are in the log for at least as long as a paging run lasts, five
 * minutes, so none of them was folded meanwhile.
 */
const BEHIND_MAX = 150
/** Blocks of a cached log; above it the log is read again, without those that were folded: three times a paging run. */
const BLOCKS_MAX = 2_500
/** Changed rows that a page of the snapshot is expected to have. */
const SPARE = 16

/** A list to be read: the slot to read, the oldest slot that can be read, and how often blocks were rolled back. */
export interface ListRead {
  readonly mint: Pubkey
  readonly reading: number
  readonly slot: number
  readonly oldestSlot: number
  readonly rollbacks: number
}

/** The log of a list up to a slot. */
interface CachedLog {
  readonly rollbacks: number
  readonly upTo: number
  readonly blocks: readonly LoggedBlock[]
  readonly overlay: ListOverlay
}

const NOTHING: Omit<CachedLog, 'rollbacks'> = { upTo: -1, blocks: [], overlay: new ListOverlay() }

/**
 * Reads lists as their snapshot and their log.
 *
 * L1. The values of the log take the place of those of the snapshot. So a snapshot into which a part of the log is being
 *     folded is read as before, and as after.
 * L2. The log is read before the snapshot: what is no longer in the log then is in the snapshot.
 */
export class ListReads {
  readonly #store: HolderStore
  readonly #logs = new SecondChanceCache<CachedLog>(CACHED_BYTES_MAX)

  constructor(store: HolderStore) {
    this.#store = store
  }

  /** The newest values of what the log has changed up to the slot. Rejects with the store's error. */
  async overlay(read: ListRead): Promise<ListOverlay> {
    const { slot, oldestSlot, rollbacks } = read
    const name = `${read.reading} ${pubkeyMapKey(read.mint)}`
    const known = this.#logs.get(name)
    const isCurrent =
      known !== undefined &&
      known.rollbacks === rollbacks &&
      known.upTo >= oldestSlot &&
      known.blocks.length <= BLOCKS_MAX &&
      slot - known.upTo <= BEHIND_MAX
    const cached = isCurrent ? known : { ...NOTHING, rollbacks }
    if (slot === cached.upTo) return cached.overlay
    if (slot < cached.upTo) return overlayOf(cached.blocks.filter((block) => block.slot <= slot))
    const added = await this.#blocks(read, cached.upTo, slot)
    const blocks = [...cached.blocks, ...added]
    const overlay = overlayOf(added, cached.overlay)
    const bytes = blocks.reduce((sum, { accounts, owners }) => sum + accounts.length + owners.length, 100)
    this.#logs.set(name, { rollbacks, upTo: slot, blocks, overlay }, bytes * ENTRY_BYTES)
    return overlay
  }

  /** Reads rows by amount after a key, and whether more follow. */
  async ranked(
    read: ListRead,
    kind: RankKind,
    { after, limit }: { readonly after: Uint8Array | undefined; readonly limit: number }
  ): Promise<{ readonly rows: readonly RankRow[]; readonly hasMore: boolean }> {
    const overlay = await this.overlay(read)
    const changed = overlay.ranked(kind, after, limit + 1)
    const unchanged: RankRow[] = []
    for (let last = after; unchanged.length <= limit;) {
      const { rows, hasMore } = await this.#store.page(listOf(read), kind, {
        slot: BASE_SLOT,
        after: last,
        limit: limit + 1 - unchanged.length + SPARE
      })
      for (const row of rows) if (!overlay.has(kind, row.key.subarray(AMOUNT_BYTES))) unchanged.push(row)
      if (!hasMore) break
      last = rows.at(-1)!.key
    }
    const all = [...changed, ...unchanged].sort((a, b) => Buffer.compare(a.key, b.key))
    return { rows: all.slice(0, limit), hasMore: all.length > limit }
  }

  /** Reads the blocks of the log after a slot, up to another. */
  async #blocks(read: ListRead, after: number, upTo: number): Promise<LoggedBlock[]> {
    const blocks: LoggedBlock[] = []
    for (let last = after; ;) {
      const { rows, hasMore } = await this.#store.page(listOf(read), 'change', {
        slot: Number.MAX_SAFE_INTEGER,
        after: last < 0 ? undefined : changeKey(last),
        limit: BLOCKS_AT_ONCE
      })
      for (const { slot, value } of rows) if (slot <= upTo) blocks.push(unpackBlock(slot, value))
      last = rows.at(-1)?.slot ?? upTo
      if (!hasMore || last >= upTo) return blocks
    }
  }
}

/** Bytes of the amount in the key of a row by amount. */
const AMOUNT_BYTES = 8

const listOf = ({ mint, reading }: ListRead): HolderListId => ({ mint, reading })

function overlayOf(blocks: readonly LoggedBlock[], before?: ListOverlay): ListOverlay {
  const overlay = before === undefined ? new ListOverlay() : before.copy()
  for (const block of blocks) overlay.apply(block)
  return overlay
}
