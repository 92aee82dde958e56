import type { Commitment, SlotRow } from '../market/rows.ts'
import { other, SAME, type Standing, type WitnessedBlock } from '../node/standing.ts'
import type { StreamedBlock } from './read-block.ts'

/** Queries nodes, which know their genesis, about whether the block of a slot with a hash is of the store's cluster. */
export type AskNodes = (block: WitnessedBlock, signal: AbortSignal) => Promise<Standing>

export interface ClusterCheckOptions {
  readonly commitment: Commitment
  /** Returns the newest stored block; null for an empty store. */
  readonly head: () => Promise<Pick<SlotRow, 'slot' | 'blockTime' | 'parentSlot'> | null>
  /** Returns a committed slot; null if it is not stored. */
  readonly at?: (slot: number) => Promise<Pick<SlotRow, 'blockhash'> | null>
  /** Null if no node is configured. */
  readonly askNodes: AskNodes | null
  /** Called when a stream is accepted without proof. */
  readonly onUnproven: (line: string) => void
}

/** Maximum number of block hashes remembered: more than a server is ahead of us when a connection breaks. */
const KNOWN_MAX = 1_000
/** Block times do not fall along a chain; this much decrease is tolerated. */
const TIME_SLACK_SECONDS = 60

/**
 * Detects a stream of another cluster from the first block of each connection. The protocol cannot return the
 * genesis, so other evidence is used:
 *
 * G1. If an earlier or a stored block comes again, or as the parent, under its hash, the chain is the same.
 * G2. If a node has the block under its hash, the node's genesis is compared with the store's. If a node of the
 *     store's genesis has another block of the slot, the question stays open: either server may have been restored.
 * G3. The newest stored block comes again with its time and parent, or differs; or a later slot has an earlier time.
 * G4. Another block at the slot of one that came before or is stored, at confirmed, is of another cluster, or of a
 *     node restored to an older state. Only a node can decide; if no node is configured, the stream is refused.
 * G5. Without any of this evidence, the stream waits if nodes are configured. Otherwise it is accepted, and a warning
 *     is logged once if the store is not empty.
 */
export class ClusterCheck {
  readonly #options: ClusterCheckOptions
  readonly #known = new Map<number, string>()
  #isReported = false

  constructor(options: ClusterCheckOptions) {
    this.#options = options
  }

  get #isSettled(): boolean {
    return this.#options.commitment !== 'processed'
  }

  /** Remembers a block that was found to be of the chain. */
  note({ slot, blockhash }: StreamedBlock): void {
    this.#known.set(slot, blockhash)
    if (this.#known.size > KNOWN_MAX) this.#known.delete(this.#known.keys().next().value!)
  }

  /** Judges a stream by its first block. Rejects as the store does. */
  async standingOf(block: StreamedBlock, signal: AbortSignal): Promise<Standing> {
    const { askNodes } = this.#options
    const known = await this.#knownHash(block.slot)
    const knownParent = await this.#knownHash(block.parentSlot)
    if (known === block.blockhash || knownParent === block.parentBlockhash) return SAME
    const { slot, blockhash } = block
    const verdict = (await askNodes?.({ slot, blockhash, isSettled: this.#isSettled }, signal)) ?? null
    if (verdict !== null && verdict.kind !== 'unknown') return verdict
    if (this.#isSettled && (known !== null || knownParent !== null))
      return verdict ?? replaced(known === null ? block.parentSlot : slot)
    const head = await this.#options.head()
    if (head === null) return verdict ?? SAME
    const stored = this.#againstHead(block, head)
    // Waits for nodes that may still decide: a restored server has new blocks under old slots.
    if (stored !== null && (verdict === null || stored.kind === 'same')) return stored
    if (verdict === null) this.#reportUnproven(head.slot)
    return verdict ?? SAME
  }

  /** Returns the hash of a slot's block that arrived earlier or is stored; null if unknown. */
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
      return this.#isSettled ? other(`its block of slot ${slot} differs from the stored one`) : null
    }
    const later = slot > head.slot ? { slot, blockTime } : head
    const earlier = slot > head.slot ? head : { slot, blockTime }
    if (later.blockTime >= earlier.blockTime - TIME_SLACK_SECONDS) return null
    return other(
      `its slot ${slot} is of ${timeText(blockTime)}, slot ${head.slot}, the newest that is stored, of ${timeText(head.blockTime)}`
    )
  }

  #reportUnproven(slot: number): void {
    if (this.#isReported) return
    this.#isReported = true
    this.#options.onUnproven(
      `it cannot be verified to be of the stored cluster (newest slot ${slot}), because there is no node to compare with; it is assumed to be (set MILLRACE_RPC_URL)`
    )
  }
}

const replaced = (slot: number): Standing => ({
  kind: 'other',
  reason: `is of another cluster than the stored blocks, or was restored to an older state: its block of slot ${slot} differs from the earlier one. Only a node can decide between the two (set MILLRACE_RPC_URL)`
})

const timeText = (seconds: number): string => new Date(seconds * 1_000).toISOString()
