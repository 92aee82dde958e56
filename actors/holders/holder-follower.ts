import type { HolderBlock, HolderEvent } from '../../src/holders/holder-blocks.ts'
import {
  emptied,
  holderMintsIn,
  NO_PROGRESS,
  holderProgressIn,
  type HolderMints,
  type HolderProgress
} from '../../src/holders/holder-mint.ts'
import { FEE_SLOTS } from '../../src/transactions/priority-fees.ts'
import { LeaselessClaim } from '../shards/shard-claims.ts'
import { AutoResetEvent } from '../supervision/auto-reset-event.ts'
import type { HolderDeps } from './holder-deps.ts'
import type { HolderList } from './holder-list.ts'
import { ListReader, type ReadingKind } from './list-reader.ts'
import { RecentRows } from './recent-rows.ts'

/** Milliseconds between two looks when nothing happens. */
const LOOK_MS = 250
/** Milliseconds between two lists of the mints that other processes have requested. */
const SYNC_MS = 1_000
/** Both intervals while there is no list and no other process: every request for a list then wakes this process. */
const OFF_MS = 30_000
/** Milliseconds for which blocks from before the start are waited for. Chosen: the newest eight come within a second. */
const RECALL_MS = 60_000
/** Slots that a restart recalls (`recall-blocks.ts`): a list that is further behind is read from the node at once. */
const RECALL_SLOTS = FEE_SLOTS
/** Milliseconds between two prunings of superseded versions. */
const PRUNE_MS = 10_000

/**
 * Maintains the holder lists of requested mints.
 *
 * H1. Live lists are complete and exact at one slot, which moves with the blocks that this process commits. Readers see no
 *     other.
 * H2. A list begins with a node's answers about accounts. A block counts for an account only if its slot is after that of
 *     the account's answer. All blocks after the oldest answer are collected.
 * H3. Blocks follow each other by their parents. A hole, a late block, or a stored balance that differs from the one before
 *     a block makes lists stale: they are served unchanged, and read from the node again.
 * H4. Blocks of a lost fork are rolled back as far as superseded versions are kept; lists that begin after it are read
 *     again.
 * H5. A row is durable before the slot reaches it. Rows after the stored slot are rolled back at the start.
 */
export class HolderFollower {
  readonly #deps: HolderDeps
  readonly #wake = new AutoResetEvent()
  readonly #lists = new Map<string, HolderList>()
  readonly #documents: HolderMints
  #reader: ListReader | null = null
  #progress: HolderProgress = NO_PROGRESS
  #saveProgress: (progress: HolderProgress) => Promise<void> = async () => undefined
  /** The slot of the last applied block; null before the first. */
  #slot: number | null = null
  #end = new AbortController().signal
  /** The time until which blocks from before the start may still be read again, and their last slot. */
  #recallUntilMs = 0
  #recallSlot: number | null = null
  #syncAtMs = 0
  #pruneAtMs = 0
  /**
   * Slots with the times at which they were complete, oldest first; versions up to a slot are pruned once its time is over.
   */
  #complete: { readonly slot: number; readonly atMs: number }[] = []

  constructor(deps: HolderDeps) {
    this.#deps = deps
    this.#documents = holderMintsIn(deps.storage.documents)
    deps.blocks.onEvent(() => this.#wake.set())
  }

  get lists(): readonly HolderList[] {
    return [...this.#lists.values()]
  }

  /** The slot at which live lists are complete. */
  get slot(): number | null {
    return this.#slot
  }

  /** Lists the requested mints at the next step. */
  hint(): void {
    this.#syncAtMs = 0
    this.#wake.set()
  }

  /**
   * Follows the blocks that this process commits until `end` aborts, or another process commits. Resolves once the lists are
   * stored up to the last block. Rejects with the store's error.
   */
  async run(end: AbortSignal): Promise<void> {
    const { blocks, storage, clock } = this.#deps
    let first: readonly HolderEvent[] = []
    this.#end = end
    try {
      while (storage.isShared && !end.aborted && first.length === 0) {
        const events = blocks.take()
        first = events.slice(events.findLastIndex(({ kind }) => kind === 'missed') + 1)
        if (first.length === 0) await this.#wake.wait(clock, LOOK_MS, end)
      }
      const taken = await new LeaselessClaim('holders', storage.documents, storage.isShared, clock).take(end)
      if (taken === null) return
      await this.#open(taken.claim.token)
      while (await this.#step(first)) {
        first = []
        // Later blocks are read again by the next start.
        if (end.aborted) return
        await this.#wake.wait(clock, this.#isOff ? OFF_MS : LOOK_MS, end)
      }
    } finally {
      blocks.wantAll()
      await this.#reader?.close()
      this.#lists.clear()
    }
  }

  /** Whether there is no list to maintain until a request comes to this process. */
  get #isOff(): boolean {
    return this.#lists.size === 0 && !this.#deps.storage.isShared
  }

  async #open(token: number): Promise<void> {
    const { storage, clock } = this.#deps
    const claimed = await holderProgressIn(storage.documents).claim(token)
    this.#saveProgress = claimed.save
    this.#progress = claimed.progress
    this.#slot = this.#progress.slot
    this.#recallUntilMs = clock.now() + RECALL_MS
    this.#recallSlot = null
    this.#pruneAtMs = clock.now() + PRUNE_MS
    this.#complete = this.#slot === null ? [] : [{ slot: this.#slot, atMs: clock.now() }]
    this.#reader = new ListReader(this.#deps, token, {
      lists: this.#lists,
      recent: new RecentRows(storage.holders),
      wake: () => this.#wake.set(),
      slot: () => this.#slot
    })
    await this.#reader.sync(this.#documents)
    for (const list of this.#lists.values()) {
      const { fromSlot } = list.state
      const at = this.#slot
      if (list.isLive && (at === null || fromSlot === null || fromSlot > at)) list.state = emptied(list.state)
      else if (list.isLive) {
        await list.rollBack(at!)
        if (!(await list.isStoredAt(at!))) list.state = emptied(list.state)
      } else if (fromSlot !== null && !(await list.isStoredAt(list.state.slot ?? fromSlot)))
        list.state = emptied(list.state)
      if (!list.isLive) this.#reader.begin(list, 'start')
    }
    if (!this.lists.some((list) => list.isLive)) this.#slot = null
  }

  /** Applies the waiting events. Resolves with false once another process commits. */
  async #step(first: readonly HolderEvent[]): Promise<boolean> {
    const { blocks, storage, clock, feed } = this.#deps
    const now = clock.now()
    if (now >= this.#syncAtMs) {
      this.#syncAtMs = now + SYNC_MS
      await this.#reader!.sync(this.#documents)
      const isHinted = this.#syncAtMs === 0
      if (this.#isOff && !isHinted) this.#syncAtMs = now + OFF_MS
    }
    const events = [...first, ...blocks.take()]
    // The chain may still be looking for its head when this begins.
    const oldest = events.find((event) => event.kind === 'block')
    this.#recallSlot ??= (oldest === undefined ? feed.head?.slot : oldest.block.parentSlot) ?? null
    if (this.#slot === null && events.length === 0) this.#slot = feed.head?.slot ?? null
    if (events.length === 0 && this.#slot !== null && this.#slot < (this.#recallSlot ?? -1))
      await this.#fill(this.#recallSlot!, 'the start')
    for (const event of events) {
      if (event.kind === 'lost') await this.#lose(event.after)
      else if (event.kind === 'block') await this.#take(event.block)
      else if (storage.isShared) return false
      else await this.#miss('missed', event.reason, Infinity, null)
    }
    if (this.#recallSlot !== null && !this.#mayBeRecalled()) blocks.endRecall()
    await this.#reader!.finish(async () => this.#save())
    await this.#save()
    this.#reader!.passed()
    if (now >= this.#pruneAtMs) await this.#prune(now)
    return true
  }

  async #take(block: HolderBlock): Promise<void> {
    const { slot } = block
    if (this.#slot !== null) {
      const parent = block.parentSlot ?? this.#slot
      if (slot <= this.#slot) return this.#miss('late', `block ${slot} came late`, slot, this.#slot)
      if (parent < this.#slot) await this.#lose(parent)
      else if (parent > this.#slot) await this.#fill(parent, `block ${slot}`)
    }
    await this.#apply(block)
  }

  async #apply({ slot, changes }: HolderBlock): Promise<void> {
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
        `the holders of ${list.document.value.mint} are read again at block ${slot}: ${fault}`
      )
      await this.#reader!.makeStale(list, 'disagreement', fault, this.#slot)
    }
    this.#slot = slot
    this.#deps.metrics.blocks.inc()
  }

  /** Applies blocks from before the start up to a slot, as far as they can be read again. Without them lists become stale. */
  async #fill(upTo: number, before: string): Promise<void> {
    const { blocks, clock } = this.#deps
    while (this.#slot! < upTo && this.lists.some((list) => list.isLive)) {
      const next = blocks.recalledAfter(this.#slot!)
      if (next !== null && next.slot <= upTo) await this.#apply(next)
      else if (this.#mayBeRecalled()) await this.#wake.wait(clock, LOOK_MS, this.#end)
      else break
    }
    if (this.#slot! < upTo)
      await this.#miss('hole', `blocks after ${this.#slot!} are missing before ${before}`, upTo, upTo)
  }

  #mayBeRecalled(): boolean {
    const at = this.#slot
    const upTo = this.#recallSlot
    if (at === null || upTo === null || at >= upTo || at < upTo - RECALL_SLOTS) return false
    return this.#deps.clock.now() < this.#recallUntilMs && !this.#end.aborted
  }

  /** Makes all lists stale that lack blocks up to a slot, and continues at another slot. */
  async #miss(kind: ReadingKind, reason: string, upTo: number, next: number | null): Promise<void> {
    for (const list of this.lists)
      if (list.isLive) await this.#reader!.makeStale(list, kind, reason, this.#slot)
      else if (list.loading !== null && list.loading.since < upTo) this.#reader!.begin(list, kind)
    this.#slot = next
  }

  /** Rolls back the blocks after a slot (H4). */
  async #lose(after: number): Promise<void> {
    if (this.#slot === null || after >= this.#slot) return
    this.#deps.metrics.rollbacks.inc()
    const from = this.#slot
    this.#slot = after
    this.#complete = this.#complete.filter(({ slot }) => slot <= after)
    // Before the rows change, so that readers see no rolled back block.
    await this.#put({ ...this.#progress, slot: after })
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

  async #save(): Promise<void> {
    if (this.#slot === this.#progress.slot || this.#slot === null) return
    const atMs = this.#deps.clock.now()
    await this.#put({ ...this.#progress, slot: this.#slot, atMs })
    if (this.#complete.at(-1)?.slot !== this.#slot) this.#complete.push({ slot: this.#slot, atMs })
  }

  async #put(progress: HolderProgress): Promise<void> {
    // Without lists nobody reads it.
    if (this.#lists.size === 0) return
    await this.#saveProgress(progress)
    this.#progress = progress
  }

  async #prune(now: number): Promise<void> {
    this.#pruneAtMs = now + PRUNE_MS
    const { pinnedMs } = this.#deps.limits
    const last = this.#complete.findLastIndex(({ atMs }) => atMs + pinnedMs <= now)
    if (last < 0) return
    const { slot } = this.#complete[last]!
    this.#complete = this.#complete.slice(last)
    if (slot <= this.#progress.oldestSlot) return
    // Before the rows change, so that readers do not read a pruned slot.
    await this.#put({ ...this.#progress, oldestSlot: slot })
    for (const list of this.lists) if (list.isLive) await list.prune(slot)
  }
}
