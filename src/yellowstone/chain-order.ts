import type { Rollback, SourcedBlock } from '../node/block-source.ts'
import type { Block } from '../chain/transaction.ts'
import { sleep } from '../ports.ts'
import type { HeldBlocks } from './held-blocks.ts'
import type { FetchMissing, OrderOptions, StreamGap } from './order-options.ts'
import type { StreamedBlock } from './read-block.ts'

const LONG_MS = 60_000
/** Pause between searches for a rollback that is not proven, in milliseconds. */
const DOUBT_RETRY_MS = 2_000

/**
 * Puts blocks of a stream in the order of the chain.
 *
 * C1. A block is delivered once, after every slot before it was delivered, skipped or reported as a gap.
 * C2. It follows the block delivered before it by slot and hash, or comes after a gap or a reported fork.
 * C3. A slot at or below the last one is delivered only as part of a rollback. If a block does not follow and nodes
 *     are configured, a rollback is searched for. Until it is proven no block is delivered.
 * C4. After a gap, a block itself does not show whether it follows. If nodes are configured, it is delivered once no
 *     node has another block at the slot of the last delivered block. Another block there means a rollback as in C3.
 *
 * A working chain has no forks at confirmed and finalized. At processed it has forks: the next delivered block names
 * the parent from which it continues, and all blocks delivered after that parent are lost. Blocks of the winning fork
 * below the last slot are not delivered, and of two blocks of one slot the first is delivered; both cases end with a
 * reported fork. A dead slot has no block in a stream.
 */
export class ChainOrder {
  readonly counts = { given: 0, repeated: 0, fetched: 0, gapSlots: 0, forks: 0 }
  readonly #held: HeldBlocks
  readonly #options: OrderOptions
  /** The last delivered block; its hash is known if it came in the stream. */
  #head: { readonly slot: number; readonly blockhash: string | null } | null = null
  /** The last slot that was delivered, skipped or abandoned. */
  #settled: number | null = null
  /** A gap since the head that is not reported yet. */
  #gap: StreamGap | null = null
  /** Time since which a slot has been requested without success; reset when a block is delivered. */
  #missingSinceMs: number | null = null
  /** Slots that a node called skipped although their child names them as its parent. */
  readonly #doubted = new Set<number>()
  readonly #fetches = new Map<number, Promise<Block | 'skipped' | null>>()

  /** Takes the position to resume after, and its block's hash if known. */
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

  /** The first slot that is neither settled nor held; null if any slot is wanted. */
  get nextSlot(): number | null {
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
        const rollback = place === 'next' ? {} : await this.#leave(block, place, signal)
        if (rollback === null) {
          yield* this.#otherThan(block, signal)
          continue
        }
        this.#take(block.slot)
        yield { ...(await this.#giveOut(block, receivedAtMs)), ...rollback }
      }
    }
  }

  #take(slot: number): void {
    this.#held.remove(slot)
    this.#options.onTaken()
  }

  #placeOf(block: Linked): Place {
    const { slot, parentSlot, parentBlockhash } = block
    const [settled, head] = [this.#settled, this.#head]
    if (settled === null) return 'next'
    if (slot <= settled) return 'settled'
    // A block that a node fetched from old records names no parent.
    if (parentSlot === null) return slot === settled + 1 ? 'next' : 'ahead'
    if (parentSlot > settled) return 'ahead'
    if (head === null || parentSlot < head.slot) return 'fork'
    if (parentSlot > head.slot) {
      return this.#gap !== null && parentSlot <= this.#gap.to ? 'after gap' : 'doubtful'
    }
    const hashes = [head.blockhash, parentBlockhash ?? null]
    return hashes.includes(null) || hashes[0] === hashes[1] ? 'next' : 'fork'
  }

  /** Requests a slot again: a node called it skipped, but a block names it as its parent. */
  #doubt(slot: number): void {
    this.#options.onOddity(slot, 'a node says it is skipped, but a block comes after it')
    this.#doubted.add(slot)
    this.#settled = slot - 1
  }

  /** Makes one step towards a block whose parent is missing: waits for the parent, fetches the next slot, or abandons it. */
  async *#bridge(to: number, sinceMs: number, signal: AbortSignal): AsyncGenerator<SourcedBlock> {
    const { clock, tuning, fetchMissing, arrival } = this.#options
    const graceMs = sinceMs + tuning.graceMs - clock.now()
    if (graceMs > 0) return arrival(Math.min(graceMs, tuning.graceMs), signal)
    const slot = this.#settled! + 1
    if (fetchMissing === null) return this.#abandon(to, 'no-node')
    const found = await this.#fetch(slot, to, fetchMissing, signal)
    if (signal.aborted || this.#held.has(slot)) return
    if (found !== null && found !== 'skipped') yield* this.#placeFetched(found, signal)
    else if (found === 'skipped' && slot !== to && !this.#doubted.has(slot)) this.#settled = slot
    else {
      this.#missingSinceMs ??= clock.now()
      if (clock.now() - this.#missingSinceMs >= tuning.giveUpMs) this.#abandon(slot, 'missing')
      else await sleep(clock, tuning.retryMs, signal)
    }
  }

  /**
   * Returns the proven rollback of a block that does not follow, or may not after a gap, if any; null if nothing is
   * proven and the block must wait.
   */
  async #leave(
    block: Linked,
    place: 'fork' | 'after gap',
    signal: AbortSignal
  ): Promise<{ readonly rollback?: Rollback } | null> {
    const { rollbacks = null, onDoubt = () => undefined, clock } = this.#options
    const { slot, parentBlockhash = null } = block
    const parentSlot = block.parentSlot!
    const head = this.#head!.slot
    const strange = { slot, parentSlot, parentBlockhash, head }
    const isAfterGap = place === 'after gap'
    const search = await rollbacks?.find(isAfterGap ? { ...strange, isAfterGap } : strange, signal)
    if (search?.kind === 'unproven') {
      onDoubt(`slot ${slot} does not follow slot ${head}, the newest that is stored: ${search.reason}`)
      await sleep(clock, DOUBT_RETRY_MS, signal)
      return null
    }
    onDoubt(null)
    if (search?.kind !== 'rollback') {
      if (!isAfterGap) await this.#reportFork(slot, parentSlot)
      return {}
    }
    // The blocks of the rollback also replace those of the gap.
    this.#gap = null
    await this.#reportFork(slot, Math.min(parentSlot, search.rollback.after))
    return { rollback: search.rollback }
  }

  /**
   * Delivers another block in place of a held one that does not follow: the held one arrived before its server was
   * restored to an older state.
   */
  async *#otherThan({ slot, blockhash }: StreamedBlock, signal: AbortSignal): AsyncGenerator<SourcedBlock> {
    const found = (await this.#options.fetchMissing?.(slot, signal).catch(() => null)) ?? null
    if (found === null || found === 'skipped' || found.slot !== slot || found.blockhash === blockhash) return
    if (this.#placeOf(found) !== 'next') return
    this.#take(slot)
    this.#options.onDoubt?.(null)
    yield* this.#placeFetched(found, signal)
  }

  async *#placeFetched(block: Block, signal: AbortSignal): AsyncGenerator<SourcedBlock> {
    const place = this.#placeOf(block)
    if (place === 'doubtful') return this.#doubt(block.parentSlot!)
    const leaves = place === 'fork' || place === 'after gap'
    const rollback = leaves ? await this.#leave(block, place, signal) : {}
    if (rollback === null) return
    this.counts.fetched++
    yield { ...(await this.#giveOut(block, this.#options.clock.now())), ...rollback }
  }

  /** Requests a slot and several after it, so that these are in flight. */
  async #fetch(
    slot: number,
    to: number,
    fetchMissing: FetchMissing,
    signal: AbortSignal
  ): Promise<Block | 'skipped' | null> {
    for (const each of this.#fetches.keys()) if (each < slot) this.#fetches.delete(each)
    const end = Math.min(to, slot + this.#options.tuning.prefetch - 1)
    for (let each = slot; each <= end; each++) {
      if (this.#fetches.has(each) || this.#held.has(each)) continue
      // A node that fails does not have the block.
      const answer = fetchMissing(each, signal).catch(() => null)
      this.#fetches.set(each, answer)
    }
    const found = (await this.#fetches.get(slot)) ?? null
    this.#fetches.delete(slot)
    if (found === null || found === 'skipped' || found.slot === slot) return found
    this.#options.onOddity(slot, `a node gave the block of slot ${found.slot} for it`)
    return null
  }

  /**
   * Abandons the slots from the last block on. Even slots reported as skipped are uncertain: the missing block would
   * have named its parent.
   */
  #abandon(to: number, reason: StreamGap['reason']): void {
    const from = (this.#head?.slot ?? to - 1) + 1
    this.#gap = { from, to, reason }
    this.#settled = to
  }

  async #reportGap(gap: StreamGap): Promise<void> {
    this.#gap = null
    this.counts.gapSlots += gap.to - gap.from + 1
    await this.#options.onGap(gap)
  }

  async #reportFork(slot: number, parentSlot: number): Promise<void> {
    this.counts.forks++
    await this.#options.onFork({ slot, parentSlot, head: this.#head!.slot })
  }

  async #giveOut(block: Block & Partial<Linked>, receivedAtMs: number): Promise<SourcedBlock> {
    if (this.#gap !== null) await this.#reportGap(this.#gap)
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

/** The relation of a block to the last delivered one; `after gap`: its parent was abandoned. */
type Place = 'settled' | 'next' | 'ahead' | 'doubtful' | 'fork' | 'after gap'

/** A block's links to the chain. */
interface Linked {
  readonly slot: number
  readonly parentSlot: number | null
  readonly parentBlockhash?: string
}

interface Hashes {
  readonly blockhash: string
  readonly unreadable: readonly { readonly index: number; readonly reason: string }[]
}
