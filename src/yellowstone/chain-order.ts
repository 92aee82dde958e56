import type { Rollback, SourcedBlock } from '../node/block-source.ts'
import type { Block } from '../chain/transaction.ts'
import type { Commitment } from '../market/rows.ts'
import type { RollbackFinder } from '../node/rollback.ts'
import { sleep, type Clock } from '../ports.ts'
import type { HeldBlocks } from './held-blocks.ts'

/** Asks a node for the block of a slot: the block, `skipped` where the chain has none, or null where it is not to be had. */
export type FetchMissing = (slot: number, signal: AbortSignal) => Promise<Block | 'skipped' | null>

/** Slots that were given up. */
export interface StreamGap {
  readonly from: number
  /** The last one, included. */
  readonly to: number
  /** `missing`: no node gave them in time; `no-node`: there is no node to ask. */
  readonly reason: 'missing' | 'no-node'
}

/** A block that does not follow the last one that was given out: that one is not of its chain. */
export interface StreamFork {
  readonly slot: number
  readonly parentSlot: number
  /** The last block that was given out. All after the parent are lost. */
  readonly head: number
}

export interface OrderOptions {
  readonly commitment: Commitment
  readonly clock: Clock
  readonly tuning: OrderTuning
  readonly fetchMissing: FetchMissing | null
  /** Is told before any later block is given out. */
  readonly onGap: (gap: StreamGap) => void | Promise<void>
  /** Is told before the block is given out. */
  readonly onFork: (fork: StreamFork) => void | Promise<void>
  /** Looks for where the chain left what was given out; null where there is no node to ask. */
  readonly rollbacks?: Pick<RollbackFinder, 'find'> | null
  /** Hears why nothing more is given out though there are blocks; null once there is. */
  readonly onDoubt?: (reason: string | null) => void
  /** Hears what is odd about a slot that stops nothing. */
  readonly onOddity: (slot: number, detail: string) => void
  /** Waits until a block came, the time is over, or the signal aborts. */
  readonly arrival: (ms: number, signal: AbortSignal) => Promise<void>
  /** Hears that a block left the held ones. */
  readonly onTaken: () => void
}

export interface OrderTuning {
  /** How long a block waits for its parent to come by itself. */
  readonly graceMs: number
  /** How long a missing block is asked for. */
  readonly giveUpMs: number
  readonly retryMs: number
  /** Missing blocks that are asked for at a time. */
  readonly prefetch: number
}

const LONG_MS = 60_000
/** Between two looks at a chain that does not follow and is not proven. */
const DOUBT_MS = 2_000

/**
 * Puts blocks of a stream in the order of the chain.
 *
 * C1. A block is given out once, after every slot before it is given out, skipped or told as a gap.
 * C2. It follows the one given out before it, by slot and hash, or comes after a gap, or a fork is told of.
 * C3. A slot at or below the last one is given out only as part of a rollback, which is looked for where a block does not
 *     follow and there are nodes to ask. Until it is proven nothing more is given out.
 *
 * At confirmed and finalized a fork does not happen on a chain that works. At processed it does: the block that is given
 * out next names the parent it goes on from, and what was given out after that is lost. Blocks of the winning fork below
 * the last slot are not given out any more, and of two blocks of one slot the first is; both end with a fork that is
 * told. A dead slot has no block in a stream.
 */
export class ChainOrder {
  readonly counts = { given: 0, repeated: 0, fetched: 0, gapSlots: 0, forks: 0 }
  readonly #held: HeldBlocks
  readonly #options: OrderOptions
  /** The last block that was given out; the hash is known of one that came in the stream. */
  #head: { readonly slot: number; readonly blockhash: string | null } | null = null
  /** The last slot that is accounted for. */
  #settled: number | null = null
  /** Given up since the head, and not told yet. */
  #gap: StreamGap | null = null
  /** Since when a slot is asked for in vain; it stays until a block is there. */
  #missingSinceMs: number | null = null
  /** Said to be skipped, by a node, and to have a block, by its child. */
  readonly #doubted = new Set<number>()
  readonly #asked = new Map<number, Promise<Block | 'skipped' | null>>()

  /** `blockhash`: of the block of `after`, where it is known. */
  constructor(
    held: HeldBlocks,
    after: number | null,
    options: OrderOptions,
    blockhash: string | null = null
  ) {
    this.#held = held
    this.#options = options
    this.#settled = after
    this.#head = after === null ? null : { slot: after, blockhash }
  }

  get settled(): number | null {
    return this.#settled
  }

  /** The first slot that is neither accounted for nor held; null while any would do. */
  get wanted(): number | null {
    return this.#settled === null ? null : this.#held.lastFollowing(this.#settled) + 1
  }

  async *blocks(signal: AbortSignal): AsyncGenerator<SourcedBlock> {
    while (!signal.aborted) {
      const next = this.#held.lowest()
      if (next === undefined) {
        await this.#options.arrival(LONG_MS, signal)
        continue
      }
      const { block, receivedAtMs } = next
      const place = this.#placeOf(block)
      if (place === 'settled') {
        this.counts.repeated++
        this.#take(block.slot)
      } else if (place === 'doubtful') this.#doubt(block.parentSlot)
      else if (place === 'ahead') yield* this.#bridge(block.parentSlot, receivedAtMs, signal)
      else {
        const rollback = place === 'fork' ? await this.#leave(block, signal) : {}
        if (rollback === null) continue
        this.#take(block.slot)
        yield { ...(await this.#giveOut(block, receivedAtMs)), ...rollback }
      }
    }
  }

  #take(slot: number): void {
    this.#held.remove(slot)
    this.#options.onTaken()
  }

  #placeOf(block: Linked): 'settled' | 'next' | 'ahead' | 'doubtful' | 'fork' {
    const { slot, parentSlot, parentBlockhash } = block
    const [settled, head] = [this.#settled, this.#head]
    if (settled === null) return 'next'
    if (slot <= settled) return 'settled'
    // A block that a node fetched from old records names no parent.
    if (parentSlot === null) return slot === settled + 1 ? 'next' : 'ahead'
    if (parentSlot > settled) return 'ahead'
    if (head === null || parentSlot < head.slot) return 'fork'
    if (parentSlot > head.slot) {
      return this.#gap !== null && parentSlot <= this.#gap.to ? 'next' : 'doubtful'
    }
    const hashes = [head.blockhash, parentBlockhash ?? null]
    return hashes.includes(null) || hashes[0] === hashes[1] ? 'next' : 'fork'
  }

  /** A node said that there is no block in a slot that a block names as its parent: it is asked again. */
  #doubt(slot: number): void {
    this.#options.onOddity(slot, 'a node says it is skipped, but a block comes after it')
    this.#doubted.add(slot)
    this.#settled = slot - 1
  }

  /** One step towards a block whose parent is missing: waits for it, fetches the next slot, or gives it up. */
  async *#bridge(to: number, sinceMs: number, signal: AbortSignal): AsyncGenerator<SourcedBlock> {
    const { clock, tuning, fetchMissing, arrival } = this.#options
    const graceMs = sinceMs + tuning.graceMs - clock.now()
    if (graceMs > 0) return arrival(Math.min(graceMs, tuning.graceMs), signal)
    const slot = this.#settled! + 1
    if (fetchMissing === null) return this.#giveUp(to, 'no-node')
    const found = await this.#fetch(slot, to, fetchMissing, signal)
    if (signal.aborted || this.#held.has(slot)) return
    if (found !== null && found !== 'skipped') yield* this.#placeFetched(found, signal)
    else if (found === 'skipped' && slot !== to && !this.#doubted.has(slot)) this.#settled = slot
    else {
      this.#missingSinceMs ??= clock.now()
      if (clock.now() - this.#missingSinceMs >= tuning.giveUpMs) this.#giveUp(slot, 'missing')
      else await sleep(clock, tuning.retryMs, signal)
    }
  }

  /** The rollback that a block shows, if any, once it is proven; null where it is not, and the block has to wait. */
  async #leave(block: Linked, signal: AbortSignal): Promise<{ readonly rollback?: Rollback } | null> {
    const { rollbacks = null, onDoubt = () => undefined, clock } = this.#options
    const { slot, parentBlockhash = null } = block
    const parentSlot = block.parentSlot!
    const head = this.#head!.slot
    const search = await rollbacks?.find({ slot, parentSlot, parentBlockhash, head }, signal)
    if (search?.kind === 'unproven') {
      onDoubt(`slot ${slot} does not follow slot ${head}, the newest that is stored: ${search.reason}`)
      await sleep(clock, DOUBT_MS, signal)
      return null
    }
    onDoubt(null)
    await this.#tellFork(block)
    return search?.kind === 'rollback' ? { rollback: search.rollback } : {}
  }

  async *#placeFetched(block: Block, signal: AbortSignal): AsyncGenerator<SourcedBlock> {
    const place = this.#placeOf(block)
    if (place === 'doubtful') return this.#doubt(block.parentSlot!)
    const rollback = place === 'fork' ? await this.#leave(block, signal) : {}
    if (rollback === null) return
    this.counts.fetched++
    yield { ...(await this.#giveOut(block, this.#options.clock.now())), ...rollback }
  }

  /** Asks for a slot and for some after it, so that they are on their way. */
  async #fetch(
    slot: number,
    to: number,
    fetchMissing: FetchMissing,
    signal: AbortSignal
  ): Promise<Block | 'skipped' | null> {
    for (const each of this.#asked.keys()) if (each < slot) this.#asked.delete(each)
    const end = Math.min(to, slot + this.#options.tuning.prefetch - 1)
    for (let each = slot; each <= end; each++) {
      if (this.#asked.has(each) || this.#held.has(each)) continue
      // A node that fails has not got it.
      const answer = fetchMissing(each, signal).catch(() => null)
      this.#asked.set(each, answer)
    }
    const found = (await this.#asked.get(slot)) ?? null
    this.#asked.delete(slot)
    if (found === null || found === 'skipped' || found.slot === slot) return found
    this.#options.onOddity(slot, `a node gave the block of slot ${found.slot} for it`)
    return null
  }

  /**
   * Gives up the slots from the last block on: of those that are said to be skipped before one that is missing nobody
   * knows, for what would name its parent is not there.
   */
  #giveUp(to: number, reason: StreamGap['reason']): void {
    const from = (this.#head?.slot ?? to - 1) + 1
    this.#gap = { from, to, reason }
    this.#settled = to
  }

  async #tellGap(gap: StreamGap): Promise<void> {
    this.#gap = null
    this.counts.gapSlots += gap.to - gap.from + 1
    await this.#options.onGap(gap)
  }

  async #tellFork({ slot, parentSlot }: Linked): Promise<void> {
    this.counts.forks++
    await this.#options.onFork({ slot, parentSlot: parentSlot!, head: this.#head!.slot })
  }

  async #giveOut(block: Block & Partial<Linked>, receivedAtMs: number): Promise<SourcedBlock> {
    if (this.#gap !== null) await this.#tellGap(this.#gap)
    const { slot, blockhash = null, unreadable = [] } = block as Block & Partial<Hashes>
    this.#head = { slot, blockhash }
    this.#settled = slot
    this.#doubted.clear()
    this.#missingSinceMs = null
    this.counts.given++
    const [first] = unreadable
    if (first !== undefined) {
      const count = unreadable.length
      this.#options.onOddity(
        slot,
        `${count} of its transactions cannot be read and are left out: ${first.reason}`
      )
    }
    return { block, commitment: this.#options.commitment, receivedAtMs }
  }
}

/** What ties a block to the chain. */
interface Linked {
  readonly slot: number
  readonly parentSlot: number | null
  readonly parentBlockhash?: string
}

interface Hashes {
  readonly blockhash: string
  readonly unreadable: readonly { readonly index: number; readonly reason: string }[]
}
