import { LedgerGaps, type LedgerGap } from '../../src/revenue/ledger-gap.ts'
import { ledgerProgressIn, NO_PROGRESS, type LedgerProgress } from '../../src/revenue/ledger-progress.ts'
import { LedgerWriter, type LedgerPart } from '../../src/revenue/ledger-writer.ts'
import type { LedgerBlock } from '../../src/revenue/ledger-blocks.ts'
import { FEE_SLOTS } from '../../src/transactions/priority-fees.ts'
import type { QueueEvent } from '../../src/node/block-queue.ts'
import { LeaselessClaim } from '../shards/shard-claims.ts'
import { AutoResetEvent } from '../supervision/auto-reset-event.ts'
import { isHopeless } from './failed-tries.ts'
import { inChunks } from './in-chunks.ts'
import type { LedgerDeps } from './ledger-deps.ts'
import { entriesOf, symbolsOf } from './ledger-entries.ts'
import { LedgerWatches, type FreshWatches } from './ledger-watches.ts'

type LedgerEvent = QueueEvent<LedgerBlock['changes']>

/** Milliseconds between two looks when nothing happens. */
const LOOK_MS = 250
/** Milliseconds between two lists of the watched addresses: a sixth of the time within which capture begins. */
const SYNC_MS = 5_000
/** Both while there is no other process: every new watch then wakes this one, and so does every event. */
const ALONE_MS = 30_000
/** Milliseconds between two writes of the progress while no block has entries: a restart reads the blocks since then again. */
const SAVE_MS = 2_000
/** Milliseconds for which blocks from before the start are waited for. Chosen: the newest eight come within a second. */
const RECALL_MS = 60_000
/** Slots that a restart recalls (`recall-blocks.ts`). */
const RECALL_SLOTS = FEE_SLOTS
/** Slots behind which no late block comes and no fork begins, twice as many as `GAP_SLOTS` of ingest. */
const LATE_SLOTS = 3_000
/** Slots that are read again if the last block is on a lost fork: a fork of a block with votes ends within 32. */
const LOST_SLOTS = 100
/** Blocks whose entries are published: a follower may apply again what an earlier one has not made durable. */
const published = new WeakSet<LedgerBlock>()

/**
 * Writes the ledger of watched addresses.
 *
 * R1. Entries of a block are durable before the progress reaches its slot. Blocks after the stored progress are read again
 *     at the start; entries that they have already stay. Events after it go back to the queue when the follower fails.
 * R2. The ledger of an address begins at the first block that is read after its watch was seen. Gaps after it are recorded
 *     before later blocks, and closed only once the entries of a late block are stored. If another process has begun a
 *     ledger, blocks that this process read before it heard of the address are a gap.
 * R3. Blocks of a lost fork are rolled back, the progress first. A fork that was lost before this process could do that
 *     is found by the hashes of the blocks.
 */
export class LedgerFollower {
  readonly #deps: LedgerDeps
  readonly #wake = new AutoResetEvent()
  readonly #watches: LedgerWatches
  readonly #writer: LedgerWriter
  readonly #gaps: LedgerGaps
  /** Events that were taken and are not durable, oldest first; the first `#done` of them are applied. */
  #taken: LedgerEvent[] = []
  #done = 0
  #progress = NO_PROGRESS
  #saveProgress: (progress: LedgerProgress) => Promise<void> = async () => undefined
  #savedAtMs = 0
  #visibleSlot: number | null = null
  #isSaved = true
  #end = new AbortController().signal
  #recallUntilMs = 0
  /** The last slot of the blocks from before the start. */
  #recallSlot: number | null = null
  /** Up to this slot an earlier follower has written the ledger, or the blocks that were read without an address are a gap. */
  #accountedTo = -1
  #syncAtMs = 0

  constructor(deps: LedgerDeps) {
    this.#deps = deps
    const { documents } = deps.storage
    this.#watches = new LedgerWatches(deps)
    this.#writer = new LedgerWriter(documents)
    this.#gaps = new LedgerGaps(documents)
    deps.blocks.onEvent(() => this.#wake.set())
  }

  /** The slot up to which the ledger is complete. */
  get slot(): number | null {
    return this.#progress.slot
  }

  /** The slot up to which clients see it: that of the stored progress. */
  get visibleSlot(): number | null {
    return this.#visibleSlot
  }

  get addresses(): number {
    return this.#watches.size
  }

  /** Lists the watched addresses at the next step. */
  hint(): void {
    this.#syncAtMs = 0
    this.#wake.set()
  }

  /**
   * Follows the blocks that this process commits until `end` aborts, or another process commits. Rejects with the store's
   * error.
   */
  async run(end: AbortSignal): Promise<void> {
    const { blocks, storage, clock } = this.#deps
    this.#end = end
    try {
      if (storage.isShared) await this.#standBy(end)
      const taken = await new LeaselessClaim('ledger', storage.documents, storage.isShared, clock).take(end)
      if (taken === null) return
      await this.#open(taken.claim.token)
      while (await this.#step()) {
        // Later blocks are read again by the next start.
        if (end.aborted) break
        await this.#wake.wait(clock, this.#pauseMs, end)
      }
      await this.#save(0)
    } finally {
      blocks.giveBack(this.#taken)
      // The next follower may need the blocks that ingest reads again before it runs.
      blocks.beginRecall()
    }
  }

  /** Milliseconds until the next look. */
  get #pauseMs(): number {
    if (this.#deps.storage.isShared || this.#mayBeRecalled()) return LOOK_MS
    return this.#isSaved ? ALONE_MS : SAVE_MS
  }

  /** Takes the first events of a lead of this process. */
  async #standBy(end: AbortSignal): Promise<void> {
    const { blocks, clock } = this.#deps
    while (!end.aborted && this.#taken.length === 0) {
      if (clock.now() >= this.#syncAtMs) await this.#list()
      const events = blocks.take()
      this.#taken = events.slice(events.findLastIndex(({ kind }) => kind === 'missed') + 1)
      if (this.#taken.length === 0) await this.#wake.wait(clock, LOOK_MS, end)
    }
  }

  async #open(token: number): Promise<void> {
    const { storage, clock } = this.#deps
    const claimed = await ledgerProgressIn(storage.documents).claim(token)
    this.#saveProgress = claimed.save
    this.#progress = claimed.progress
    this.#visibleSlot = claimed.progress.slot
    this.#recallUntilMs = clock.now() + RECALL_MS
    this.#recallSlot = null
    await this.#list()
    // The first step begins the ledgers of addresses that were watched meanwhile.
    this.#syncAtMs = 0
    const { slot } = this.#progress
    this.#accountedTo = slot ?? -1
    if (slot === null) return
    const { addresses } = this.#watches
    await this.#removeLost(addresses, slot)
    const late = (await this.#gaps.since(slot - LATE_SLOTS)).map(({ from }) => from - 1)
    await inChunks(addresses, async (address) => this.#writer.sumUp(address, Math.min(slot, ...late)))
    this.#accountedTo = this.#progress.slot!
    await this.#missUnheard()
  }

  /** Records as a gap what this process read before it heard of addresses whose ledger another process has begun (R2). */
  async #missUnheard(): Promise<void> {
    const missing = this.#watches.unheard(this.#accountedTo)
    if (missing === null) return
    await this.#miss({ ...missing, reason: 'ingest_down' })
    this.#accountedTo = missing.to
  }

  /** Rolls back a fork that was lost before this start. */
  async #removeLost(addresses: readonly string[], slot: number): Promise<void> {
    const { blocks, feed, metrics } = this.#deps
    const head = feed.head?.slot ?? slot
    if (slot < head - LATE_SLOTS) return
    const isStored = async (block: Pick<LedgerBlock, 'slot' | 'blockhash'>): Promise<boolean> =>
      // No fork begins before it.
      block.slot < head - LATE_SLOTS || this.#isStored(block)
    this.#taken.push(...blocks.take())
    // A failed follower has left the event that rolls the fork back; the blocks before it are not read again.
    const isWaiting = this.#taken.some((event) => event.kind === 'lost' && event.after < slot)
    if (!isWaiting && !(await isStored({ slot, blockhash: this.#progress.blockhash }))) {
      metrics.rollbacks.inc()
      await this.#put(await this.#placeBefore(slot))
    }
    await this.#retract(addresses, async (address) => this.#writer.removeLost(address, isStored))
  }

  /** Returns a stored block before the fork of a lost one, from which blocks are read again. */
  async #placeBefore(slot: number): Promise<LedgerProgress> {
    const first = Math.max(0, slot - LOST_SLOTS)
    const [stored] = await this.#deps.storage.blocks.between(first, slot)
    const { slot: at, blockTime } = stored ?? { slot: first, blockTime: 0 }
    return { slot: at, blockhash: stored?.blockhash ?? null, blockTime }
  }

  /** Whether the index has a block; true without a hash to compare. */
  async #isStored({ slot, blockhash }: Pick<LedgerBlock, 'slot' | 'blockhash'>): Promise<boolean> {
    if (blockhash === null) return true
    const row = await this.#deps.storage.blocks.at(slot)
    return row !== null && (row.blockhash === null || row.blockhash === blockhash)
  }

  /** Removes entries of addresses, and publishes that, newest first. */
  async #retract(
    addresses: readonly string[],
    remove: (address: string) => Promise<readonly LedgerPart[]>
  ): Promise<void> {
    const removed: LedgerPart[] = []
    await inChunks(addresses, async (address) => removed.push(...(await remove(address))))
    await this.#publish(
      removed.sort((a, b) => b.slot - a.slot),
      'retracted'
    )
  }

  /** Applies the waiting events. Resolves with false once another process commits. */
  async #step(): Promise<boolean> {
    const { blocks, storage, clock, feed } = this.#deps
    if (clock.now() >= this.#syncAtMs) await this.#sync()
    this.#taken.push(...blocks.take())
    // Read together with the events: the chain goes on meanwhile.
    const oldest = this.#taken.find((event) => event.kind === 'block')
    this.#recallSlot ??= (oldest === undefined ? feed.head?.slot : oldest.block.parentSlot) ?? null
    const { slot } = this.#progress
    if (this.#taken.length === this.#done && slot !== null && slot < (this.#recallSlot ?? -1))
      await this.#fill(this.#recallSlot!)
    for (; this.#done < this.#taken.length; this.#done++) {
      const event = this.#taken[this.#done]!
      if (event.kind === 'missed' && storage.isShared) {
        // The other process reads the blocks before it again, where they are not durable.
        this.#taken = this.#taken.slice(this.#done + 1)
        this.#done = 0
        return false
      }
      if (!(await this.#handle(event))) break
    }
    if (this.#recallSlot !== null && !this.#mayBeRecalled()) blocks.endRecall()
    await this.#save(SAVE_MS)
    return true
  }

  /** Applies an event. Resolves with false if the end came first. */
  async #handle(event: LedgerEvent): Promise<boolean> {
    try {
      if (event.kind === 'block') return await this.#take(event.block)
      if (event.kind === 'lost') await this.#lose(event.after)
      else this.#deps.logger.warn(`the revenue ledger has missed blocks: ${event.reason}`)
      return true
    } catch (error) {
      if (isHopeless(error, event)) this.#taken.splice(this.#done, 1)
      throw error
    }
  }

  /** Lists the watches, and plans the next list. */
  async #list(): Promise<FreshWatches> {
    const { clock, storage } = this.#deps
    this.#syncAtMs = clock.now() + (storage.isShared ? SYNC_MS : ALONE_MS)
    return this.#watches.list()
  }

  /** Begins the ledgers of new addresses (R2). */
  async #sync(): Promise<void> {
    const { feed } = this.#deps
    const { fresh, read } = await this.#list()
    const isFirst = this.#watches.size === 0
    await this.#missUnheard()
    if (fresh.length === 0) return
    const newest = Math.max(read, feed.head?.slot ?? -1)
    // Without any ledger, blocks were not followed.
    if (isFirst) await this.#put({ slot: newest, blockhash: null, blockTime: feed.head?.blockTime ?? 0 })
    const captureFrom = { slot: newest + 1, ts: feed.head?.blockTime ?? 0 }
    await this.#watches.begin(fresh, captureFrom)
  }

  /** Resolves with false if the end came before the blocks before it. */
  async #take(block: LedgerBlock): Promise<boolean> {
    const { slot } = this.#progress
    if (slot === null) return true
    const parent = block.parentSlot ?? slot
    if (block.slot <= slot) {
      // Another process may have rolled it back since it was queued.
      if (!(await this.#isStored(block))) return true
      await this.#record(block)
      await this.#gaps.close(parent + 1, block.slot)
      return true
    }
    if (parent < slot) await this.#lose(parent)
    else if (parent > slot && !(await this.#fill(parent))) return false
    await this.#apply(block)
    return true
  }

  async #apply(block: LedgerBlock): Promise<void> {
    await this.#record(block)
    const { slot, blockhash, blockTime } = block
    this.#progress = { slot, blockhash, blockTime }
    this.#isSaved = false
  }

  /** Stores the entries of a block, and publishes them. */
  async #record(block: LedgerBlock): Promise<void> {
    const { metrics } = this.#deps
    const found = await entriesOf(block, this.#watches, this.#deps)
    const parts = await inChunks(found, async (part) => this.#writer.put(part))
    // Clients see rows up to the stored progress.
    if (parts.length > 0) this.#savedAtMs = -Infinity
    if (published.has(block)) return
    published.add(block)
    for (const { entries } of parts) {
      metrics.entries.inc(entries.length)
      metrics.unpriced.inc(entries.filter(({ valueUsd }) => valueUsd === null).length)
    }
    await this.#publish(parts, 'entry')
  }

  async #publish(parts: readonly LedgerPart[], event: 'entry' | 'retracted'): Promise<void> {
    const { stream } = this.#deps
    if (parts.length === 0) return
    const symbols = await symbolsOf(parts, this.#deps)
    for (const { address, slot, blockTime, entries } of parts)
      stream.entries(
        this.#watches.of(address),
        entries.map((entry) => ({ ...entry, address, slot, blockTime })),
        event,
        (mint) => symbols.get(mint) ?? null
      )
  }

  /** Applies blocks from before the start up to a slot, as far as they can be read again. The rest is a gap. False if the end came first. */
  async #fill(upTo: number): Promise<boolean> {
    const { blocks, clock } = this.#deps
    while (this.#progress.slot! < upTo) {
      const next = blocks.recalledAfter(this.#progress.slot!)
      if (next !== null && next.slot <= upTo) await this.#applyRecalled(next)
      else if (this.#mayBeRecalled()) await this.#wake.wait(clock, LOOK_MS, this.#end)
      else break
    }
    const { slot, blockTime } = this.#progress
    if (slot! >= upTo) return true
    if (this.#end.aborted) return false
    const isOfBefore = upTo <= (this.#recallSlot ?? -1)
    await this.#miss({ from: slot! + 1, to: upTo, reason: isOfBefore ? 'ingest_down' : 'upstream_missing' })
    await this.#put({ slot: upTo, blockhash: null, blockTime })
    return true
  }

  async #applyRecalled(block: LedgerBlock): Promise<void> {
    try {
      await this.#apply(block)
    } catch (error) {
      if (isHopeless(error, block)) this.#deps.blocks.endRecall()
      throw error
    }
  }

  #mayBeRecalled(): boolean {
    const { slot } = this.#progress
    const upTo = this.#recallSlot
    if (slot === null || upTo === null || slot >= upTo || slot < upTo - RECALL_SLOTS) return false
    return this.#deps.clock.now() < this.#recallUntilMs && !this.#end.aborted
  }

  async #miss({ from, to, reason }: Pick<LedgerGap, 'from' | 'to' | 'reason'>): Promise<void> {
    const { metrics, logger } = this.#deps
    const fromTs = this.#progress.blockTime === 0 ? null : this.#progress.blockTime
    await this.#gaps.add({ from, to, fromTs, toTs: this.#deps.feed.head?.blockTime ?? null, reason })
    metrics.gaps.inc({ reason })
    logger.warn(`the revenue ledger lacks the blocks of slots ${from} to ${to}`)
  }

  /** Rolls back the blocks after a slot (R3). */
  async #lose(after: number): Promise<void> {
    const { slot } = this.#progress
    if (slot === null || after >= slot) return
    this.#deps.metrics.rollbacks.inc()
    await this.#put({ ...this.#progress, slot: after, blockhash: null })
    await this.#retract(this.#watches.addresses, async (address) => this.#writer.rollBack(address, after))
    await this.#gaps.close(after + 1, slot)
  }

  /** Stores the progress, unless it was stored in the last milliseconds. */
  async #save(withinMs: number): Promise<void> {
    if (this.#isSaved || this.#deps.clock.now() < this.#savedAtMs + withinMs) return
    await this.#put(this.#progress)
  }

  async #put(progress: LedgerProgress): Promise<void> {
    await this.#saveProgress(progress)
    this.#progress = progress
    this.#visibleSlot = progress.slot
    this.#taken.splice(0, this.#done)
    this.#done = 0
    this.#isSaved = true
    this.#savedAtMs = this.#deps.clock.now()
  }
}
