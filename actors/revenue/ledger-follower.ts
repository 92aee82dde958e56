import { LedgerGaps, type LedgerGap } from '../../src/revenue/ledger-gap.ts'
import { documentsToOf, type LedgerProgress } from '../../src/revenue/ledger-progress.ts'
import { DocumentLedger, type Removing } from '../../src/revenue/document-ledger.ts'
import { LedgerWriter } from '../../src/revenue/ledger-writer.ts'
import type { LedgerPart } from '../../src/revenue/packed-page.ts'
import type { LedgerBlock, LedgerChanges } from '../../src/revenue/ledger-blocks.ts'
import { BlockFollower } from '../followers/block-follower.ts'
import { FollowedProgress, PROGRESS_SAVE_MS } from './followed-progress.ts'
import { inChunks } from './in-chunks.ts'
import type { LedgerDeps } from './ledger-deps.ts'
import { symbolsOf } from '../../src/data/mint-symbols.ts'
import { removeAbandoned } from './abandoned-rows.ts'
import { entriesOf } from './ledger-entries.ts'
import { LedgerWatches } from './ledger-watches.ts'
import { LATE_BLOCK_SLOTS, LostForks } from './lost-forks.ts'

/** Interval of listing the watched addresses, in milliseconds: a sixth of the time within which capture begins. */
const SYNC_MS = 5_000
/**
 * Idle and list intervals in milliseconds while no other process runs: each new watch and each event then wakes this one.
 */
const ALONE_MS = 30_000
/**
 * Blocks whose entries are published since the last retraction: a follower may apply again what an earlier one has not made
 * durable, and has retracted it if a fork that was rolled back before is rolled back again.
 */
let published = new WeakSet<LedgerBlock>()

/**
 * Writes the ledger of watched addresses.
 *
 * R1. Entries of a block are durable before the progress reaches its slot. Blocks after the stored progress are read again
 *     at the start; entries that they have already stay. Events after it go back to the queue when the follower fails.
 * R2. The ledger of an address begins at the first block that is read after its watch was seen. Gaps after it are recorded
 *     before later blocks, and closed only once the entries of a late block are stored. If another process has begun a
 *     ledger, blocks that this process read before it knew the address are a gap.
 * R3. Blocks of a lost fork are rolled back, the progress first. A fork that was lost before this process could do that
 *     is found by the hashes of the blocks.
 * R4. Another process may take over during a write. What was written then is removed if its block is on a lost fork, and
 *     nothing is removed that the other one may have written.
 */
export class LedgerFollower extends BlockFollower<LedgerChanges> {
  readonly #deps: LedgerDeps
  readonly #watches: LedgerWatches
  #writer: LedgerWriter
  readonly #gaps: LedgerGaps
  readonly #forks: LostForks
  readonly #progress: FollowedProgress
  /**
   * Up to this slot an earlier follower has written the ledger, or the blocks that were read without an address are a gap.
   */
  #accountedTo = -1

  constructor(deps: LedgerDeps) {
    super('ledger', deps)
    this.#deps = deps
    const { documents } = deps.storage
    this.#watches = new LedgerWatches(deps)
    this.#writer = new LedgerWriter(deps.storage)
    this.#gaps = new LedgerGaps(documents)
    this.#forks = new LostForks(deps.storage.blocks)
    this.#progress = new FollowedProgress(deps.clock, deps.metrics)
  }

  /** The slot up to which the ledger is complete. */
  get slot(): number | null {
    return this.#progress.current.slot
  }

  /** The slot up to which clients see it: that of the stored progress. */
  get visibleSlot(): number | null {
    return this.#progress.visibleSlot
  }

  get addresses(): number {
    return this.#watches.size
  }

  protected get idleMs(): number {
    return this.#progress.isSaved ? ALONE_MS : PROGRESS_SAVE_MS
  }

  protected get syncMs(): number {
    return this.#deps.storage.isShared ? SYNC_MS : ALONE_MS
  }

  protected get needsPast(): boolean {
    return true
  }

  protected override async standBy(): Promise<void> {
    await this.#watches.list()
  }

  protected async open(token: number): Promise<void> {
    const { storage } = this.#deps
    const { isOurs, current } = await this.#progress.claim(storage, token)
    this.#deps.lead.token = token
    this.#deps.lead.isHeld = true
    await this.#watches.list()
    const { slot } = current
    const { addresses } = this.#watches
    const documentsTo = await this.#documentsTo(addresses)
    this.#writer = new LedgerWriter(storage, { token, isOurs, documentsTo })
    this.#accountedTo = slot ?? -1
    if (slot === null) return
    // Before the first page: readers find the entries of earlier slots in documents.
    await this.#put({ documentsTo, edits: this.#progress.nextEdits })
    await this.#removeLost(addresses, slot)
    const late = (await this.#gaps.since(slot - LATE_BLOCK_SLOTS)).map(({ from }) => from - 1)
    await this.#writer.sumUp(addresses, Math.min(slot, ...late))
    this.#accountedTo = this.slot!
    await this.#missUnheard()
  }

  /** Returns the last slot with entries of an earlier version, which may have stored some after its progress. */
  async #documentsTo(addresses: readonly string[]): Promise<number> {
    const known = documentsToOf(this.#progress.current)
    if (known < Infinity) return known
    const documents = new DocumentLedger(this.#deps.storage.documents)
    const newest = await inChunks(addresses, async (address) => documents.newestSlot(address))
    return Math.max(this.slot!, ...newest)
  }

  /** Records as a gap what this process read before it knew addresses whose ledger another process has begun (R2). */
  async #missUnheard(): Promise<void> {
    const missing = this.#watches.unheard(this.#accountedTo)
    if (missing === null) return
    await this.#miss({ ...missing, reason: 'ingest_down' })
    this.#accountedTo = missing.to
  }

  /** Rolls back a fork that was lost before this start. */
  async #removeLost(addresses: readonly string[], slot: number): Promise<void> {
    const { feed, metrics } = this.#deps
    const head = feed.head?.slot ?? slot
    if (slot < head - LATE_BLOCK_SLOTS) return
    const { blockhash } = this.#progress.current
    // A failed follower may have left the event that rolls the fork back; the blocks before it are not read again.
    if (!this.isLostNext(slot) && !(await this.#forks.isSettled({ slot, blockhash }, head))) {
      metrics.rollbacks.inc()
      await this.#put({ ...(await this.#forks.placeBefore(slot)), edits: this.#progress.nextEdits })
    }
    await this.#retract(addresses, async (address, removing) =>
      this.#writer.removeLost(address, async (block) => this.#forks.isSettled(block, head), removing)
    )
  }

  /**
   * Removes entries of addresses. Their retraction is published first, newest block of an address first: a failure in
   * between repeats it, and none is left out.
   */
  async #retract(
    addresses: readonly string[],
    remove: (address: string, removing: Removing) => Promise<void>
  ): Promise<void> {
    await inChunks(addresses, async (address) =>
      remove(address, async (part) => {
        published = new WeakSet()
        await this.#publish([part], 'retracted')
      })
    )
  }

  protected async settle(): Promise<void> {
    if (this.#progress.isDue) await this.save()
  }

  protected async missed(reason: string): Promise<void> {
    this.#deps.logger.warn(`the revenue ledger has missed blocks: ${reason}`)
  }

  /** Begins the ledgers of new addresses (R2). */
  protected async sync(): Promise<void> {
    const { feed } = this.#deps
    const { fresh, read } = await this.#watches.list()
    const isFirst = this.#watches.size === 0
    await this.#missUnheard()
    if (fresh.length === 0) return
    const newest = Math.max(read, feed.head?.slot ?? -1)
    // Without any ledger, blocks were not followed.
    // Holes of ledgers that have all ended concern none that begins.
    if (isFirst) {
      const blockTime = feed.head?.blockTime ?? 0
      const edits = this.#progress.nextEdits
      await this.#put({ slot: newest, blockhash: null, blockTime, holes: [], edits })
    }
    const captureFrom = { slot: newest + 1, ts: feed.head?.blockTime ?? 0 }
    for (const { value } of fresh)
      if (!this.#watches.has(value.address))
        await removeAbandoned(value, this.#writer, this.#deps.storage.blocks)
    await this.#watches.begin(fresh, captureFrom)
  }

  protected async late(block: LedgerBlock): Promise<void> {
    // Another process may have rolled it back since it was queued.
    if (!(await this.#forks.isStored(block))) return
    await this.#record(block)
    // After the entries: what a reader has cached without them no longer holds.
    await this.#put({ holes: this.#progress.holesWith(block), edits: this.#progress.nextEdits })
    await this.#gaps.close((block.parentSlot ?? this.slot!) + 1, block.slot)
  }

  protected async apply(block: LedgerBlock): Promise<void> {
    // Without any ledger, blocks are not followed.
    if (this.slot === null) return
    await this.#record(block)
    this.#progress.advance(block)
  }

  /**
   * Stores the entries of a block, and publishes them. If another process has taken over before they were stored, it
   * publishes them, or has rolled them back by now (R4).
   */
  async #record(block: LedgerBlock): Promise<void> {
    const { metrics } = this.#deps
    const found = await entriesOf(block, this.#watches, this.#deps)
    const parts = await this.#writer.put(found)
    // Clients see rows up to the stored progress.
    if (parts.length > 0) this.#progress.hurry()
    const { isOurs } = this.#progress
    if (parts.length > 0 && isOurs !== null && !(await isOurs())) {
      if (!(await this.#forks.isStored(block)))
        await inChunks(parts, async (part) => this.#writer.remove(part))
      return
    }
    if (published.has(block)) return
    await this.#publish(parts, 'entry')
    published.add(block)
    for (const { entries } of parts) {
      metrics.entries.inc(entries.length)
      metrics.unpriced.inc(entries.filter(({ valueUsd }) => valueUsd === null).length)
    }
  }

  async #publish(parts: readonly LedgerPart[], event: 'entry' | 'retracted'): Promise<void> {
    const { stream } = this.#deps
    const heard = parts.filter(({ address }) => stream.isHeard(this.#watches.of(address)))
    if (heard.length === 0) return
    const mints = heard.flatMap(({ entries }) => entries.map(({ mint }) => mint))
    const symbolOf = await symbolsOf(mints, this.#deps)
    for (const { address, slot, blockTime, entries } of heard)
      stream.entries(
        this.#watches.of(address),
        entries.map((entry) => ({ ...entry, address, slot, blockTime })),
        event,
        symbolOf
      )
  }

  protected async hole(upTo: number, isOfBefore: boolean): Promise<void> {
    const reason = isOfBefore ? 'ingest_down' : 'upstream_missing'
    await this.#miss({ from: this.slot! + 1, to: upTo, reason })
    await this.#put({ slot: upTo, blockhash: null })
  }

  async #miss({ from, to, reason }: Pick<LedgerGap, 'from' | 'to' | 'reason'>): Promise<void> {
    const { metrics, logger } = this.#deps
    const { blockTime } = this.#progress.current
    const fromTs = blockTime === 0 ? null : blockTime
    await this.#gaps.add({ from, to, fromTs, toTs: this.#deps.feed.head?.blockTime ?? null, reason })
    metrics.gaps.inc({ reason })
    logger.warn(`the revenue ledger lacks the blocks of slots ${from} to ${to}`)
  }

  /** Rolls back the blocks after a slot (R3). */
  protected async rollBack(after: number): Promise<void> {
    const { slot } = this
    this.#deps.metrics.rollbacks.inc()
    // The block time of a lost block may lie beyond the ledger.
    const blockTime = (await this.#deps.storage.blocks.at(after))?.blockTime ?? 0
    await this.#put({ slot: after, blockhash: null, blockTime, edits: this.#progress.nextEdits })
    await this.#retract(this.#watches.addresses, async (address, removing) =>
      this.#writer.rollBack(address, after, removing)
    )
    await this.#gaps.close(after + 1, slot!)
  }

  protected override async close(): Promise<void> {
    this.#deps.lead.isHeld = false
  }

  protected async save(): Promise<void> {
    if (!this.#progress.isSaved) await this.#put({})
  }

  /** Stores the progress with some changes. */
  async #put(change: Partial<LedgerProgress>): Promise<void> {
    await this.#progress.put({ ...this.#progress.current, ...change })
    this.release()
  }
}
