import { pubkeyOfMapKey, pubkeyToBase58, PubkeyTable } from '../chain/pubkey.ts'
import type { Block } from '../chain/transaction.ts'
import { BlockQueue, QUEUE_MAX, type QueuedBlock } from '../ingest/block-queue.ts'
import { balanceChanges, type BalanceChanges } from './balance-changes.ts'

/** A committed block with its changes of token balances. */
export type HolderBlock = QueuedBlock<BalanceChanges>

/** Blocks cached before the follower has set the wanted mints. A restart takes less time than these blocks. */
const EVENTS_UNFILTERED_MAX = 64

/**
 * Queues the token balances of committed blocks for the follower of holder lists. Costs nothing while it is off, or while
 * no mint is wanted.
 */
export class HolderBlocks extends BlockQueue<BalanceChanges> {
  #isBegun = false
  /** Null until the follower has set the wanted mints; until then all mints are wanted. */
  #mints: PubkeyTable<string> | null = null
  #wantsNone = false

  protected get isOn(): boolean {
    return this.#isBegun
  }

  protected get eventsMax(): number {
    return this.#mints === null ? EVENTS_UNFILTERED_MAX : QUEUE_MAX
  }

  /** Starts to queue blocks, in a process that has a follower. */
  begin(): void {
    this.#isBegun = true
  }

  /** Sets the wanted mints for blocks that are read from now on. Returns the newest slot already read. */
  want(mints: ReadonlySet<string>): number {
    const named = [...mints].map((mint) => [pubkeyToBase58(pubkeyOfMapKey(mint)), mint] as const)
    this.#mints = new PubkeyTable(named)
    this.#wantsNone = mints.size === 0
    return this.newestRead
  }

  /** Wants all mints again, for a follower that restarts. */
  wantAll(): void {
    this.#mints = null
    this.#wantsNone = false
  }

  protected changesIn(block: Block): BalanceChanges {
    return this.#wantsNone ? new Map() : balanceChanges(block, this.#mints)
  }
}
