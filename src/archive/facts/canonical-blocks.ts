import type { DecodedBlock } from '../../market/block.ts'
import { SIDE_BY_SIDE_POSITIONS, TRADE_POSITIONS } from '../../market/cursor.ts'
import { TIME_FALLS_MAX } from '../../market/market-state.ts'
import type { SlotRow } from '../../market/rows.ts'
import type { FactStore } from '../../../storage/port.ts'
import { CHAIN_START } from '../rows/row-check.ts'
import { isOfFiles } from '../whole-blocks.ts'
import type { ArchivedRow } from './archived-row.ts'
import type { ArchivedBlock } from './block-pack.ts'
import { slotFacts, taken, timedRows, type SlotFacts } from './fact-groups.ts'
import type { FoldTally, HeldBackReason } from './held-back.ts'
import type { MintDecimals } from './mint-decimals.ts'
import { distinctTrades } from './same-trade.ts'
import { blockOfTrades, type CompleteRow } from './slot-block.ts'

/** A block of an archive, and what it is made of. */
export interface CanonicalBlock {
  readonly block: DecodedBlock
  /** The whole block; null if its trades are from files. */
  readonly whole: ArchivedBlock | null
}

/** The input from which the blocks of an archive follow. */
export interface CanonicalInput {
  readonly facts: FactStore
  readonly decimals: Pick<MintDecimals, 'of'>
  /** The first indexed block, which the archive ends before; null if nothing is indexed. */
  readonly firstLive: Pick<SlotRow, 'slot' | 'blockTime'> | null
  /** The head of the archive's store, after which blocks are made; null for all. */
  readonly after: Pick<SlotRow, 'slot' | 'blockTime' | 'parentSlot' | 'blockhash'> | null
  /** Whether some rows have no slot. */
  readonly hasTimed: boolean
  readonly tally: FoldTally
  /** Called before a block whose predecessors lack rows that are held back. */
  readonly onHeldBack: () => Promise<void>
}

/** Slots a second after the last known one: fewer than the chain makes, so that the archive ends before later blocks. */
const SLOTS_PER_SECOND = 2
/** Trades of a slot that have cursors. */
const TRADES_MAX = SIDE_BY_SIDE_POSITIONS / TRADE_POSITIONS

/**
 * The head is a slot of files whose time a later block contradicts (C2). So its trades are to be held back, which needs a fold of
 * everything.
 */
export class HeadContradicted extends Error {}

/** A known pair of a slot and its time. */
interface Knot {
  readonly slot: number
  readonly time: number
}

/** A slot whose trades are complete. */
interface ReadySlot extends Knot {
  readonly whole: ArchivedBlock | null
  readonly rows: readonly CompleteRow[]
}

/**
 * Makes the blocks of an archive from its facts, ascending by slot. They depend on the set of the facts alone, not on the
 * order or the number of imports that stored them.
 *
 * C1. A whole block counts before rows of files of its slot. Slots from the first indexed one on are left out.
 * C2. The time of a slot without a whole block is the earliest that its rows state, or else the one that a node states. Times
 *     do not fall: a slot that is up to a minute behind the one before it gets that one's time; otherwise its rows are held
 *     back.
 * C3. A row without a slot has the place that its time has between the slots around it. It is left out if a slot of its
 *     second has its signature.
 * C4. A row is held back while something that it needs is unknown.
 */
export class CanonicalBlocks {
  readonly #input: CanonicalInput
  readonly #tally: FoldTally
  #isHoldingBack = false

  constructor(input: CanonicalInput) {
    this.#input = input
    this.#tally = input.tally
  }

  async *blocks(): AsyncGenerator<CanonicalBlock, void> {
    const { after, hasTimed } = this.#input
    // Places of rows without a slot follow from slots before the head, too.
    const slots = hasTimed ? this.#allSlots() : this.#slots(after === null ? null : knotOf(after))
    for await (const slot of slots) {
      if (after !== null && slot.slot <= after.slot) continue
      if (this.#isHoldingBack) {
        this.#isHoldingBack = false
        await this.#input.onHeldBack()
      }
      const { whole, rows, time } = slot
      if (whole !== null) yield { block: whole.block, whole }
      else {
        this.#tally.rows += rows.length
        yield { block: blockOfTrades(slot.slot, time, rows), whole }
      }
    }
    if (this.#isHoldingBack) await this.#input.onHeldBack()
  }

  /** Yields slots that facts name, after a slot. */
  async *#slots(after: Knot | null): AsyncGenerator<ReadySlot, void> {
    const { facts, firstLive } = this.#input
    let before = after
    let isFirst = after !== null && isOfFiles(this.#input.after!)
    /** A slot of files, which the next whole block may contradict. */
    let pending: ReadySlot | null = null
    for await (const each of slotFacts(facts, after === null ? 0 : after.slot + 1)) {
      if (firstLive !== null && each.slot >= firstLive.slot) break
      if (isFirst && contradicts(each.whole, after!.time)) throw new HeadContradicted()
      isFirst = false
      if (pending !== null) {
        if (contradicts(each.whole, pending.time))
          this.#holdBack('time-contradicts-slot', pending.rows.length)
        else {
          yield pending
          before = pending
        }
        pending = null
      }
      const ready = await this.#ready(each, before)
      if (ready === null) continue
      if (ready.whole === null) pending = ready
      else {
        yield ready
        before = ready
      }
    }
    if (pending !== null) yield pending
  }

  async #ready(
    { slot, whole, rows, time: ofNode }: SlotFacts,
    before: Knot | null
  ): Promise<ReadySlot | null> {
    const trades = distinctTrades(rows)
    if (whole !== null) {
      this.#tally.superseded += trades.length
      this.#tally.repeated += rows.length - trades.length
      return { slot, time: whole.block.blockTime, whole, rows: [] }
    }
    this.#tally.repeated += rows.length - trades.length
    const times = trades.flatMap(({ fact }) => fact.blockTime ?? [])
    const stated = times.length === 0 ? ofNode : Math.min(...times)
    if (stated === null) return this.#holdBack('unknown-time', trades.length)
    if (before !== null && stated < before.time - TIME_FALLS_MAX)
      return this.#holdBack('time-contradicts-slot', trades.length)
    const time = Math.max(stated, before?.time ?? stated)
    const complete = await this.#complete(trades)
    return complete.length === 0 ? null : { slot, time, whole: null, rows: complete }
  }

  /** Returns the trades with known decimals, up to the number of cursors in a slot. */
  async #complete(trades: readonly ArchivedRow[]): Promise<CompleteRow[]> {
    const complete: CompleteRow[] = []
    for (const row of trades) {
      const { in: paid, out: received } = row.fact
      const [inDecimals, outDecimals] = [
        await this.#input.decimals.of(paid.mint),
        await this.#input.decimals.of(received.mint)
      ]
      if (inDecimals === null || outDecimals === null) this.#holdBack('unknown-decimals', 1)
      else if (
        (paid.decimals ?? inDecimals) !== inDecimals ||
        (received.decimals ?? outDecimals) !== outDecimals
      )
        this.#holdBack('decimals-contradict', 1)
      else complete.push({ ...row, inDecimals, outDecimals })
    }
    this.#holdBack('no-position', Math.max(complete.length - TRADES_MAX, 0))
    return complete
  }

  #holdBack(reason: HeldBackReason, rows: number): null {
    this.#tally.holdBack(reason, rows)
    if (rows > 0) this.#isHoldingBack = true
    return null
  }

  /** Yields all slots, with those of rows that state none between them. */
  async *#allSlots(): AsyncGenerator<ReadySlot, void> {
    const { facts, firstLive } = this.#input
    const timed = new TimedRows(facts)
    let knot: ReadySlot = BEFORE_ALL
    /** Signatures of the slots of the knot's second. */
    let signatures = new Set<string>()
    try {
      for await (const each of this.#slots(null)) {
        if (each.time > knot.time) {
          yield* this.#between(knot, each, timed, signatures)
          signatures = new Set()
        } else if (isFilled(knot)) yield knot
        for (const text of signaturesOf(each)) signatures.add(text)
        knot = each
      }
      yield* this.#between(knot, firstLive === null ? null : knotOf(firstLive), timed, signatures)
      for (let rows = await timed.before(null); rows !== null; rows = await timed.before(null))
        this.#tally.live += rows.rows.length
    } finally {
      await timed.close()
    }
  }

  /** Yields a slot, and those of rows whose times come before the next slot. */
  async *#between(
    knot: ReadySlot,
    until: Knot | null,
    timed: TimedRows,
    signatures: ReadonlySet<string>
  ): AsyncGenerator<ReadySlot, void> {
    let open: ReadySlot = knot
    for (;;) {
      const next = await timed.before(until)
      if (next === null) break
      const trades = distinctTrades(next.rows)
      const isKnown = ({ fact }: ArchivedRow): boolean =>
        next.time <= knot.time && signatures.has(textOf(fact.signature))
      const fresh = trades.filter((row) => !isKnown(row))
      this.#tally.repeated += next.rows.length - fresh.length
      const slot = placeBetween(knot, until, next.time)
      if (slot === null) {
        this.#tally.superseded += fresh.length
        continue
      }
      const complete = await this.#complete(fresh)
      if (slot === open.slot) open = { ...open, rows: [...open.rows, ...complete] }
      else {
        if (isFilled(open)) yield open
        open = { slot, time: Math.max(next.time, open.time), whole: null, rows: complete }
      }
    }
    if (isFilled(open)) yield open
  }
}

/** The trades without a slot, second by second. */
class TimedRows {
  readonly #seconds: ReturnType<typeof timedRows>
  #next: { readonly time: number; readonly rows: readonly ArchivedRow[] } | null | undefined

  constructor(facts: FactStore) {
    this.#seconds = timedRows(facts)
  }

  /** Takes the rows of the next second before a knot's; null if no row is. */
  async before(
    until: Knot | null
  ): Promise<{ readonly time: number; readonly rows: readonly ArchivedRow[] } | null> {
    if (this.#next === undefined) this.#next = await taken(this.#seconds)
    const next = this.#next
    if (next === null || (until !== null && next.time >= until.time)) return null
    this.#next = undefined
    return next
  }

  async close(): Promise<void> {
    await this.#seconds.return()
  }
}

const knotOf = ({ slot, blockTime }: Pick<SlotRow, 'slot' | 'blockTime'>): Knot => ({ slot, time: blockTime })

/** The knot before the first slot of the chain. */
const BEFORE_ALL: ReadySlot = { slot: -1, time: CHAIN_START, whole: null, rows: [] }

/** Returns whether a whole block says that a slot before it cannot have a time. */
const contradicts = (whole: ArchivedBlock | null, time: number): boolean =>
  whole !== null && whole.block.blockTime < time - TIME_FALLS_MAX

const isFilled = ({ whole, rows }: ReadySlot): boolean => whole !== null || rows.length > 0

const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')

const signaturesOf = ({ whole, rows }: ReadySlot): string[] =>
  whole !== null
    ? whole.block.entries.map(({ signature }) => textOf(signature))
    : rows.map(({ fact }) => textOf(fact.signature))

/** Returns the slot of a time from a knot's on, below the next knot; null if whole blocks have all of them. */
function placeBetween(knot: ReadySlot, until: Knot | null, time: number): number | null {
  const slot =
    until === null
      ? knot.slot + Math.floor((time - knot.time) * SLOTS_PER_SECOND)
      : knot.slot + Math.floor(((time - knot.time) * (until.slot - knot.slot)) / (until.time - knot.time))
  if (slot > knot.slot || (slot >= 0 && knot.whole === null)) return slot
  return until === null || knot.slot + 1 < until.slot ? knot.slot + 1 : null
}
