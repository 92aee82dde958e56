import type { SourcedBlock } from './block-source.ts'
import { sleep, type Clock } from '../ports.ts'
import type { BlockFinder, Found, LostBlock } from './block-finder.ts'
import type { BlockCommitment, ChainNode, FetchedBlock, SlotGap } from './chain-node.ts'
import { inOrder } from './in-order.ts'
import { NodeError } from './node-fault.ts'
import type { RollbackFinder } from './rollback.ts'

export interface SequenceOptions {
  readonly commitment: BlockCommitment
  /** Blocks under way or waiting for their turn, at most. */
  readonly prefetch: number
  readonly clock: Clock
  /** Resolves when a node tells of a newer head, or after `ms`, or when the signal aborts. */
  readonly headMoved: (ms: number, signal: AbortSignal) => Promise<void>
  /** Is told before any later block is given out. */
  readonly onGap: (gap: SlotGap) => void | Promise<void>
  /** Looks for where a chain left what is stored; null where nothing is, as for a recording. */
  readonly rollbacks?: Pick<RollbackFinder, 'find'> | null
  /** Hears why nothing more is given out though there are blocks; null once there is. */
  readonly onDoubt?: (reason: string | null) => void
  /** Hears what is odd about a block that is given out all the same. */
  readonly onOddity: (slot: number, detail: string) => void
}

/** Slots that are asked for at once. */
const LIST_LIMIT = 256
/** How long a listing is not asked for again, where no node tells of a newer head. */
const LIST_AGAIN_MS = 2_000
const AFTER_FAULT_MS = 250
/** How long nodes are asked for a block that follows, before the chain is looked at: a node that lags has it by then. */
const OTHER_FORK_MS = 2_000
/** Between two looks at a chain that does not follow and is not proven. */
const DOUBT_MS = 2_000
/** Blocks held that follow one another back from a block that came to one that is missing. */
const DEPTH_MAX = 32
/** Slots kept in mind that were not found; with more, all of them are given up. */
const LOST_MAX = 1_000
const TOO_DEEP = { reason: 'missing', detail: `${DEPTH_MAX} blocks in a row that no node lists` } as const

/**
 * The blocks of a chain in strict order, each once, out of nodes that answer in any order and may know less than all.
 *
 * N1. A block is given out when its parent was given out just before it, by slot and by hash; what lies between them is
 *     skipped.
 * N2. Where it is not so, whatever lies between is looked for on all nodes first, then told as a gap.
 * N3. A slot at or before the last one is given out only as part of a rollback: where a block does not follow, no node has one
 *     that does, and the last common block with what is stored was found. Until then nothing more is given out.
 */
export class BlockSequence {
  readonly #finder: BlockFinder
  readonly #options: SequenceOptions
  /** The last block that was given out. The hash is not known of the one that the store ends with. */
  #last: { readonly slot: number; readonly blockhash: string | null } | null = null
  /** The last slot that was given out or given up. */
  #reached: number | null = null
  /** Slots after it that were listed and not found. */
  readonly #lost = new Map<number, LostBlock>()

  constructor(finder: BlockFinder, options: SequenceOptions) {
    this.#finder = finder
    this.#options = options
  }

  /** Blocks after a slot, whose block may have a known hash, or from the newest one on, until the signal aborts. */
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
      if (parentSlot > this.#reached) await this.#giveUp(parentSlot, this.#lost.get(parentSlot) ?? TOO_DEEP)
    }
    if (this.#follows(found)) yield this.#giveOut(found)
    else if (!this.#options.rollbacks) yield this.#giveOut(await this.#ofThisFork(found, signal))
    else yield* this.#afterFork(found, this.#options.rollbacks, signal)
  }

  /** A block that does not follow: one of its slot that does, or the rollback that it shows, once it is proven. */
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
      await sleep(clock, DOUBT_MS, signal)
      signal.throwIfAborted()
    }
  }

  /** Whether a block follows the last one, as far as is known. After slots that were given up nothing is known. */
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
      `its parent ${parentSlot} is not the block of slot ${this.#last?.slot} that was given out: that one is of a lost fork`
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

  /** Keeps in mind what was not found, until a later block says whether it is missing at all. */
  async #lose(found: LostBlock): Promise<void> {
    if (this.#reached === null || found.slot <= this.#reached) return
    this.#lost.set(found.slot, found)
    if (this.#lost.size > LOST_MAX) await this.#giveUp(found.slot, found)
  }

  /** Gives up the slots up to one; none of them is known to be skipped, for no block after them names its parent yet. */
  async #giveUp(to: number, { reason, detail }: Pick<SlotGap, 'reason' | 'detail'>): Promise<void> {
    if (this.#reached !== null && to <= this.#reached) return
    const from = this.#reached === null ? to : this.#reached + 1
    await this.#options.onGap({ from, to, reason, detail })
    this.#reach(to)
  }

  #reach(slot: number): void {
    this.#reached = slot
    for (const each of this.#lost.keys()) if (each <= slot) this.#lost.delete(each)
  }

  /** Slots that the best node lists, as they come. */
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
        slots = await firstListing(nodes, from, LIST_LIMIT, signal)
      }
      for (const slot of slots ?? []) yield slot
      listed = slots?.at(-1) ?? listed
      if (slots === null) await sleep(this.#options.clock, AFTER_FAULT_MS, signal)
      else if (slots.length === 0 && !signal.aborted) await this.#options.headMoved(LIST_AGAIN_MS, signal)
    }
  }

  /** Slots after the one that was reached that any node lists, up to one that is known to have a block. */
  async *#slotsUpTo(to: number, signal: AbortSignal): AsyncGenerator<number> {
    let from = (this.#reached ?? to - 1) + 1
    while (from < to && !signal.aborted) {
      const limit = Math.min(LIST_LIMIT, to - from + 1)
      const lists = await Promise.all(
        this.#finder.usable().map((node) => listing(node, from, limit, signal).then((list) => list ?? []))
      )
      const full = lists.filter((list) => list.length === limit).map((list) => list.at(-1)!)
      // Beyond the end of a full list, its node may know of slots that the others do not.
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

/** What a node lists; null when it does not answer. */
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
