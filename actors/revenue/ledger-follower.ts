import type { WatchedAddress } from '../../src/revenue/watched-address.ts'
import { WatchedAddresses } from '../../src/revenue/watched-addresses.ts'
import { LedgerGaps, type LedgerGap } from '../../src/revenue/ledger-gap.ts'
import { ledgerProgressIn, NO_PROGRESS, type LedgerProgress } from '../../src/revenue/ledger-progress.ts'
import { LedgerWriter, type LedgerPart } from '../../src/revenue/ledger-writer.ts'
import type { LedgerBlock } from '../../src/revenue/ledger-blocks.ts'
import { FEE_SLOTS } from '../../src/transactions/priority-fees.ts'
import type { QueueEvent } from '../../src/node/block-queue.ts'
import type { Stored } from '../../storage/documents.ts'
import { LeaselessClaim } from '../shards/shard-claims.ts'
import { AutoResetEvent } from '../supervision/auto-reset-event.ts'
import type { LedgerDeps } from './ledger-deps.ts'
import { entriesOf, symbolsOf } from './ledger-entries.ts'

type LedgerEvent = QueueEvent<LedgerBlock['changes']>

/** Milliseconds between two looks when nothing happens. */
const LOOK_MS = 250
/** Milliseconds between two lists of the watched addresses: a sixth of the time within which capture begins. */
const SYNC_MS = 5_000
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
/** Addresses whose ledger is changed at once. */
const AT_ONCE = 16

/**
 * Writes the ledger of watched addresses.
 *
 * R1. Entries of a block are durable before the progress reaches its slot. Blocks after the stored progress are read again
 *     at the start; entries that they have already stay.
 * R2. The ledger of an address begins at the first block that is read after its watch was seen. Gaps after it are recorded
 *     before later blocks, and closed only once the entries of a late block are stored.
 * R3. Blocks of a lost fork are rolled back, the progress first. A fork that was lost before this process could do that
 *     is found by the hashes of the blocks.
 */
export class LedgerFollower {
  readonly #deps: LedgerDeps
  readonly #wake = new AutoResetEvent()
  readonly #watched: WatchedAddresses
  readonly #writer: LedgerWriter
  readonly #gaps: LedgerGaps
  /** The watches of each address whose ledger has begun. */
  #watches = new Map<string, WatchedAddress[]>()
  #progress = NO_PROGRESS
  #saveProgress: (progress: LedgerProgress) => Promise<void> = async () => undefined
  #savedAtMs = 0
  #isSaved = true
  #end = new AbortController().signal
  #recallUntilMs = 0
  /** The last slot of the blocks from before the start. */
  #recallSlot: number | null = null
  #syncAtMs = 0

  constructor(deps: LedgerDeps) {
    this.#deps = deps
    const { documents } = deps.storage
    this.#watched = new WatchedAddresses(documents)
    this.#writer = new LedgerWriter(documents)
    this.#gaps = new LedgerGaps(documents)
    deps.blocks.onEvent(() => this.#wake.set())
  }

  /** The slot up to which the ledger is complete. */
  get slot(): number | null {
    return this.#progress.slot
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
    let first: readonly LedgerEvent[] = []
    this.#end = end
    blocks.beginRecall()
    // Another process may have watched addresses of which this one has not heard.
    const before = blocks.addresses
    while (storage.isShared && !end.aborted && first.length === 0) {
      if (clock.now() >= this.#syncAtMs) await this.#list()
      const events = blocks.take()
      first = events.slice(events.findLastIndex(({ kind }) => kind === 'missed') + 1)
      if (first.length === 0) await this.#wake.wait(clock, LOOK_MS, end)
    }
    const taken = await new LeaselessClaim('ledger', storage.documents, storage.isShared, clock).take(end)
    if (taken === null) return
    await this.#open(taken.claim.token, before)
    while (await this.#step(first)) {
      first = []
      // Later blocks are read again by the next start.
      if (end.aborted) break
      await this.#wake.wait(clock, LOOK_MS, end)
    }
    await this.#save(0)
  }

  async #open(token: number, before: ReadonlySet<string>): Promise<void> {
    const { storage, blocks, clock } = this.#deps
    const claimed = await ledgerProgressIn(storage.documents).claim(token)
    this.#saveProgress = claimed.save
    this.#progress = claimed.progress
    this.#recallUntilMs = clock.now() + RECALL_MS
    this.#recallSlot = null
    await this.#list()
    const { slot } = this.#progress
    if (slot === null) return
    const addresses = [...this.#watches.keys()]
    await this.#removeLost(addresses, slot)
    const late = (await this.#gaps.since(slot - LATE_SLOTS)).map(({ from }) => from - 1)
    await inChunks(addresses, async (address) => this.#writer.sumUp(address, Math.min(slot, ...late)))
    const isNew = addresses.some((address) => !before.has(address))
    if (isNew && blocks.newestRead > slot)
      await this.#miss({ from: slot + 1, to: blocks.newestRead, reason: 'ingest_down' })
  }

  /** Rolls back a fork that was lost before this start. */
  async #removeLost(addresses: readonly string[], slot: number): Promise<void> {
    const { storage, feed, metrics } = this.#deps
    const head = feed.head?.slot ?? slot
    if (slot < head - LATE_SLOTS) return
    const isStored = async (block: {
      readonly slot: number
      readonly blockhash: string | null
    }): Promise<boolean> => {
      // Earlier rows may have expired.
      if (block.slot < head - LATE_SLOTS || block.blockhash === null) return true
      const row = await storage.blocks.at(block.slot)
      return row !== null && (row.blockhash === null || row.blockhash === block.blockhash)
    }
    if (!(await isStored({ slot, blockhash: this.#progress.blockhash }))) {
      metrics.rollbacks.inc()
      await this.#put({ slot: Math.max(-1, slot - LOST_SLOTS), blockhash: null, blockTime: 0 })
    }
    await this.#retract(addresses, async (address) => this.#writer.removeLost(address, isStored))
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
  async #step(first: readonly LedgerEvent[]): Promise<boolean> {
    const { blocks, storage, clock, feed } = this.#deps
    if (clock.now() >= this.#syncAtMs) await this.#sync()
    const events = [...first, ...blocks.take()]
    // Read together with the events: the chain goes on meanwhile.
    const oldest = events.find((event) => event.kind === 'block')
    this.#recallSlot ??= (oldest === undefined ? feed.head?.slot : oldest.block.parentSlot) ?? null
    const { slot } = this.#progress
    if (events.length === 0 && slot !== null && slot < (this.#recallSlot ?? -1))
      await this.#fill(this.#recallSlot!)
    for (const event of events) {
      if (event.kind === 'lost') await this.#lose(event.after)
      else if (event.kind === 'block') await this.#take(event.block)
      else if (storage.isShared) return false
      else this.#deps.logger.warn(`the revenue ledger has missed blocks: ${event.reason}`)
    }
    if (this.#recallSlot !== null && !this.#mayBeRecalled()) blocks.endRecall()
    await this.#save(SAVE_MS)
    return true
  }

  /** Lists the watched addresses, and has blocks read for them from now on. Resolves with the new ones and the newest slot read. */
  async #list(): Promise<{
    readonly begun: number
    readonly fresh: readonly Stored<WatchedAddress>[]
    readonly read: number
  }> {
    const { blocks, clock } = this.#deps
    this.#syncAtMs = clock.now() + SYNC_MS
    const all = await this.#watched.all()
    const read = blocks.watch(new Set(all.map(({ value }) => value.address)))
    this.#watches = new Map()
    for (const { value } of all)
      if (value.captureFrom !== null)
        this.#watches.set(value.address, [...(this.#watches.get(value.address) ?? []), value])
    return { begun: this.#watches.size, fresh: all.filter(({ value }) => value.captureFrom === null), read }
  }

  /** Begins the ledgers of new addresses (R2). */
  async #sync(): Promise<void> {
    const { feed } = this.#deps
    const { begun, fresh, read } = await this.#list()
    if (fresh.length === 0) return
    const newest = Math.max(read, feed.head?.slot ?? -1)
    // Without any ledger, blocks were not followed.
    if (begun === 0) await this.#put({ slot: newest, blockhash: null, blockTime: feed.head?.blockTime ?? 0 })
    const captureFrom = { slot: newest + 1, ts: feed.head?.blockTime ?? 0 }
    await inChunks(fresh, async (each) => this.#watched.begin(each, captureFrom))
    await this.#list()
  }

  async #take(block: LedgerBlock): Promise<void> {
    const { slot } = this.#progress
    if (slot === null) return
    const parent = block.parentSlot ?? slot
    if (block.slot <= slot) {
      await this.#record(block)
      return this.#gaps.close(parent + 1, block.slot)
    }
    if (parent < slot) await this.#lose(parent)
    else if (parent > slot) await this.#fill(parent)
    await this.#apply(block)
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
        this.#watches.get(address) ?? [],
        entries.map((entry) => ({ ...entry, address, slot, blockTime })),
        event,
        (mint) => symbols.get(mint) ?? null
      )
  }

  /** Applies blocks from before the start up to a slot, as far as they can be read again. The rest is a gap. */
  async #fill(upTo: number): Promise<void> {
    const { blocks, clock } = this.#deps
    while (this.#progress.slot! < upTo) {
      const next = blocks.recalledAfter(this.#progress.slot!)
      if (next !== null && next.slot <= upTo) await this.#apply(next)
      else if (this.#mayBeRecalled()) await this.#wake.wait(clock, LOOK_MS, this.#end)
      else break
    }
    const { slot, blockTime } = this.#progress
    if (slot! >= upTo || this.#end.aborted) return
    const isOfBefore = upTo <= (this.#recallSlot ?? -1)
    await this.#miss({ from: slot! + 1, to: upTo, reason: isOfBefore ? 'ingest_down' : 'upstream_missing' })
    await this.#put({ slot: upTo, blockhash: null, blockTime })
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
    await this.#retract([...this.#watches.keys()], async (address) => this.#writer.rollBack(address, after))
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
    this.#isSaved = true
    this.#savedAtMs = this.#deps.clock.now()
  }
}

/** Works on each item, some at once. Resolves with the results in the order of the items. Rejects with the first error. */
async function inChunks<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>
): Promise<readonly Result[]> {
  const results: Result[] = []
  for (let from = 0; from < items.length; from += AT_ONCE)
    results.push(...(await Promise.all(items.slice(from, from + AT_ONCE).map(async (item) => work(item)))))
  return results
}
