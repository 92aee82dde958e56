import { PubkeyTable } from '../chain/pubkey.ts'
import type { Block } from '../chain/transaction.ts'
import { BlockQueue, QUEUE_MAX, type QueuedBlock } from '../node/block-queue.ts'
import { ledgerChanges } from './ledger-changes.ts'
import type { LedgerChange } from './ledger-entry.ts'

/** Changes of watched addresses in a block, by address. */
export type LedgerChanges = ReadonlyMap<string, readonly LedgerChange[]>
export type LedgerBlock = QueuedBlock<LedgerChanges>

/** Queues the balance changes of watched addresses for the follower of the ledger. It costs nothing while there are none. */
export class LedgerBlocks extends BlockQueue<LedgerChanges> {
  #addresses: ReadonlySet<string> = new Set()
  #table = new PubkeyTable<string>([])

  protected get isOn(): boolean {
    return this.#addresses.size > 0
  }

  protected get eventsMax(): number {
    return QUEUE_MAX
  }

  /** The addresses of blocks that are read from now on. */
  get addresses(): ReadonlySet<string> {
    return this.#addresses
  }

  /** Sets the addresses for blocks that are read from now on. Returns the newest slot already read. */
  watch(addresses: ReadonlySet<string>): number {
    const isSame = addresses.size === this.#addresses.size && addresses.isSubsetOf(this.#addresses)
    if (!isSame) this.#table = new PubkeyTable([...addresses].map((address) => [address, address] as const))
    this.#addresses = addresses
    return this.newestRead
  }

  protected changesIn(block: Block): LedgerChanges {
    return ledgerChanges(block, this.#table)
  }
}
