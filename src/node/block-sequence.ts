import type { SourcedBlock } from './block-source.ts'
import { sleep, type Clock } from '../ports.ts'
import type { BlockFinder, Found, LostBlock } from './block-finder.ts'
import type { BlockCommitment, ChainNode, FetchedBlock, SlotGap } from './chain-node.ts'
import { inOrder } from './in-order.ts'
import { NodeError } from './node-fault.ts'
import type { RollbackFinder } from './rollback.ts'

export interface SequenceOptions {
  readonly commitment: BlockCommitment
  /** Maximum number of blocks that are requested or queued for delivery. */
  readonly prefetch: number
  /**
   * Whether the slot of a head always has a block and need not be listed. True for a node whose answers are always
   * right.
   */
  readonly trustsHeads?: boolean
  readonly clock: Clock
  /** Resolves when a node reports a newer head, after `ms`, or when the signal aborts. */
  readonly headMoved: (ms: number, signal: AbortSignal) => Promise<void>
  /** Called and awaited before any later block is delivered. */
  readonly onGap: (gap: SlotGap) => void | Promise<void>
  /** Finds where the chain diverged from the stored blocks; null if there is no store, as for a recording. */
  readonly rollbacks?: Pick<RollbackFinder, 'find'> | null
  /** Called with the reason why no block is delivered although blocks are available; with null once delivery resumes. */
  readonly onDoubt?: (reason: string | null) => void
  /** Called with the oddities of a block that is delivered nevertheless. */
  readonly onOddity: (slot: number, detail: string) => void
}

/** Slots requested per listing, so that catching up takes one listing per 256 slots. */
const LIST_LIMIT = 256
/** Interval of repeating a listing if no node reports a newer head, in milliseconds. */
const LIST_INTERVAL_MS = 2_000
const AFTER_FAULT_MS = 250
/**
 * Time for which nodes are queried for another block of the slot before a rollback is considered. A lagging node has
 * that block by then.
 */
const OTHER_FORK_MS = 2_000
/** Pause between searches for a rollback that is not proven, in milliseconds. */
const DOUBT_RETRY_MS = 2_000
/** Maximum number of blocks held while following parents back from a block to a missing one. */
const DEPTH_MAX = 32
/** Maximum number of lost slots remembered. Beyond it all of them are abandoned. */
const LOST_MAX = 1_000
const TOO_DEEP = { reason: 'missing', detail: `${DEPTH_MAX} blocks in a row that no node lists` } as const

/**
 * Delivers the blocks of a chain in strict order, each once. The nodes may answer in any order and may be incomplete.
 *
 * N1. A block is delivered after its parent, matched by slot and by hash; the slots between them are skipped.
 * N2. If the parent is missing, the slots between are first requested from all nodes, then reported as a gap.
 * N3. A slot at or before the last one is delivered only as part of a rollback. A rollback requires a block that does
 *     not follow, no node with a following block, and a block in common with the store. Until then nothing is
 *     delivered.
 */
export class BlockSequence {
  readonly #finder: BlockFinder
  readonly #options: SequenceOptions
  /** The last delivered block. The hash of the store's last block is unknown. */
  #last: { readonly slot: number; readonly blockhash: string | null } | null = null
  /** The last slot that was delivered or abandoned. */
  #reached: number | null = null
  /** Later slots that were listed and not found. */
  readonly #lost = new Map<number, LostBlock>()

  constructor(finder: BlockFinder, options: SequenceOptions) {
    this.#finder = finder
    this.#options = options
  }

  /**
   * Delivers the blocks after a slot, whose block's hash may be known, until the signal aborts. If `slot` is null,
   * starts at the newest block.
   */
  async *after(
    slot: number | null,
    signal: AbortSignal,
    blockhash: string | null = null
  ): AsyncGenerator<SourcedBlock> {
    this.#reached = slot
    this.#last = slot === null ? null : { slot, blockhash }
    const stop = new AbortController()
    const end = AbortSignal.any([signal, stop.signal])
    try {
      yield* this.#placeAll(this.#liveSlots(end), 0, end)
    } catch (error) {
      if (!end.aborted) throw error
    } finally {
      stop.abort()
    }
  }

  async *#placeAll(
    slots: AsyncGenerator<number>,
    depth: number,
    signal: AbortSignal
  ): AsyncGenerator<SourcedBlock> {
    const find = async (slot: number): Promise<Found> =>
      this.#lost.get(slot) ?? this.#finder.find(slot, signal)
    const found = inOrder(slots, this.#options.prefetch, find)
    for await (const each of found) {
      if (signal.aborted) return
      yield* this.#place(each, depth, signal)
    }
  }

  async *#place(found: Found, depth: number, signal: AbortSignal): AsyncGenerator<SourcedBlock> {
    if (found.kind === 'lost') return this.#lose(found)
    const { slot, parentSlot } = found.block
    if (this.#reached !== null && slot <= this.#reached) return
    if (this.#reached !== null && parentSlot > this.#reached) {
      if (depth < DEPTH_MAX) {
        yield* this.#placeAll(this.#slotsUpTo(parentSlot, signal), depth + 1, signal)
        if (signal.aborted) return
      }
      if (parentSlot > this.#reached) await this.#abandon(parentSlot, this.#lost.get(parentSlot) ?? TOO_DEEP)
    }
    if (this.#follows(found)) yield this.#giveOut(found)
    else if (!this.#options.rollbacks) yield this.#giveOut(await this.#ofThisFork(found, signal))
    else yield* this.#afterFork(found, this.#options.rollbacks, signal)
  }

  /**
   * Handles a block that does not follow. Delivers another block of its slot that follows, or the block itself with
   * its proven rollback.
   */
  async *#afterFork(
    first: FetchedBlock,
    rollbacks: Pick<RollbackFinder, 'find'>,
    signal: AbortSignal
  ): AsyncGenerator<SourcedBlock> {
    const { onDoubt = () => undefined, clock } = this.#options
    const { slot } = first.block
    const fits = (each: FetchedBlock): boolean => this.#follows(each)
    for (let found: Found = first; ; found = await this.#finder.find(slot, signal)) {
      if (found.kind === 'lost') {
        onDoubt(null)
        return this.#lose(found)
      }
      const other = await this.#finder.find(slot, signal, fits, OTHER_FORK_MS)
      if (other.kind === 'block') {
        onDoubt(null)
        yield this.#giveOut(other)
        return
      }
      const { parentSlot } = found.block
      const strange = { slot, parentSlot, parentBlockhash: found.previousBlockhash, head: this.#last!.slot }
      const search = await rollbacks.find(strange, signal)
      if (search.kind !== 'unproven') {
        onDoubt(null)
        yield { ...this.#giveOut(found), ...(search.kind === 'rollback' && { rollback: search.rollback }) }
        return
      }
      onDoubt(
        `slot ${slot} does not follow slot ${this.#last?.slot}, the newest that is stored: ${search.reason}`
      )
      await sleep(clock, DOUBT_RETRY_MS, signal)
      signal.throwIfAborted()
    }
  }

  /** Returns whether a block follows the last one as far as known. After a gap every later parent is accepted. */
  #follows({ block, previousBlockhash }: FetchedBlock): boolean {
    const last = this.#last
    if (last === null || block.parentSlot > last.slot) return true
    return block.parentSlot === last.slot && (last.blockhash === null || last.blockhash === previousBlockhash)
  }

  async #ofThisFork(found: FetchedBlock, signal: AbortSignal): Promise<FetchedBlock> {
    const { slot, parentSlot } = found.block
    const other = await this.#finder.find(slot, signal, (each) => this.#follows(each))
    if (other.kind === 'block') return other
    this.#options.onOddity(
      slot,
      `its parent ${parentSlot} is not the ingested block of slot ${this.#last?.slot}, which is of a lost fork`
    )
    return found
  }

  #giveOut({ block, blockhash, unreadable }: FetchedBlock): SourcedBlock {
    const { slot } = block
    this.#last = { slot, blockhash }
    this.#reach(slot)
    if (unreadable > 0)
      this.#options.onOddity(slot, `${unreadable} of its transactions cannot be read and are left out`)
    const { commitment, clock } = this.#options
    return { block, commitment, receivedAtMs: clock.now() }
  }

  /** Remembers a block that was not found, until a later block shows whether its slot is missing. */
  async #lose(found: LostBlock): Promise<void> {
    if (this.#reached === null || found.slot <= this.#reached) return
    this.#lost.set(found.slot, found)
    if (this.#lost.size > LOST_MAX) await this.#abandon(found.slot, found)
  }

  /** Abandons all slots up to `to`. Skipped slots among them are unknown, because no later block names its parent yet. */
  async #abandon(to: number, { reason, detail }: Pick<SlotGap, 'reason' | 'detail'>): Promise<void> {
    if (this.#reached !== null && to <= this.#reached) return
    const from = this.#reached === null ? to : this.#reached + 1
    await this.#options.onGap({ from, to, reason, detail })
    this.#reach(to)
  }

  #reach(slot: number): void {
    this.#reached = slot
    for (const each of this.#lost.keys()) if (each <= slot) this.#lost.delete(each)
  }

  /** Lists new slots from the best node as they appear. */
  async *#liveSlots(signal: AbortSignal): AsyncGenerator<number> {
    let listed = this.#reached
    while (!signal.aborted) {
      const ahead = this.#finder.usable().filter(({ headSlot, isArchive }) => !isArchive && headSlot !== null)
      const newest = Math.max(-1, ...ahead.map(({ headSlot }) => headSlot!))
      listed ??= newest === -1 ? null : newest - 1
      let slots: readonly number[] | null = []
      if (listed !== null && newest > listed) {
        const from = listed + 1
        const nodes = ahead.filter(({ headSlot }) => headSlot! >= from)
        const isHead = this.#options.trustsHeads === true && newest === from
        slots = isHead ? [from] : await firstListing(nodes, from, LIST_LIMIT, signal)
      }
      for (const slot of slots ?? []) yield slot
      listed = slots?.at(-1) ?? listed
      if (slots === null) await sleep(this.#options.clock, AFTER_FAULT_MS, signal)
      else if (slots.length === 0 && !signal.aborted) await this.#options.headMoved(LIST_INTERVAL_MS, signal)
    }
  }

  /** Lists slots after the last reached one from all nodes, ending with a slot that is known to have a block. */
  async *#slotsUpTo(to: number, signal: AbortSignal): AsyncGenerator<number> {
    let from = (this.#reached ?? to - 1) + 1
    while (from < to && !signal.aborted) {
      const limit = Math.min(LIST_LIMIT, to - from + 1)
      const lists = await Promise.all(
        this.#finder.usable().map((node) => listing(node, from, limit, signal).then((list) => list ?? []))
      )
      const full = lists.filter((list) => list.length === limit).map((list) => list.at(-1)!)
      // The list is full; after its end, its node may know slots that the other nodes do not.
      const end = Math.min(to - 1, ...full)
      const slots = new Set(lists.flat().filter((slot) => slot <= end))
      for (const slot of [...slots].sort((a, b) => a - b)) yield slot
      from = end + 1
    }
    if (!signal.aborted) yield to
  }
}

async function firstListing(
  nodes: readonly ChainNode[],
  from: number,
  limit: number,
  signal: AbortSignal
): Promise<readonly number[] | null> {
  for (const node of nodes) {
    const slots = await listing(node, from, limit, signal)
    if (slots !== null && slots.length > 0) return slots
  }
  return nodes.length === 0 ? [] : null
}

/** Returns a node's list; null if it does not answer. */
async function listing(
  node: ChainNode,
  from: number,
  limit: number,
  signal: AbortSignal
): Promise<readonly number[] | null> {
  return node.slotsFrom(from, limit, signal).catch((error: unknown) => {
    if (error instanceof NodeError) return null
    throw error
  })
}
