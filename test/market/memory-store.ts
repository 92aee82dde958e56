import { samePubkey } from '../../src/chain/pubkey.ts'
import type { Amendment } from '../../src/market/amendment.ts'
import type { DecodedBlock } from '../../src/market/block.ts'
import type { BlockFold, FoldOptions } from '../../src/market/fold.ts'
import { MarketState } from '../../src/market/market-state.ts'
import type { MarketLimits } from '../../src/market/market-limits.ts'
import { loadedRecordsFrom } from '../../src/market/read-set.ts'
import type { LoadedRecords, ReadSet } from '../../src/market/read-set.ts'
import { addressText } from '../../src/market/records.ts'
import type { BlockCommit } from '../../src/market/records.ts'
import type { SlotRow, SolPriceRow, TradeRow } from '../../src/market/rows.ts'
import { restoreSolUsd } from '../../src/market/sol-usd.ts'
import { PlainRows } from '../../storage/test/plain-rows.ts'
import { encodeLog } from '../../src/stream/encode.ts'
import { SOL } from './world.ts'

/** The content of a durable store, in plain Maps. */
export class MemoryStore {
  head: SlotRow | null = null
  readonly rows = new PlainRows()

  /** In cursor order. */
  get trades(): TradeRow[] {
    return this.rows.all('trades').sort((a, b) => a.cursor - b.cursor)
  }

  commit(block: BlockCommit): void {
    this.head = block.slot
    this.rows.commit(block)
  }

  amend(amendment: Amendment): void {
    this.head = amendment.head
    this.rows.amend(amendment)
  }

  load(readSet: ReadSet): LoadedRecords {
    return loadedRecordsFrom(
      readSet,
      (name, address) => this.rows.maps[name].get(addressText(name, address)) ?? null
    )
  }

  /** Restores the SOL price state as a restart does: from rows, newest first, as a reader pages back. */
  restoreSolUsd() {
    const { head } = this
    if (head === null) return restoreSolUsd(null, null, [])
    const prices = this.rows.all('solPrices').filter((row) => row.minute <= head.blockTime)
    const newest = prices.reduce<SolPriceRow | null>(
      (best, row) => (best === null || row.minute > best.minute ? row : best),
      null
    )
    const rows = this.trades.filter((row) => samePubkey(row.mint, SOL)).toReversed()
    return restoreSolUsd(head, newest, rows)
  }

  /** Returns the market's state right after a restart. */
  restart(limits?: Partial<MarketLimits>): MarketState {
    const { totals } = this.rows.singles
    return new MarketState({ solUsd: this.restoreSolUsd(), totals, head: this.head }, limits)
  }
}

/** One block through load, fold and commit, as ingest does it. */
export function ingest(
  store: MemoryStore,
  state: MarketState,
  block: DecodedBlock,
  options: FoldOptions
): BlockFold {
  const prepared = state.prepare(block, options)
  const fold = prepared.fold(store.load(prepared.readSet))
  store.commit({ ...fold, log: encodeLog(fold, options.cash) })
  return fold
}

/** Folds a chain from an empty store, without a restart. */
export function ingestAll(
  chain: readonly DecodedBlock[],
  options: FoldOptions
): { store: MemoryStore; folds: BlockFold[] } {
  const store = new MemoryStore()
  const state = store.restart()
  return { store, folds: chain.map((block) => ingest(store, state, block, options)) }
}
