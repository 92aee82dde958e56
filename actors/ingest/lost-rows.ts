import type { TransferFees } from '../../src/accounts/transfer-fees.ts'
import { pubkeyMapKey, type Pubkey } from '../../src/chain/pubkey.ts'
import { unchanged } from '../../src/market/amendment.ts'
import type { DecodedBlock } from '../../src/market/block.ts'
import { cursorAt } from '../../src/market/cursor.ts'
import { optionsAt, type DecodingPeriod } from '../../src/market/decoding-period.ts'
import type { BlockFold, FoldOptions } from '../../src/market/fold.ts'
import { DAMAGED } from '../../src/market/gap-reasons.ts'
import { EMPTY_START, foldAlone, MarketState } from '../../src/market/market-state.ts'
import type { PoolEventRow, SlotRow, TradeRow } from '../../src/market/rows.ts'
import { COLD_SOL_USD, minuteOf, solUsdAfter } from '../../src/market/sol-usd.ts'
import { blockOfRows, isWhole, type StoredBlock } from '../../src/market/stored-block.ts'
import type { RefetchBlock } from '../../src/node/block-source.ts'
import { gapsAfter } from '../../src/ingest/coverage.ts'
import { readDecodingPeriods } from '../../src/ingest/decoding-periods.ts'
import { sleep, type Clock } from '../../src/ports.ts'
import { encodeLog } from '../../src/stream/encode.ts'
import type { GapRow, Losses, Storage } from '../../storage/port.ts'
import { decodeSourced } from './decoding.ts'
import { loadReadSet } from './market-loader.ts'

export interface LostRowsDeps {
  readonly fold: FoldOptions
  /** Gives blocks whose rows are lost; null if there is no source for them. */
  readonly refetch: RefetchBlock | null
  readonly clock: Clock
  /** Absent if transfer fees cannot be read from a node. */
  readonly transferFees?: TransferFees | undefined
}

const NO_GAPS = { put: [], remove: [] }
/** Attempts for the first missing block: a node that has just started may not have all of its blocks. */
const TRIES = 5
const RETRY_MS = 1_000
/** Rows that are put into the store at once: some hundred milliseconds of writing. */
const ROWS_PER_AMENDMENT = 1_000

/** Arbitrary: a minute of blocks without an event is rare where a market is indexed. */
const EMPTY_MAX = 150

const NO_SOURCE = 'no node is configured to read it from'
const GONE = 'no node still has it'
const OTHER_BLOCK = 'the nodes have another block in that slot'
const NO_BEGINNING = 'it and blocks before it may have been stored; they had no events'
const LOST_GAP = 'these slots were a gap, whose record with its reason is lost'
const OTHER_EVENTS = 'decoding it gives other events than were stored'

/** A block that cannot be read again. */
export interface Missed {
  readonly slot: number
  readonly why: string
  /** Whether nothing of it is stored, so that the slot may have had no block. */
  readonly isUnknown: boolean
}

/**
 * One pass over all blocks, which puts lost rows in their places.
 *
 * L1. Rows that are left of a block stay as they are. A block is read again if its slot has fewer rows than the block had
 *     events, or if its slot row is lost. Its pool events and its slot row follow from the block alone.
 * L2. With a scratch store all blocks are folded in it, complete ones from their rows. Then lost trades follow, too.
 */
export class LostRows {
  /** Blocks that were read again. */
  asked = 0
  /** Rows that were put. */
  rows = 0
  /** The first slot of which something is stored. */
  first = 0
  missing: Missed[] = []
  /** Slots whose blocks were abandoned earlier, and of which no record is left. */
  readonly holes: Pick<GapRow, 'from' | 'to' | 'detail'>[] = []
  /** The first slot with a stored trade whose value differs from the fold's. */
  strange: number | null = null
  /** Mints whose candles may lack some. */
  readonly mints = new Map<string, Pubkey>()
  readonly #storage: Storage
  readonly #scratch: Storage | null
  readonly #deps: LostRowsDeps
  readonly #signal: AbortSignal
  readonly #put = { slots: [] as SlotRow[], trades: [] as TradeRow[], poolEvents: [] as PoolEventRow[] }
  /** The market of the scratch store after the last block; null before the first. */
  #market: MarketState | null = null
  /** Slots whose blocks were abandoned, and were never stored. */
  #gaps: readonly GapRow[] = []
  /** Decoding periods of the stored blocks. */
  #periods: readonly DecodingPeriod[] = []
  #searched: number | null = null
  #triesLeft = TRIES

  constructor(storage: Storage, scratch: Storage | null, deps: LostRowsDeps, signal: AbortSignal) {
    this.#storage = storage
    this.#scratch = scratch
    this.#deps = deps
    this.#signal = signal
  }

  /** Takes note of mints whose trades or pairs were lost. */
  changed(rows: readonly { readonly mint: Pubkey }[]): void {
    for (const { mint } of rows) this.mints.set(pubkeyMapKey(mint), mint)
  }

  async run(losses: Losses, horizon: number): Promise<void> {
    this.#periods = await readDecodingPeriods(this.#storage)
    const gaps = await gapsAfter(this.#storage.coverage, null)
    this.#gaps = gaps.filter(({ reason }) => reason !== DAMAGED)
    for await (const stored of losses.blocks()) {
      this.#signal.throwIfAborted()
      if (this.#searched === null) this.first = stored.slot
      await this.#take(stored, losses, horizon)
    }
    await this.#flush()
  }

  async #take(stored: StoredBlock, losses: Losses, horizon: number): Promise<void> {
    const { slot, row } = stored
    const isExpired = cursorAt(slot + 1, 0) <= horizon
    const isLost = isExpired ? row === null : !isWhole(stored)
    const again = isLost ? await this.#refetch(stored) : null
    const parent = parentOf(row ?? again)
    if (parent !== null) {
      if (this.#searched === null) await this.#takeBeginning(parent, losses, horizon)
      await this.#takeLost(parent, losses, horizon)
    }
    this.#searched = Math.max(this.#searched ?? 0, slot)
    const alone = again && foldAlone(again, this.#optionsOf(again))
    const isFound = alone !== null && isOf(stored, alone)
    if (alone !== null && !isFound) this.#miss(stored, OTHER_EVENTS)
    if (isFound && row === null) this.#put.slots.push(alone.slot)
    if (this.#scratch === null) {
      if (isFound && !isExpired) await this.#compare(stored, alone)
      return
    }
    const block = isFound ? again : blockOfRows(stored)
    if (block === null) return
    const fold = await this.#fold(block, this.#scratch)
    if (!isExpired) await this.#compare(stored, fold)
  }

  /**
   * Takes blocks without events before the first stored slot: they leave no trace but their slots. A block with events would
   * have left rows, and was never stored.
   */
  async #takeBeginning(parent: number, losses: Losses, horizon: number): Promise<void> {
    const slots: number[] = []
    for (let slot: number | null = parent; slot !== null && losses.mayHaveHeld(slot);) {
      const block = await this.#refetch(nothingOf(slot))
      const [missed] = this.missing.splice(0)
      if (missed !== undefined || slots.length === EMPTY_MAX)
        this.holes.push({ from: slot, to: slot, detail: NO_BEGINNING })
      if (block === null || block.entries.length > 0 || slots.length === EMPTY_MAX) break
      slots.unshift(slot)
      slot = parentOf(block)
    }
    this.#searched = (slots[0] ?? parent + 1) - 1
    for (const slot of slots) await this.#take(nothingOf(slot), losses, horizon)
  }

  /** Takes the blocks up to a parent that may have been stored, but left no records. */
  async #takeLost(parent: number, losses: Losses, horizon: number): Promise<void> {
    const first = (this.#searched ?? parent) + 1
    const isNamed = this.#gaps.some(({ from, to }) => from <= parent && parent <= to)
    if (losses.gapsMayBeLost && first <= parent && !isNamed && !losses.mayHaveHeld(parent))
      this.holes.push({ from: first, to: parent, detail: LOST_GAP })
    for (let slot = first; slot <= parent; slot = this.#searched! + 1) {
      const isGap = this.#gaps.some(({ from, to }) => from <= slot && slot <= to)
      if (isGap || !losses.mayHaveHeld(slot)) this.#searched = slot
      else await this.#take(nothingOf(slot), losses, horizon)
    }
    this.missing = this.missing.filter(({ slot, isUnknown }) => !isUnknown || slot <= parent)
  }

  /** Reads a block with lost rows again; null if that is not possible, or if there was no block. */
  async #refetch(stored: StoredBlock): Promise<DecodedBlock | null> {
    const { slot, row, trades, poolEvents } = stored
    const { refetch, clock, transferFees } = this.#deps
    const miss = (why: string): null => this.#miss(stored, why)
    if (refetch === null) return miss(NO_SOURCE)
    for (;;) {
      const found = await refetch(slot, this.#signal)
      if (found === 'skipped') return isNothing(stored) ? null : miss(OTHER_BLOCK)
      if (found !== null) {
        this.#triesLeft = TRIES
        this.asked++
        const { block } = await decodeSourced(found, transferFees)
        const isSame = row === null || row.blockhash === null || row.blockhash === block.blockhash
        const commitment = (trades[0] ?? poolEvents[0])?.commitment ?? block.commitment
        const receivedAtMs = row?.receivedAtMs ?? block.receivedAtMs
        return isSame ? { ...block, commitment, receivedAtMs } : miss(OTHER_BLOCK)
      }
      if (--this.#triesLeft <= 0) return miss(GONE)
      await sleep(clock, RETRY_MS, this.#signal)
      this.#signal.throwIfAborted()
    }
  }

  #miss(stored: StoredBlock, why: string): null {
    this.missing.push({ slot: stored.slot, why, isUnknown: isNothing(stored) })
    return null
  }

  #optionsOf({ slot }: DecodedBlock): FoldOptions {
    return optionsAt(this.#deps.fold, this.#periods, slot)
  }

  /** Folds a block after all blocks before it, and commits it to the scratch store. */
  async #fold(block: DecodedBlock, scratch: Storage): Promise<BlockFold> {
    this.#market ??= await this.#beginning(block.blockTime)
    const prepared = this.#market.prepare(block, this.#optionsOf(block))
    const fold = prepared.fold(await loadReadSet(scratch, prepared.readSet))
    await scratch.blocks.commit({ ...fold, log: encodeLog(fold, this.#deps.fold.cash) })
    return fold
  }

  /**
   * Returns the market before the first block: with the SOL price that an archive gave it, if the stored price is earlier.
   */
  async #beginning(blockTime: number): Promise<MarketState> {
    const minute = minuteOf(blockTime)
    const price = await this.#storage.solPrices.atOrBefore(minute)
    const sourceMinute = price?.minute === minute ? price.sourceMinute : null
    const end = { minute: sourceMinute ?? minute, price, fromChain: true, trades: [] }
    const isEarlier = sourceMinute !== null && sourceMinute < minute
    const solUsd = (isEarlier ? solUsdAfter(end, blockTime) : null) ?? COLD_SOL_USD
    return new MarketState({ ...EMPTY_START, solUsd })
  }

  /** Puts rows that are not stored. */
  async #compare({ slot, ...stored }: StoredBlock, fold: BlockFold): Promise<void> {
    const trades = new Map(stored.trades.map((row) => [row.cursor, row]))
    const poolEvents = new Set(stored.poolEvents.map(({ cursor }) => cursor))
    this.#put.poolEvents.push(...fold.poolEvents.filter(({ cursor }) => !poolEvents.has(cursor)))
    if (this.#scratch !== null)
      for (const row of fold.trades) {
        const known = trades.get(row.cursor)
        if (known === undefined) {
          this.#put.trades.push(row)
          this.changed([row])
        } else if (known.cashUsd !== row.cashUsd || known.priceForming !== row.priceForming)
          this.strange ??= slot
      }
    if (this.#staged >= ROWS_PER_AMENDMENT) await this.#flush()
  }

  get #staged(): number {
    const { slots, trades, poolEvents } = this.#put
    return slots.length + trades.length + poolEvents.length
  }

  async #flush(): Promise<void> {
    if (this.#staged === 0) return
    this.rows += this.#staged
    const [head, totals] = await Promise.all([this.#storage.blocks.head(), this.#storage.totals.get()])
    const { slots, trades, poolEvents } = this.#put
    await this.#storage.history.amend(
      {
        ...unchanged(head, { totals }),
        slots: { put: slots.splice(0), remove: [] },
        trades: { put: trades.splice(0), remove: [] },
        poolEvents: { put: poolEvents.splice(0), remove: [] }
      },
      NO_GAPS
    )
  }
}

/** The slot of the parent block; null if it is not known, and for the first block of a chain, which names itself. */
function parentOf(block: Pick<SlotRow, 'slot' | 'parentSlot'> | null): number | null {
  const parent = block?.parentSlot ?? null
  return parent === block?.slot ? null : parent
}

const nothingOf = (slot: number): StoredBlock => ({
  slot,
  row: null,
  trades: [],
  poolEvents: [],
  launches: []
})

const isNothing = ({ row, trades, poolEvents, launches }: StoredBlock): boolean =>
  row === null && trades.length + poolEvents.length + launches.length === 0

/** Tells whether a block that was read again has the stored events. */
function isOf({ row, trades, poolEvents }: StoredBlock, fold: BlockFold): boolean {
  const cursors = new Set([...fold.trades, ...fold.poolEvents].map(({ cursor }) => cursor))
  const isCounted = row === null || row.events === fold.slot.events
  return isCounted && [...trades, ...poolEvents].every(({ cursor }) => cursors.has(cursor))
}
