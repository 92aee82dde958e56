import { pubkeyFromBase58, pubkeyMapKey, type Pubkey } from '../../src/chain/pubkey.ts'
import type { MintChanges } from '../../src/holders/balance-changes.ts'
import type { HolderListState, HolderMint } from '../../src/holders/holder-mint.ts'
import { ListOverlay } from '../../src/holders/list-overlay.ts'
import type { Stored } from '../../storage/documents.ts'
import {
  isLargeReading,
  LIST_ACCOUNTS_MAX,
  nextReading,
  orderOfReading,
  SMALL_LIST_ACCOUNTS_MAX,
  type HolderListId
} from '../../storage/port.ts'
import type { Member } from '../supervision/dynamic-supervisor.ts'
import type { HolderDeps } from './holder-deps.ts'
import { LoadingFault, type ListLoading } from './list-loading.ts'
import { fold, isStored, storeBlock, rollBack } from './list-store.ts'
import type { RecentRows } from './recent-rows.ts'

/** The states of lists in the store. */
export interface StoredStates {
  readonly put: (list: HolderList, state: HolderListState) => Promise<void>
  /** Whether no other process has announced itself as the writer. */
  readonly isOurs: (list: HolderList) => Promise<boolean>
}

/** A holder list, as its follower maintains it. */
export class HolderList {
  readonly mint: Pubkey
  readonly key: string
  readonly #deps: HolderDeps
  readonly #recent: RecentRows
  readonly #stored: StoredStates
  /** The values of the log of a reading. That of a reading without blocks is empty. */
  #log = { reading: 0, overlay: new ListOverlay() }
  document: Stored<HolderMint>
  state: HolderListState
  /** The current reading, or null. */
  loading: ListLoading | null = null
  /** Reads it, and again after each fault; null before the first reading. */
  reader: Member | null = null

  constructor(
    document: Stored<HolderMint>,
    state: HolderListState,
    deps: HolderDeps,
    recent: RecentRows,
    stored: StoredStates
  ) {
    this.document = document
    this.state = state
    this.mint = pubkeyFromBase58(document.value.mint)
    this.key = pubkeyMapKey(this.mint)
    this.#deps = deps
    this.#recent = recent
    this.#stored = stored
  }

  get isLive(): boolean {
    return this.state.state === 'live'
  }

  get id(): HolderListId {
    return { mint: this.mint, reading: this.state.reading }
  }

  /** Stores a change of its state. */
  async put(change: Partial<HolderListState>): Promise<void> {
    const state = { ...this.state, ...change }
    await this.#stored.put(this, state)
    this.state = state
  }

  /** Tells whether the list would be large with a number of accounts. The embedded store has one layout for all lists. */
  isLargeWith(accounts: number): boolean {
    const { storage, limits } = this.#deps
    return storage.isShared && accounts > (limits.smallListMax ?? SMALL_LIST_ACCOUNTS_MAX)
  }

  /** Whether the list has more accounts than its rows may have in their layout. */
  get hasOutgrown(): boolean {
    const { accounts, reading } = this.state
    if (accounts > (this.#deps.limits.listMax ?? LIST_ACCOUNTS_MAX)) return true
    return !isLargeReading(reading) && this.isLargeWith(accounts)
  }

  /**
   * Takes the number of the next reading, and deletes the rows of the last attempt. No other process has this number,
   * because a paused process may later write under its own. Rejects with LoadingFault if another process has taken over.
   */
  async beginReading(isLarge: boolean): Promise<number> {
    const { reading, begun } = this.state
    const next = nextReading([reading, begun], isLarge)
    await this.put({ begun: next })
    if (!(await this.#stored.isOurs(this)))
      throw new LoadingFault('another process has taken over the holder lists', true)
    if (orderOfReading(begun) > orderOfReading(reading))
      await this.#deps.storage.holders.clear({ mint: this.mint, reading: begun })
    return next
  }

  /** Stores a block; resolves with the reason why it does not follow the list, or null. */
  async take(slot: number, changes: MintChanges): Promise<string | null> {
    const outcome = await storeBlock(this.#recent, this.id, this.#overlay, slot, changes)
    if ('fault' in outcome) return outcome.fault
    this.state = { ...this.state, accounts: outcome.accounts }
    return null
  }

  /** Accounts and owners whose values are in memory, because they are not folded. */
  get unfolded(): number {
    return this.#log.overlay.size
  }

  isStored(): Promise<boolean> {
    return isStored(this.#deps.storage.holders, this.id)
  }

  /** Rolls back the blocks after a slot, and reads the log up to it. */
  async rollBack(afterSlot: number): Promise<void> {
    const { reading } = this.state
    this.#log = { reading, overlay: await rollBack(this.#deps.storage.holders, this.id, afterSlot) }
  }

  /** Folds the blocks up to a slot into the snapshot. */
  fold(upToSlot: number): Promise<void> {
    return fold(this.#recent, this.#deps.storage.holders, this.id, this.#overlay, upToSlot)
  }

  get #overlay(): ListOverlay {
    const { reading } = this.state
    if (this.#log.reading !== reading) this.#log = { reading, overlay: new ListOverlay() }
    return this.#log.overlay
  }
}
