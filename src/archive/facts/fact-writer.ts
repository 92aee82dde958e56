import { pubkeyMapKey, type Pubkey } from '../../chain/pubkey.ts'
import type { ChainEvent } from '../../chain/events.ts'
import { decimalsOf } from '../../market/listing.ts'
import type { Fact, FactList, FactStore } from '../../../storage/port.ts'
import type { ArchivedRow } from './archived-row.ts'
import { changesChoice, packBlock, type ArchivedBlock } from './block-pack.ts'
import type { FoldTally } from './held-back.ts'
import type { StoredState } from './import-state.ts'
import type { MintDecimals } from './mint-decimals.ts'
import { PACK_ROWS_MAX, packRows, unpackRows } from './row-pack.ts'
import { changesTrades } from './same-trade.ts'
import { storedPositionFrom } from './stored-position.ts'
import { packSlotTime, type AbsentTimeReason } from './slot-time.ts'

/** Rows that are sorted together, or up to 99 more: about 20 MB. */
export const BATCH_ROWS = 20_000
/** Blocks that are stored together: up to 10 MB. */
const BATCH_BLOCKS = 32
/** Facts of one write, for the limit of a server's batch. */
const WRITE_FACTS = 1_000
/** Mints with decimals that need no look-up, 100 bytes each. */
const STATED_MAX = 500_000

/** Facts of a position that are not stored yet, and those that are. */
interface AddedFacts {
  readonly position: number
  readonly fresh: readonly Fact[]
  readonly stored: readonly Fact[]
}

/**
 * Stores the facts of an import.
 *
 * W1. Facts that are stored already are not written again, so a repeated import changes nothing.
 * W2. Before a fact is stored that changes what the store was folded from, the state says that the store is stale. So the
 *     store and the facts agree after a crash at any moment.
 * W3. A fact that changes no block makes nothing stale: a row of a slot with a whole block, a row that states no more of a
 *     trade than others, and a block of an older decoder.
 */
export class FactWriter {
  readonly #facts: FactStore
  readonly #state: StoredState
  readonly #decimals: MintDecimals
  /** The head of the archive's store; null if it is empty. */
  readonly #head: number | null
  readonly #stated = new Set<string>()
  #rows: ArchivedRow[] = []
  #blocks: ArchivedBlock[] = []
  #isStale = false
  #superseded = 0
  #repeated = 0

  constructor(facts: FactStore, state: StoredState, decimals: MintDecimals, head: number | null) {
    this.#facts = facts
    this.#state = state
    this.#decimals = decimals
    this.#head = head
  }

  /** Number of rows that are not stored yet. */
  get pendingRows(): number {
    return this.#rows.length
  }

  /** Stored rows that changed no block, which a fold after the head does not read. */
  get unchanging(): Pick<FoldTally, 'superseded' | 'repeated'> {
    return { superseded: this.#superseded, repeated: this.#repeated }
  }

  /** Takes a row; `flush` stores it. */
  addRow(row: ArchivedRow): void {
    this.#rows.push(row)
  }

  /** Takes a block, and stores it with others. */
  async addBlock(archived: ArchivedBlock): Promise<void> {
    this.#blocks.push(archived)
    if (this.#blocks.length >= BATCH_BLOCKS) await this.flush()
  }

  /** Stores all rows and blocks that were taken. Resolves once they are durable. */
  async flush(): Promise<void> {
    const [rows, blocks] = [this.#rows, this.#blocks]
    this.#rows = []
    this.#blocks = []
    for (const { fact } of rows)
      for (const leg of [fact.in, fact.out]) await this.#stateDecimals(leg.mint, leg.decimals, false)
    for (const { block } of blocks)
      for (const { event } of block.entries)
        for (const mint of mintsOf(event)) await this.#stateDecimals(mint, decimalsOf(event, mint), true)
    await this.#want(rows)
    const ofSlots = packsOf(rows, ({ fact }) => fact.slot)
    const ofTimes = packsOf(rows, ({ fact }) => (fact.slot === null ? fact.blockTime : null))
    const all: [FactList, Fact[]][] = [
      ['block', blocks.map(packBlock)],
      ['row', ofSlots],
      ['timed', ofTimes]
    ]
    for (const [list, facts] of all) await this.#store(list, facts)
  }

  /** Stores the times that a node states for slots. Resolves once they are durable. */
  async addTimes(times: ReadonlyMap<number, number>): Promise<void> {
    const facts = Array.from(times, ([slot, time]) => packSlotTime(slot, { kind: 'time', time }))
    await this.#store('time', facts)
  }

  /** Stores why a node gives no time of slots, so that it is not asked again. That changes no block. */
  async noteAbsentTimes(node: number, reasons: ReadonlyMap<number, AbsentTimeReason>): Promise<void> {
    const facts = Array.from(reasons, ([slot, reason]) =>
      packSlotTime(slot, { kind: 'absent', reason, node })
    )
    await this.#put('time', await this.#notStored('time', facts))
  }

  /** Notes the slots that rows name without a time, before the rows are stored. That changes no block. */
  async #want(rows: readonly ArchivedRow[]): Promise<void> {
    const timed = new Map<number, boolean>()
    for (const { fact } of rows)
      if (fact.slot !== null) timed.set(fact.slot, timed.get(fact.slot) === true || fact.blockTime !== null)
    const wanted = [...timed].filter(([, isTimed]) => !isTimed)
    const facts = wanted.map(([slot]) => packSlotTime(slot, { kind: 'wanted' }))
    await this.#put('time', await this.#notStored('time', facts))
  }

  async #store(list: FactList, facts: readonly Fact[]): Promise<void> {
    const added = await this.#added(list, facts)
    const fresh = added.flatMap((each) => each.fresh)
    const changing = (await this.#changing(list, added)).map(({ position }) => position)
    if (fresh.length > 0 && list === 'timed') {
      this.#isStale = true
      await this.#state.change({ hasTimed: true })
    }
    const head = this.#head ?? -1
    if (changing.some((position) => position <= head || this.#state.value.hasTimed)) this.#isStale = true
    // A second store may have been folded further than the first.
    if (changing.length > 0)
      await this.#state.change({ filling: null, ...(this.#isStale && { isStale: true }) })
    await this.#decimals.store()
    await this.#put(list, fresh)
  }

  async #put(list: FactList, facts: readonly Fact[]): Promise<void> {
    for (let at = 0; at < facts.length; at += WRITE_FACTS)
      await this.#facts.put(list, facts.slice(at, at + WRITE_FACTS))
  }

  async #notStored(list: FactList, facts: readonly Fact[]): Promise<Fact[]> {
    return (await this.#added(list, facts)).flatMap(({ fresh }) => fresh)
  }

  /** Returns the facts that are not stored, by position, with those that are. */
  async #added(list: FactList, facts: readonly Fact[]): Promise<AddedFacts[]> {
    const added: AddedFacts[] = []
    if (facts.length === 0) return added
    const ofPositions = Map.groupBy(facts, (fact) => fact.position)
    // An import mostly adds where nothing is stored: one read says so of all of its positions.
    const first = await storedPositionFrom(this.#facts, list, Math.min(...ofPositions.keys()))
    for (const [position, each] of ofPositions) {
      const stored = first === null || position < first ? [] : await this.#facts.at(list, position)
      const keys = new Set(stored.map(({ key }) => pubkeyMapKey(key)))
      const fresh = each.filter(({ key }) => !keys.has(pubkeyMapKey(key)))
      if (fresh.length > 0) added.push({ position, fresh, stored })
    }
    return added
  }

  /** Returns the positions whose blocks change (W3). Those that nothing was folded from count as changed. */
  async #changing(list: FactList, added: readonly AddedFacts[]): Promise<AddedFacts[]> {
    const { hasTimed, filling } = this.#state.value
    const head = hasTimed || filling !== null ? Infinity : (this.#head ?? -1)
    const changing: AddedFacts[] = []
    for (const each of added)
      if (each.position > head || (await this.#changes(list, each))) changing.push(each)
    return changing
  }

  async #changes(list: FactList, { position, fresh, stored }: AddedFacts): Promise<boolean> {
    if (list === 'block') return changesChoice(stored, fresh)
    if (list !== 'row') return true
    const rows = fresh.flatMap(unpackRows)
    if ((await this.#facts.at('block', position)).length > 0) {
      this.#superseded += rows.length
      return false
    }
    if (stored.length === 0 || changesTrades(stored.flatMap(unpackRows), rows)) return true
    this.#repeated += rows.length
    return false
  }

  /** Takes note of the decimals of a mint. If that changes rows that are folded, the store becomes stale. */
  async #stateDecimals(mint: Pubkey, decimals: number | null, isOfBlock: boolean): Promise<void> {
    if (decimals === null) return
    const text = `${pubkeyMapKey(mint)}${decimals}${isOfBlock ? 'b' : ''}`
    if (this.#stated.has(text)) return
    if (this.#stated.size >= STATED_MAX) this.#stated.clear()
    this.#stated.add(text)
    const change = await this.#decimals.state({ mint, decimals, isOfBlock })
    if (change === 'other' || (change === 'first' && this.#state.value.hasHeldBack)) {
      this.#isStale = true
      await this.#state.change({ isStale: true, filling: null })
    }
  }
}

function mintsOf(event: ChainEvent): Pubkey[] {
  const mints = event.kind === 'trade' ? [event.inMint, event.outMint] : [event.baseMint, event.quoteMint]
  return mints.filter((mint) => mint !== null)
}

/** Packs rows by their position; those without one are left out. Rows of a position keep their order. */
function packsOf(rows: readonly ArchivedRow[], positionOf: (row: ArchivedRow) => number | null): Fact[] {
  const packs: Fact[] = []
  for (const [position, each] of Map.groupBy(rows, positionOf))
    if (position !== null)
      for (let at = 0; at < each.length; at += PACK_ROWS_MAX)
        packs.push(packRows(position, each.slice(at, at + PACK_ROWS_MAX)))
  return packs
}
