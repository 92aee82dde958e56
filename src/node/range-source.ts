import { backoffMs, jittered } from '../../machines/backoff.ts'
import { sleep, type Ports } from '../ports.ts'
import { BlockFinder } from './block-finder.ts'
import type { BlockSource, SourcedBlock } from './block-source.ts'
import type { ChainNode, FetchedBlock, SlotGap } from './chain-node.ts'
import { inOrder } from './in-order.ts'
import { listSlots } from './listed-slots.ts'
import { NodeError } from './node-fault.ts'

/** Slots from the first to the last, both included. */
export interface SlotSpan {
  readonly from: number
  readonly to: number
}

export interface RangeSourceOptions extends Ports {
  /** The slots to read, ascending. */
  readonly ranges: readonly SlotSpan[]
  /** Maximum number of blocks in flight. */
  readonly prefetch: number
  /** Milliseconds for which a block is requested before it counts as lost, while nodes answer. */
  readonly giveUpMs: number
  /** Called for slots whose blocks no node gives. Returns whether to continue after them. */
  readonly onLost: (gap: SlotGap) => Promise<boolean>
  /** Called with each fault of a node that is waited for. */
  readonly onFault: (detail: string) => void
}

/** Slots listed by one request. An answer has 3 KB. */
const LIST_LIMIT = 256
/** Backoff of requests for lists while no node answers, in milliseconds. */
const LIST_BACKOFF = { floorMs: 500, ceilingMs: 30_000 }
/**
 * Maximum unlisted blocks before a listed one. They are found newest first, and held in memory until the oldest is there:
 * 16 of the largest blocks take 500 MB.
 */
const PARENTS_MAX = 16

/**
 * Reads the blocks of ranges of slots from nodes, ascending, each once. Waits while no node answers, or while nodes limit the
 * rate.
 *
 * R1. A parent within a range that no node has listed is fetched before its child.
 * R2. Blocks are finalized, and count as received at their block time, so that rows do not depend on the run.
 * R3. It ends at lost blocks unless `onLost` says otherwise.
 */
export class RangeSource implements BlockSource {
  readonly #options: RangeSourceOptions
  readonly #finder: BlockFinder
  /** The last slot up to which all blocks were yielded or lost; null before the first block. */
  reached: number | null = null

  constructor(nodes: readonly ChainNode[], options: RangeSourceOptions) {
    this.#options = options
    this.#finder = new BlockFinder(nodes, {
      ...options,
      onAbsent: ({ why, detail }) => {
        if (why === 'unavailable' || why === 'fault') options.onFault(detail)
      }
    })
  }

  async *blocks({ after, signal }: Parameters<BlockSource['blocks']>[0]): AsyncGenerator<SourcedBlock> {
    const stop = new AbortController()
    const end = AbortSignal.any([signal, stop.signal])
    try {
      for (const range of this.#options.ranges) {
        const from = Math.max(range.from, (after ?? -1) + 1)
        if (from <= range.to && !(yield* this.#range({ from, to: range.to }, end))) return
      }
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      stop.abort()
    }
  }

  /** Reads one range. Returns whether the next one may follow. */
  async *#range({ from, to }: SlotSpan, signal: AbortSignal): AsyncGenerator<SourcedBlock, boolean> {
    let last = from - 1
    const listed = this.#listed({ from, to }, signal)
    const found = inOrder(listed, this.#options.prefetch, (slot) => this.#finder.find(slot, signal))
    for await (const each of found) {
      if (each.kind === 'lost') {
        const { slot, reason, detail } = each
        if (!(await this.#options.onLost({ from: slot, to: slot, reason, detail }))) return false
        last = slot
      } else {
        const { parents, lost } = await this.#parentsOf(each, last, signal)
        if (lost !== null && !(await this.#options.onLost(lost))) return false
        for (const { block } of [...parents, each])
          yield { block, commitment: 'finalized', receivedAtMs: block.blockTime * 1_000 }
        last = each.block.slot
      }
      this.reached = last
    }
    this.reached = to
    return true
  }

  /** Fetches the unlisted blocks between `last` and a block, oldest first, and says which of them are lost. */
  async #parentsOf(
    { block }: FetchedBlock,
    last: number,
    signal: AbortSignal
  ): Promise<{ readonly parents: readonly FetchedBlock[]; readonly lost: SlotGap | null }> {
    const parents: FetchedBlock[] = []
    for (let slot = block.parentSlot; slot > last;) {
      const found =
        parents.length === PARENTS_MAX
          ? ({ kind: 'lost', reason: 'missing', detail: 'no node lists these blocks' } as const)
          : await this.#finder.find(slot, signal)
      if (found.kind === 'lost')
        return { parents, lost: { from: last + 1, to: slot, reason: found.reason, detail: found.detail } }
      parents.unshift(found)
      slot = found.block.parentSlot
    }
    return { parents, lost: null }
  }

  async *#listed({ from, to }: SlotSpan, signal: AbortSignal): AsyncGenerator<number> {
    for (let next = from; next <= to;) {
      const slots = await this.#list(next, Math.min(LIST_LIMIT, to - next + 1), signal)
      for (const slot of slots) if (slot <= to) yield slot
      next = (slots.at(-1) ?? to) + 1
    }
  }

  /** Lists slots, and retries while no node does. Rejects if the nodes refuse our credentials. */
  async #list(from: number, limit: number, signal: AbortSignal): Promise<readonly number[]> {
    const { clock, random, onFault } = this.#options
    for (let round = 1; ; round++) {
      try {
        return await listSlots(this.#finder.usable(), from, limit, signal)
      } catch (error) {
        if (!(error instanceof NodeError) || error.fault.kind === 'unauthorized') throw error
        onFault(error.message)
      }
      await sleep(clock, jittered(backoffMs(LIST_BACKOFF, round), random()), signal)
      signal.throwIfAborted()
    }
  }
}
