import type { SlotRow } from '../../src/market/rows.ts'
import { sleep, type Clock } from '../../src/ports.ts'
import type { BlockFees } from '../../src/transactions/block-fees.ts'
import { decodeFees, encodeFees } from '../../src/transactions/fee-digest.ts'
import { FEE_SLOTS, type PriorityFees } from '../../src/transactions/priority-fees.ts'
import type { CommitFeed } from '../../src/kernel/feed/commit-feed.ts'
import type { BlockDigests, ClusterCoordination } from '../../storage/cluster/coordination.ts'
import type { Storage } from '../../storage/port.ts'
import { undefinedIfUnavailable } from '../storage/retry.ts'
import { AutoResetEvent } from '../supervision/auto-reset-event.ts'
import type { Run } from '../supervision/process.ts'

/** Milliseconds until absent digests are read again, if no block comes: half a slot's time. */
const LATE_MS = 200
/**
 * Milliseconds after an answer for which the window follows the blocks. It is as long as the window: after it, all blocks
 * have to be read anyway.
 */
const USED_MS = 60_000
/** Longest wait of an answer for the window, in milliseconds. All of it is 22 MB, read in a quarter of a second. */
const READ_WITHIN_MS = 1_000
/** Digests read at a time. Mainnet's have 150 KB each, and leases wait behind the answer on the same connection. */
const DIGESTS_PER_READ = 8

export interface SharedFeesDeps {
  readonly fees: PriorityFees
  readonly feed: CommitFeed
  readonly clock: Clock
  /** Whether this process may ingest, and then publishes the fees of its blocks. */
  readonly publishes: boolean
}

/**
 * Gives the window of fees the blocks that another process has ingested.
 *
 * F1. The store is the truth: the window keeps and takes only blocks of the last 150 slots that are stored, by slot and
 *     blockhash. A digest of a lost fork is never used, and the blocks of one leave the window.
 * F2. A block is published after it is committed, and again when Redis is back, because Redis may have lost it.
 * F3. A process that does not ingest reads the digests only while fees are requested. The first answer waits for them.
 * F4. While Redis is unavailable the window stays behind; its slots say how far. Nothing waits for Redis.
 */
export function sharedFees(
  deps: SharedFeesDeps
): Run<{ readonly storage: Pick<Storage, 'blocks'>; readonly peers: Pick<ClusterCoordination, 'digests'> }> {
  return async ({ input: { storage, peers }, draining, ready }) => {
    const { digests } = peers
    ready()
    if (digests !== null) await new SharedWindow(deps, storage.blocks, digests).run(draining)
  }
}

class SharedWindow {
  readonly #deps: SharedFeesDeps
  readonly #stored: Pick<Storage['blocks'], 'between'>
  readonly #digests: BlockDigests
  readonly #wakeUp = new AutoResetEvent()
  /** Stored blocks of the window by slot; null if they must be reread. */
  #rows: Map<number, SlotRow> | null = null
  /** Blocks that are in Redis, as far as this process knows. */
  #published = new WeakSet<BlockFees>()
  #usedAtMs = -Infinity
  /** Settled by the next step, which answers wait for; null if none does. */
  #awaited: PromiseWithResolvers<void> | null = null

  constructor(deps: SharedFeesDeps, stored: Pick<Storage['blocks'], 'between'>, digests: BlockDigests) {
    this.#deps = deps
    this.#stored = stored
    this.#digests = digests
  }

  async run(end: AbortSignal): Promise<void> {
    const { feed, fees, clock, publishes } = this.#deps
    const unsubscribe = [
      publishes ? () => undefined : fees.updateBy(() => this.#update(end)),
      feed.follow({
        published: ({ slot }) => {
          if (this.#isUsed) {
            this.#rows?.set(slot.slot, slot)
            this.#wakeUp.set()
          } else this.#rows = null
        },
        jumped: () => {
          this.#rows = null
          this.#wakeUp.set()
        },
        needs: () => 'slot'
      }),
      this.#digests.onChange((available) => {
        if (!available || !this.#isUsed) return
        this.#published = new WeakSet()
        this.#wakeUp.set()
      })
    ]
    try {
      while (!end.aborted) {
        const awaited = this.#awaited
        if (this.#isUsed) await this.#step(end)
        awaited?.resolve()
        if (this.#awaited === awaited) this.#awaited = null
        await this.#wakeUp.wait(clock, this.#isUsed ? LATE_MS : USED_MS, end)
      }
    } finally {
      for (const each of unsubscribe) each()
      this.#awaited?.resolve()
    }
  }

  get #isUsed(): boolean {
    const { publishes, clock } = this.#deps
    return publishes || clock.now() - this.#usedAtMs < USED_MS
  }

  /** Resolves once the window follows the blocks; after `READ_WITHIN_MS` with the blocks that it has. */
  async #update(end: AbortSignal): Promise<void> {
    const { clock } = this.#deps
    const wasUsed = this.#isUsed
    this.#usedAtMs = clock.now()
    if (wasUsed && this.#awaited === null) return
    this.#awaited ??= Promise.withResolvers()
    this.#wakeUp.set()
    const read = new AbortController()
    const { promise } = this.#awaited
    await Promise.race([
      promise.then(() => read.abort()),
      sleep(clock, READ_WITHIN_MS, AbortSignal.any([end, read.signal]))
    ])
  }

  async #step(end: AbortSignal): Promise<void> {
    await this.#readRows()
    const rows = this.#rows
    if (rows === null) return
    const { fees, feed, publishes } = this.#deps
    const first = (feed.head?.slot ?? 0) - FEE_SLOTS + 1
    for (const slot of rows.keys()) if (slot < first) rows.delete(slot)
    fees.retain((block) => this.#isStored(block))
    try {
      if (publishes) await this.#publish(end)
      await this.#read(end)
    } catch {
      // Redis is unavailable (F4), which its connection logs.
    }
  }

  /** Reads the stored blocks of the window, unless they are known. */
  async #readRows(): Promise<void> {
    const { head } = this.#deps.feed
    if (this.#rows !== null || head === null) return
    const heard = new Map<number, SlotRow>()
    this.#rows = heard
    const from = Math.max(0, head.slot - FEE_SLOTS + 1)
    const stored = await undefinedIfUnavailable(this.#stored.between(from, head.slot))
    // A jump has happened meanwhile.
    if (this.#rows !== heard) return
    this.#rows =
      stored === undefined ? null : new Map([...stored.map((row) => [row.slot, row] as const), ...heard])
  }

  #isStored({ slot, blockhash }: Pick<BlockFees, 'slot' | 'blockhash'>): boolean {
    const row = this.#rows?.get(slot)
    return row !== undefined && row.blockhash === blockhash
  }

  async #publish(end: AbortSignal): Promise<void> {
    for (const block of this.#deps.fees.blocks.toReversed()) {
      if (end.aborted) return
      if (this.#published.has(block)) continue
      await this.#digests.put(block.slot, encodeFees(block))
      this.#published.add(block)
    }
  }

  /** Reads the blocks that the window lacks, newest first. */
  async #read(end: AbortSignal): Promise<void> {
    const { fees } = this.#deps
    const has = new Set(fees.blocks.map(({ slot }) => slot))
    const lacking = [...(this.#rows?.keys() ?? [])].filter((slot) => !has.has(slot)).sort((a, b) => b - a)
    for (let at = 0; at < lacking.length && !end.aborted; at += DIGESTS_PER_READ) {
      for (const digest of await this.#digests.read(lacking.slice(at, at + DIGESTS_PER_READ))) {
        const block = digest === null ? null : decodeFees(digest)
        if (block === null || !this.#isStored(block) || fees.has(block.slot)) continue
        this.#published.add(block)
        fees.add(block)
      }
    }
  }
}
