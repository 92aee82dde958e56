import type { Commitment, SlotRow } from '../market/rows.ts'
import { other, SAME, type Standing, type WitnessedBlock } from '../node/standing.ts'
import type { StreamedBlock } from './read-block.ts'

/** Asks nodes whether the block of a slot with a hash is of the cluster of the store: they know its genesis. */
export type AskNodes = (block: WitnessedBlock, signal: AbortSignal) => Promise<Standing>

export interface ClusterCheckOptions {
  readonly commitment: Commitment
  /** The newest block that is stored; null of an empty store. */
  readonly head: () => Promise<Pick<SlotRow, 'slot' | 'blockTime' | 'parentSlot'> | null>
  /** A committed slot; null where it is none. */
  readonly at?: (slot: number) => Promise<Pick<SlotRow, 'blockhash'> | null>
  /** Null where there is no node to ask. */
  readonly askNodes: AskNodes | null
  /** Hears of a stream that is taken without proof. */
  readonly onUnproven: (line: string) => void
}

/** Blocks whose hashes are kept in mind: more than a server is ahead of us when a connection breaks. */
const KNOWN_MAX = 1_000
/** Block times do not fall along a chain; so far they may, for all that is relied on here. */
const TIME_SLACK_SECONDS = 60

/**
 * Tells a stream of another cluster by the first block of each connection. The protocol has no genesis to ask for, so that
 * it takes other witnesses:
 *
 * G1. A block that came before or is stored, again or as the parent, shows the same chain, by its hash.
 * G2. A node has the block under the same hash, and its genesis is the store's; or its genesis is another. A node of the
 *     store's genesis with another block of the slot says nothing yet: it or the stream's server may have been put back.
 * G3. The newest stored block comes again with its time and parent; or not so; or a later slot is of an earlier time.
 * G4. Another block in the place of one that came before or is stored, at confirmed, is of another cluster, or of a node that
 *     was put back to an older state: only a node can tell, and without one the stream is refused.
 * G5. Where nothing of this can be had: with nodes to ask it is waited for; without, the stream is taken, and told of once
 *     where something is stored.
 */
export class ClusterCheck {
  readonly #options: ClusterCheckOptions
  readonly #known = new Map<number, string>()
  #isTold = false

  constructor(options: ClusterCheckOptions) {
    this.#options = options
  }

  get #isSettled(): boolean {
    return this.#options.commitment !== 'processed'
  }

  /** Keeps a block in mind that was found to be of the chain. */
  note({ slot, blockhash }: StreamedBlock): void {
    this.#known.set(slot, blockhash)
    if (this.#known.size > KNOWN_MAX) this.#known.delete(this.#known.keys().next().value!)
  }

  /** How the stream stands whose first block this is. Rejects with what the store rejects with. */
  async standingOf(block: StreamedBlock, signal: AbortSignal): Promise<Standing> {
    const { askNodes } = this.#options
    const known = await this.#knownHash(block.slot)
    const knownParent = await this.#knownHash(block.parentSlot)
    if (known === block.blockhash || knownParent === block.parentBlockhash) return SAME
    const { slot, blockhash } = block
    const told = (await askNodes?.({ slot, blockhash, isSettled: this.#isSettled }, signal)) ?? null
    if (told !== null && told.kind !== 'unknown') return told
    if (this.#isSettled && (known !== null || knownParent !== null))
      return told ?? replaced(known === null ? block.parentSlot : slot)
    const head = await this.#options.head()
    if (head === null) return told ?? SAME
    const stored = this.#againstHead(block, head)
    // What nodes may yet tell is waited for: a server that was put back has new blocks under old slots.
    if (stored !== null && (told === null || stored.kind === 'same')) return stored
    if (told === null) this.#tellUnproven(head.slot)
    return told ?? SAME
  }

  /** The hash of a slot's block that came before or is stored; null where it is not known. */
  async #knownHash(slot: number): Promise<string | null> {
    return this.#known.get(slot) ?? (await this.#options.at?.(slot))?.blockhash ?? null
  }

  #againstHead(
    { slot, blockTime, parentSlot }: StreamedBlock,
    head: Pick<SlotRow, 'slot' | 'blockTime' | 'parentSlot'>
  ): Standing | null {
    if (slot === head.slot) {
      const isHead = blockTime === head.blockTime && (head.parentSlot ?? parentSlot) === parentSlot
      if (isHead) return SAME
      return this.#isSettled ? other(`its block of slot ${slot} is not the one that is stored`) : null
    }
    const later = slot > head.slot ? { slot, blockTime } : head
    const earlier = slot > head.slot ? head : { slot, blockTime }
    if (later.blockTime >= earlier.blockTime - TIME_SLACK_SECONDS) return null
    return other(
      `its slot ${slot} is of ${timeText(blockTime)}, slot ${head.slot}, the newest that is stored, of ${timeText(head.blockTime)}`
    )
  }

  #tellUnproven(slot: number): void {
    if (this.#isTold) return
    this.#isTold = true
    this.#options.onUnproven(
      `nothing shows that it is of the cluster of slot ${slot}, the newest that is stored: it is taken for it, without a node to ask (MILLRACE_RPC_URL)`
    )
  }
}

const replaced = (slot: number): Standing => ({
  kind: 'other',
  reason: `is of another cluster than what is stored, or was put back to an older state: its block of slot ${slot} is not the one that came before. Only a node can tell (MILLRACE_RPC_URL)`
})

const timeText = (seconds: number): string => new Date(seconds * 1_000).toISOString()
