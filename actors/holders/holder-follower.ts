import type { HolderBlock } from '../../src/holders/holder-blocks.ts'
import type { BalanceChanges } from '../../src/holders/balance-changes.ts'
import {
  emptied,
  holderMintsIn,
  LIST_LAYOUT,
  NO_PROGRESS,
  holderProgressIn,
  type HolderMints,
  type HolderProgress
} from '../../src/holders/holder-mint.ts'
import { BlockFollower, POLL_INTERVAL_MS } from '../followers/block-follower.ts'
import type { HolderDeps } from './holder-deps.ts'
import type { HolderList } from './holder-list.ts'
import { ListReader, type ReadingKind } from './list-reader.ts'
import { RecentRows } from './recent-rows.ts'

/** Interval of listing the mints that other processes have requested, in milliseconds. */
const SYNC_MS = 1_000
/** Idle and list intervals in milliseconds without lists or other processes: each request for a list then wakes this one. */
const OFF_MS = 30_000
/**
 * Interval of folding logs into their snapshots, in milliseconds. A longer one folds more blocks together, and leaves more of
 * them to readers: those of a paging run and of a minute.
 */
const FOLD_MS = 60_000
/**
 * Accounts and owners of all logs in memory, about 50 MB. Above it logs are folded up to the newest slot, which ends paging
 * runs early.
 */
const UNFOLDED_MAX = 200_000

/**
 * Maintains the holder lists of requested mints.
 *
 * H1. Live lists are complete and exact at one slot, which moves with the blocks that this process commits. Readers see
 *     only these.
 * H2. A list begins with a node's answers about accounts. A block counts for an account only if its slot is after that of
 *     the account's answer. All blocks after the oldest answer are collected.
 * H3. A hole, a late block, or a stored balance that differs from the one before a block makes lists stale: they are served
 *     unchanged, and read from the node again.
 * H4. Blocks of a lost fork are rolled back as far as superseded versions are kept; lists that begin after it are read
 *     again.
 * H5. A row is durable before the slot reaches it. Rows after the stored slot are rolled back at the start.
 */
export class HolderFollower extends BlockFollower<BalanceChanges> {
  readonly #deps: HolderDeps
  readonly #lists = new Map<string, HolderList>()
  readonly #documents: HolderMints
  #reader: ListReader | null = null
  #progress: HolderProgress = NO_PROGRESS
  #saveProgress: (progress: HolderProgress) => Promise<void> = async () => undefined
  #slot: number | null = null
  #foldAtMs = 0
  /**
   * Slots with the times at which they were complete, oldest first; blocks up to a slot are folded once its time is over.
   */
  #complete: { readonly slot: number; readonly atMs: number }[] = []

  constructor(deps: HolderDeps) {
    super('holders', deps)
    this.#deps = deps
    this.#documents = holderMintsIn(deps.storage.documents)
  }

  get lists(): readonly HolderList[] {
    return [...this.#lists.values()]
  }

  /** The slot at which live lists are complete. */
  get slot(): number | null {
    return this.#slot
  }

  protected get idleMs(): number {
    return this.#lists.size === 0 ? OFF_MS : POLL_INTERVAL_MS
  }

  protected get syncMs(): number {
    return this.#lists.size === 0 && !this.#deps.storage.isShared ? OFF_MS : SYNC_MS
  }

  protected get needsPast(): boolean {
    return this.lists.some((list) => list.isLive)
  }

  protected async open(token: number): Promise<void> {
    const { storage, clock } = this.#deps
    const claimed = await holderProgressIn(storage.documents).claim(token)
    this.#saveProgress = claimed.save
    this.#progress = claimed.progress
    this.#slot = this.#progress.slot
    this.#foldAtMs = clock.now() + FOLD_MS
    this.#complete = this.#slot === null ? [] : [{ slot: this.#slot, atMs: clock.now() }]
    this.#reader = new ListReader(this.#deps, token, {
      lists: this.#lists,
      recent: new RecentRows(storage.holders),
      wake: () => this.wake(),
      slot: () => this.#slot
    })
    await this.sync()
    for (const list of this.#lists.values()) {
      const { fromSlot } = list.state
      const at = this.#slot
      if (fromSlot !== null && list.state.layout !== LIST_LAYOUT) list.state = emptied(list.state)
      else if (list.isLive && (at === null || fromSlot === null || fromSlot > at))
        list.state = emptied(list.state)
      else if (list.isLive) {
        await list.rollBack(at!)
        // A fold may have died in the middle.
        await list.fold(this.#progress.oldestSlot)
        if (!(await list.isStored())) list.state = emptied(list.state)
      } else if (fromSlot !== null && !(await list.isStored())) list.state = emptied(list.state)
      if (!list.isLive) this.#reader.begin(list, 'start')
    }
    if (!this.needsPast) this.#slot = null
  }

  protected override async close(): Promise<void> {
    this.#deps.blocks.wantAll()
    await this.#reader?.close()
    this.#lists.clear()
  }

  protected async sync(): Promise<void> {
    await this.#reader!.sync(this.#documents)
  }

  protected async settle(): Promise<void> {
    const { blocks, feed } = this.#deps
    if (this.#slot === null && blocks.waiting === 0) this.#slot = feed.head?.slot ?? null
    await this.#reader!.finish(async () => this.save())
    await this.save()
    this.#reader!.passed()
    await this.#rereadGrown()
    await this.#fold()
  }

  protected async apply({ slot, changes }: HolderBlock): Promise<void> {
    const changed = [...changes].flatMap(([key, ofMint]) => {
      const list = this.#lists.get(key)
      list?.loading?.collect({ slot, changes: ofMint })
      return list?.isLive === true ? [{ list, ofMint }] : []
    })
    // Together, so that they share a durable write.
    const faults = await Promise.all(changed.map(async ({ list, ofMint }) => list.take(slot, ofMint)))
    for (const [i, { list }] of changed.entries()) {
      const fault = faults[i]!
      if (fault === null) continue
      this.#deps.logger.warn(
        `the holders of ${list.document.value.mint} are reread at block ${slot}: ${fault}`
      )
      await this.#reader!.makeStale(list, 'disagreement', fault, this.#slot)
    }
    this.#slot = slot
    this.#deps.metrics.blocks.inc()
  }

  protected async late({ slot }: HolderBlock): Promise<void> {
    await this.#miss('late', `block ${slot} came late`, slot, this.#slot)
  }

  protected async hole(upTo: number): Promise<void> {
    await this.#miss('hole', `blocks ${this.#slot! + 1} to ${upTo} are missing`, upTo, upTo)
  }

  protected async missed(reason: string): Promise<void> {
    await this.#miss('missed', reason, Infinity, null)
  }

  /** Makes all lists stale that lack blocks up to a slot, and continues at another slot. */
  async #miss(kind: ReadingKind, reason: string, upTo: number, next: number | null): Promise<void> {
    for (const list of this.lists)
      if (list.isLive) await this.#reader!.makeStale(list, kind, reason, this.#slot)
      else if (list.loading !== null && list.loading.since < upTo) this.#reader!.begin(list, kind)
    this.#slot = next
  }

  protected async rollBack(after: number): Promise<void> {
    this.#deps.metrics.rollbacks.inc()
    const from = this.#slot!
    this.#slot = after
    this.#complete = this.#complete.filter(({ slot }) => slot <= after)
    // Before the rows change, so that readers see no rolled back block.
    await this.#put({ ...this.#progress, slot: after, rollbacks: this.#progress.rollbacks + 1 })
    for (const list of this.lists) {
      const isReachable = after >= (list.state.fromSlot ?? Infinity) && after >= this.#progress.oldestSlot
      if (list.isLive && isReachable) await list.rollBack(after)
      else if (list.isLive) {
        list.state = emptied(list.state)
        await this.#reader!.makeStale(
          list,
          'fork',
          `blocks ${after + 1} to ${from} were on a lost fork`,
          null
        )
      } else if (list.loading !== null) this.#reader!.begin(list, 'fork')
    }
  }

  protected async save(): Promise<void> {
    if (this.#slot !== this.#progress.slot && this.#slot !== null) {
      const atMs = this.#deps.clock.now()
      await this.#put({ ...this.#progress, slot: this.#slot, atMs })
      if (this.#complete.at(-1)?.slot !== this.#slot) this.#complete.push({ slot: this.#slot, atMs })
    }
    this.release()
  }

  async #put(progress: HolderProgress): Promise<void> {
    // Without lists the progress is never read.
    if (this.#lists.size === 0) return
    await this.#saveProgress(progress)
    this.#progress = progress
  }

  /** Rereads lists that have more accounts than their layout has room for. */
  async #rereadGrown(): Promise<void> {
    for (const list of this.lists)
      if (list.isLive && list.hasOutgrown)
        await this.#reader!.makeStale(
          list,
          'growth',
          `it has grown to ${list.state.accounts} accounts, and is stored anew`,
          this.#slot
        )
  }

  async #fold(): Promise<void> {
    const now = this.#deps.clock.now()
    const isFull = this.lists.reduce((sum, list) => sum + list.unfolded, 0) > UNFOLDED_MAX
    if (now < this.#foldAtMs && !isFull) return
    this.#foldAtMs = now + FOLD_MS
    const { pinnedMs } = this.#deps.limits
    const last = isFull
      ? this.#complete.length - 1
      : this.#complete.findLastIndex(({ atMs }) => atMs + pinnedMs <= now)
    if (last < 0) return
    const { slot } = this.#complete[last]!
    this.#complete = this.#complete.slice(last)
    if (slot <= this.#progress.oldestSlot) return
    // Before the rows change, so that readers do not read a folded slot.
    await this.#put({ ...this.#progress, oldestSlot: slot })
    for (const list of this.lists) if (list.isLive) await list.fold(slot)
  }
}
