import type { Amendment, Edit, RecordEdits } from './amendment.ts'
import type { DecodedBlock } from './block.ts'
import { optionsAt, type DecodingPeriod } from './decoding-period.ts'
import type { BlockFold, FoldOptions } from './fold.ts'
import type { KeptBlock, MarketBefore } from './kept-block.ts'
import type { LogAddress, LogEntry } from './log.ts'
import { MarketRecords } from './market-records.ts'
import { MarketState } from './market-state.ts'
import type { MarketSize } from './market-limits.ts'
import { joinedRecords } from './read-set.ts'
import type { LoadedRecords, ReadSet } from './read-set.ts'
import { byName, KEYED, LATEST } from './records.ts'
import type { AddressOf, BlockRows, KeyedName, RowOf } from './records.ts'
import type { PoolEventRow, RowOrigin, SlotRow, TradeRow } from './rows.ts'
import { sameValue } from './same-value.ts'

/** The inputs of a refold. */
export interface RefoldTools {
  readonly fold: FoldOptions
  /** How stored blocks were decoded, ascending; their venues come before those of `fold`. */
  readonly periods?: readonly DecodingPeriod[]
  /** Reads the current rows from the store. */
  readonly load: (readSet: ReadSet) => Promise<LoadedRecords>
  /** Encodes a block's rows as the stream sends them. */
  readonly encode: (rows: BlockRows) => readonly LogEntry[]
  /** Encodes the retractions of lost blocks, oldest first; needed if the wanted course lacks stored blocks. */
  readonly retract?: (lost: readonly BlockRows[]) => readonly LogEntry[]
}

const NO_LIMITS = { ...byName<MarketSize>(LATEST, () => Infinity), quietBlocks: Infinity }

/**
 * Folds two courses of the chain in parallel from one point on: the stored one and the wanted one. The difference
 * between their results is the change to the store. Rows of blocks in both courses are compared block by block and
 * then dropped (INVARIANTS 5).
 *
 * R1. Before the first step, `knows` gets the state on which every stored block of the course was folded. Rows that
 *     it lacks have not changed since the point, and are read from the store.
 * R2. The store must not change between the first step and the writing of the amendment.
 */
export class Refold {
  readonly #beginning = new MarketRecords()
  readonly #stored: Course
  readonly #wanted: Course
  readonly #encode: RefoldTools['encode']
  readonly #retract: RefoldTools['retract']
  readonly #keptMax: number
  readonly #rows = {
    trades: new RowEdit<TradeRow>(sameTrade),
    poolEvents: new RowEdit<PoolEventRow>((a, b) => a.body === b.body)
  }
  readonly #log = new LogEdit()
  readonly #lost: BlockRows[] = []
  readonly #slots = { put: [] as SlotRow[], remove: [] as number[] }
  readonly #kept = { put: [] as KeptBlock[], remove: [] as number[] }

  /** `newestKept` is the number of the newest blocks of the wanted course that are returned as kept blocks. */
  constructor(start: MarketBefore, tools: RefoldTools, newestKept: number) {
    const { price } = start.solUsd
    if (price !== null) this.#beginning.of('solPrices').set(price.minute, price)
    this.#encode = tools.encode
    this.#retract = tools.retract
    this.#keptMax = newestKept
    this.#stored = new Course(start, tools, this.#beginning)
    this.#wanted = new Course(start, tools, this.#beginning)
  }

  knows(values: LoadedRecords): void {
    this.#beginning.takeFirst(values)
  }

  /** Folds a block of both courses. */
  async both(block: DecodedBlock): Promise<void> {
    const stored = await this.#stored.fold(block)
    const wanted = await this.#wanted.fold(block)
    this.#keep(wanted.kept)
    const { trades, poolEvents } = this.#rows
    const changes = [
      trades.change(stored.fold.trades, wanted.fold.trades),
      poolEvents.change(stored.fold.poolEvents, wanted.fold.poolEvents),
      !sameValue(stored.fold.launches, wanted.fold.launches)
    ]
    // Most blocks have not changed, and encoding is the expensive part.
    if (changes.includes(true)) this.#log.change(this.#encode(stored.fold), this.#encode(wanted.fold))
  }

  /** Folds a stored block that is to be removed. */
  async without(block: DecodedBlock): Promise<void> {
    await this.instead(block, null)
  }

  /** Folds a block that is to be added. */
  async with(block: DecodedBlock): Promise<void> {
    await this.instead(null, block)
  }

  /** Folds two different blocks of one slot, one of each course; null if a course has no block there. */
  async instead(lost: DecodedBlock | null, wanted: DecodedBlock | null): Promise<void> {
    const stored = lost === null ? null : (await this.#stored.fold(lost)).fold
    const next = wanted === null ? null : await this.#wanted.fold(wanted)
    if (next !== null) {
      this.#slots.put.push(next.fold.slot)
      this.#kept.put.push(next.kept)
    } else if (stored !== null) {
      this.#slots.remove.push(stored.slot.slot)
      this.#kept.remove.push(stored.slot.slot)
    }
    this.#rows.trades.replace(stored?.trades ?? [], next?.fold.trades ?? [])
    this.#rows.poolEvents.replace(stored?.poolEvents ?? [], next?.fold.poolEvents ?? [])
    const encoded = (fold: BlockFold | undefined | null): readonly LogEntry[] =>
      fold === undefined || fold === null ? [] : this.#encode(fold)
    this.#log.change(encoded(stored), encoded(next?.fold))
    if (stored !== null) this.#lost.push(stored)
  }

  amendment(): Amendment {
    if (this.#lost.length > 0 && this.#retract !== undefined) this.#log.add(this.#retract(this.#lost))
    const keyed = byName<Pick<RecordEdits, KeyedName>>(KEYED, (name) => this.#edited(name))
    return {
      head: this.#wanted.market.head,
      slots: this.#slots,
      ...this.#rows,
      log: this.#log,
      ...keyed,
      totals: this.#wanted.market.totals,
      kept: this.#kept
    }
  }

  /** The rows of a record in which the courses differ. */
  #edited<Name extends KeyedName>(name: Name): Edit<RowOf<Name>, AddressOf<Name>> {
    const [stored, wanted] = [this.#stored.records.of(name), this.#wanted.records.of(name)]
    const beginning = this.#beginning.of(name)
    const put: RowOf<Name>[] = []
    const remove: AddressOf<Name>[] = []
    const decide = (
      address: AddressOf<Name>,
      before: RowOf<Name> | null,
      after: RowOf<Name> | null
    ): void => {
      if (sameValue(before, after)) return
      if (after === null) remove.push(address)
      else put.push(after)
    }
    const begun = (address: AddressOf<Name>): RowOf<Name> | null => beginning.get(address) ?? null
    for (const [address, row] of wanted) decide(address, stored.get(address) ?? begun(address), row)
    for (const [address, row] of stored)
      if (wanted.get(address) === undefined) decide(address, row, begun(address))
    return { put, remove }
  }

  /** Updates the kept block, because the state that it was folded on may have changed. Retains only the newest ones. */
  #keep(kept: KeptBlock): void {
    if (this.#keptMax === 0) return
    this.#kept.put.push(kept)
    if (this.#kept.put.length > this.#keptMax) this.#kept.put.shift()
  }
}

/** One course of the chain, from the common point on. */
class Course {
  /** The records that its blocks have set. */
  readonly records = new MarketRecords()
  readonly market: MarketState
  readonly #tools: RefoldTools
  readonly #beginning: MarketRecords

  constructor(start: MarketBefore, tools: RefoldTools, beginning: MarketRecords) {
    this.market = new MarketState(start, NO_LIMITS)
    this.#tools = tools
    this.#beginning = beginning
  }

  async fold(block: DecodedBlock): Promise<{ fold: BlockFold; kept: KeptBlock }> {
    const { periods = [], load } = this.#tools
    const prepared = this.market.prepare(block, optionsAt(this.#tools.fold, periods, block.slot))
    // Hours and buckets of earlier times are read again. This course's own changes take precedence.
    const own = this.records.knownOf(prepared.readSet)
    const unmade = this.records.unknownOf(prepared.readSet)
    const unknown = this.#beginning.unknownOf(unmade)
    this.#beginning.takeFirst(await load(unknown))
    const folded = prepared.foldKept(joinedRecords(own, this.#beginning.knownOf(unmade)))
    this.records.take(folded.fold)
    return folded
  }
}

/** The rows of a list that differ between the courses. */
class RowEdit<Row extends RowOrigin> implements Edit<Row, Row> {
  readonly put: Row[] = []
  readonly remove: Row[] = []
  readonly #isSame: (stored: Row, wanted: Row) => boolean

  constructor(isSame: (stored: Row, wanted: Row) => boolean) {
    this.#isSame = isSame
  }

  /** Compares one block's rows in both courses; returns whether they differ. */
  change(stored: readonly Row[], wanted: readonly Row[]): boolean {
    const before = new Map(stored.map((row) => [row.cursor, row]))
    const count = this.put.length
    for (const row of wanted) {
      const known = before.get(row.cursor)
      before.delete(row.cursor)
      if (known === undefined || !this.#isSame(known, row)) this.put.push(row)
    }
    this.remove.push(...before.values())
    return before.size > 0 || this.put.length > count
  }

  /** Replaces the rows of one slot's block by those of another block. Rows at one cursor may be of different events. */
  replace(stored: readonly Row[], wanted: readonly Row[]): void {
    const before = new Map(stored.map((row) => [row.cursor, row]))
    for (const row of wanted) {
      if (sameValue(before.get(row.cursor), row)) before.delete(row.cursor)
      else this.put.push(row)
    }
    this.remove.push(...before.values())
  }
}

/** The changes to the stream's log. */
class LogEdit implements Edit<LogEntry, LogAddress> {
  readonly put: LogEntry[] = []
  remove: LogAddress[] = []

  /** Compares one slot's entries of both courses. */
  change(stored: readonly LogEntry[], wanted: readonly LogEntry[]): void {
    const before = new Map(stored.map((entry) => [entry.channel, entry]))
    for (const entry of wanted) {
      if (!sameValue(before.get(entry.channel), entry)) this.put.push(entry)
      before.delete(entry.channel)
    }
    for (const { channel, slot } of before.values()) this.remove.push({ channel, slot })
  }

  /** Adds entries at new addresses, or at addresses that were to be removed. */
  add(entries: readonly LogEntry[]): void {
    this.put.push(...entries)
    const isAdded = ({ channel, slot }: LogAddress): boolean =>
      entries.some((entry) => entry.channel === channel && entry.slot === slot)
    this.remove = this.remove.filter((address) => !isAdded(address))
  }
}

/** Returns whether two rows of one event have equal derived values. */
function sameTrade(a: TradeRow, b: TradeRow): boolean {
  const isSamePrice = a.cashUsd === b.cashUsd && a.priceForming === b.priceForming
  return a.signature === b.signature && isSamePrice && sameValue(a.vaults, b.vaults)
}
