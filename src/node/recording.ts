import type { Ports } from '../ports.ts'
import { BlockFinder, type Found } from './block-finder.ts'
import type { BlockFolder } from './block-folder.ts'
import type { ChainNode, FetchedBlock, SlotGap } from './chain-node.ts'
import { inOrder } from './in-order.ts'
import { listSlots } from './listed-slots.ts'

export interface RecordingOptions {
  readonly from: number
  /** The last slot, included. */
  readonly to: number
  /** Maximum number of blocks in flight. */
  readonly prefetch: number
  readonly giveUpMs: number
  readonly ports: Ports
  /** Called for each written block. */
  readonly onBlock: () => void
  /** Called for slots that no node has. */
  readonly onGap: (gap: SlotGap) => void
}

/** Progress of a recording. */
export interface RecordingCounts {
  /** The last slot that was handled. */
  slot: number
  /** Blocks that the folder already had. */
  kept: number
  written: number
  bytes: number
  /** Blocks that no node has. */
  missing: number
  /** True after too many consecutive missing blocks; the rest was not tried. */
  isStopped: boolean
}

const LIST_LIMIT = 256
/** Consecutive missing blocks after which the rest is not tried: the nodes then probably store none of the range. */
const MISSING_IN_A_ROW_MAX = 16

/** Downloads the blocks of a range of slots that a folder lacks, each once, lowest first. */
export class Recording {
  readonly counts: RecordingCounts = {
    slot: 0,
    kept: 0,
    written: 0,
    bytes: 0,
    missing: 0,
    isStopped: false
  }
  readonly #folder: BlockFolder
  readonly #finder: BlockFinder
  readonly #options: RecordingOptions
  #missingInARow = 0
  /** The last slot known to have a block. */
  #last: number

  constructor(nodes: readonly ChainNode[], folder: BlockFolder, options: RecordingOptions) {
    this.#folder = folder
    this.#options = options
    this.#last = options.from - 1
    this.#finder = new BlockFinder(nodes, { giveUpMs: options.giveUpMs, ...options.ports })
  }

  /**
   * Runs to the end of the range, or until too many blocks are missing. A parent within the range that no node listed
   * is fetched too.
   *
   * @throws NodeError when no node lists slots; the signal's reason when it aborts
   */
  async run(signal: AbortSignal): Promise<void> {
    const { prefetch } = this.#options
    const found = inOrder(this.#listed(signal), prefetch, (slot) => this.#find(slot, signal))
    for await (const each of found) {
      if (each.kind === 'kept') this.#last = each.slot
      else if (each.kind === 'lost') this.#lose(each.slot, each.slot, each)
      else {
        await this.#parentsOf(each, signal)
        await this.#keep(each)
        this.#last = each.block.slot
      }
      this.counts.slot = Math.max(this.counts.slot, each.kind === 'block' ? each.block.slot : each.slot)
      if (this.#missingInARow < MISSING_IN_A_ROW_MAX) continue
      this.counts.isStopped = true
      return
    }
  }

  async #find(
    slot: number,
    signal: AbortSignal
  ): Promise<Found | { readonly kind: 'kept'; readonly slot: number }> {
    if (!this.#folder.slots.has(slot)) return this.#finder.find(slot, signal)
    this.counts.kept++
    return { kind: 'kept', slot }
  }

  async #parentsOf({ block }: FetchedBlock, signal: AbortSignal): Promise<void> {
    for (let slot = block.parentSlot; slot > this.#last && !this.#folder.slots.has(slot);) {
      const found = await this.#finder.find(slot, signal)
      if (found.kind === 'lost') return this.#lose(this.#last + 1, slot, found)
      await this.#keep(found)
      slot = found.block.parentSlot
    }
  }

  async #keep({ block, body }: FetchedBlock): Promise<void> {
    if (body === null) throw new TypeError('a recording needs the bytes of a block')
    this.counts.bytes += await this.#folder.write(block.slot, body)
    this.counts.written++
    this.#missingInARow = 0
    this.#options.onBlock()
  }

  #lose(from: number, to: number, { reason, detail }: Pick<SlotGap, 'reason' | 'detail'>): void {
    this.counts.missing++
    this.#missingInARow++
    this.#options.onGap({ from, to, reason, detail })
  }

  async *#listed(signal: AbortSignal): AsyncGenerator<number> {
    const { to } = this.#options
    for (let from = this.#options.from; from <= to;) {
      const slots = await listSlots(this.#finder.usable(), from, Math.min(LIST_LIMIT, to - from + 1), signal)
      for (const slot of slots) if (slot <= to) yield slot
      from = (slots.at(-1) ?? to) + 1
    }
  }
}
