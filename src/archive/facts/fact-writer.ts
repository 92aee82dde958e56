import { pubkeyMapKey, type Pubkey } from '../../chain/pubkey.ts'
import type { ChainEvent } from '../../chain/events.ts'
import { decimalsOf } from '../../market/listing.ts'
import type { Fact, FactList, FactStore } from '../../../storage/port.ts'
import type { ArchivedRow } from './archived-row.ts'
import { packBlock, type ArchivedBlock } from './block-pack.ts'
import type { StoredState } from './import-state.ts'
import type { MintDecimals } from './mint-decimals.ts'
import { PACK_ROWS_MAX, packRows } from './row-pack.ts'

/** Rows that are sorted together: about 20 MB. */
export const BATCH_ROWS = 20_000
/** Blocks that are stored together: up to 10 MB. */
const BATCH_BLOCKS = 32
/** Facts of one write, for the limit of a server's batch. */
const WRITE_FACTS = 1_000
/** Mints with decimals that need no look-up, 100 bytes each. */
const STATED_MAX = 500_000

/**
 * Stores the facts of an import.
 *
 * W1. Facts that are stored already are not written again, so a repeated import changes nothing.
 * W2. Before a fact is stored that changes what the store was folded from, the state says that the store is stale. So the
 *     store and the facts agree after a crash at any moment.
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
    const ofSlots = packsOf(rows, ({ fact }) => fact.slot)
    const ofTimes = packsOf(rows, ({ fact }) => (fact.slot === null ? fact.blockTime : null))
    const all: [FactList, Fact[]][] = [
      ['block', blocks.map(packBlock)],
      ['row', ofSlots],
      ['timed', ofTimes]
    ]
    for (const [list, facts] of all) await this.#store(list, facts)
  }

  async #store(list: FactList, facts: readonly Fact[]): Promise<void> {
    const fresh = await this.#notStored(list, facts)
    if (fresh.length > 0 && list === 'timed') {
      this.#isStale = true
      await this.#state.change({ hasTimed: true })
    }
    const head = this.#head ?? -1
    if (this.#state.value.hasTimed || fresh.some(({ position }) => position <= head))
      this.#isStale ||= fresh.length > 0
    // A second store may have been folded further than the first.
    if (fresh.length > 0) await this.#state.change({ filling: null, ...(this.#isStale && { isStale: true }) })
    await this.#decimals.store()
    for (let at = 0; at < fresh.length; at += WRITE_FACTS)
      await this.#facts.put(list, fresh.slice(at, at + WRITE_FACTS))
  }

  async #notStored(list: FactList, facts: readonly Fact[]): Promise<Fact[]> {
    const fresh: Fact[] = []
    for (const [position, each] of Map.groupBy(facts, (fact) => fact.position)) {
      const stored = new Set((await this.#facts.at(list, position)).map(({ key }) => pubkeyMapKey(key)))
      fresh.push(...each.filter(({ key }) => !stored.has(pubkeyMapKey(key))))
    }
    return fresh
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
