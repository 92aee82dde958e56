import type { PlainEvents } from '../chain/decode-block.ts'
import { PubkeyTable } from '../chain/pubkey.ts'
import type { Block } from '../chain/transaction.ts'
import { BlockQueue, QUEUE_MAX, type QueuedBlock } from '../ingest/block-queue.ts'
import { ledgerChanges } from './ledger-changes.ts'
import type { LedgerChange } from './ledger-entry.ts'
import { holesIn } from './ledger-holes.ts'
import type { LedgerHole } from './ledger-progress.ts'

/** The content of a block that the ledger needs. */
export interface LedgerChanges {
  /** Changes of watched addresses, by address. */
  readonly byAddress: ReadonlyMap<string, readonly LedgerChange[]>
  /** Sections that the block does not state, so that changes may be missing. */
  readonly holes: readonly LedgerHole[]
}
export type LedgerBlock = QueuedBlock<LedgerChanges>

/**
 * Queues the balance changes of watched addresses for the follower of the ledger. It costs nothing while no address
 * is watched.
 */
export class LedgerBlocks extends BlockQueue<LedgerChanges> {
  /** By address, the newest slot whose block was read without it; -1 before the first. */
  #readWithout: ReadonlyMap<string, number> = new Map()
  #table = new PubkeyTable<string>([])

  protected get isOn(): boolean {
    return this.#readWithout.size > 0
  }

  protected get eventsMax(): number {
    return QUEUE_MAX
  }

  /** Returns the newest slot whose block was read before this process knew an address; -1 before the first. */
  readWithout(address: string): number {
    return this.#readWithout.get(address) ?? this.newestSeen
  }

  /** Sets the addresses for blocks that are read later. Returns the newest slot already read. */
  watch(addresses: ReadonlySet<string>): number {
    const before = this.#readWithout
    const isSame = addresses.size === before.size && [...addresses].every((address) => before.has(address))
    if (isSame) return this.newestRead
    this.#table = new PubkeyTable([...addresses].map((address) => [address, address] as const))
    this.#readWithout = new Map([...addresses].map((address) => [address, this.readWithout(address)]))
    return this.newestRead
  }

  protected changesIn(block: Block, plain?: PlainEvents): LedgerChanges {
    return { byAddress: ledgerChanges(block, this.#table, plain), holes: holesIn(block) }
  }
}
