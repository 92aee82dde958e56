import { setTimeout as sleep } from 'node:timers/promises'
import { Registry } from 'prom-client'
import { LedgerFollower } from '../actors/revenue/ledger-follower.ts'
import type { Block } from '../src/chain/transaction.ts'
import { CommittedBlocks } from '../src/ingest/committed-blocks.ts'
import { CommitFeed } from '../src/kernel/feed/commit-feed.ts'
import { CashList } from '../src/market/cash.ts'
import { systemPorts } from '../src/ports.ts'
import { LedgerBlocks } from '../src/revenue/ledger-blocks.ts'
import { deltaOf, type LedgerChange } from '../src/revenue/ledger-entry.ts'
import { LedgerFeed } from '../src/revenue/ledger-feed.ts'
import { LedgerReader } from '../src/revenue/ledger-reader.ts'
import { ledgerMetrics } from '../src/revenue/metrics.ts'
import { WatchedAddresses } from '../src/revenue/watched-addresses.ts'
import { openEmbeddedStorage } from '../storage/embedded/store.ts'
import type { Storage } from '../storage/port.ts'
import { loneIngester } from '../test/actors/ingest/lone-ingester.ts'
import { RECORDED_SLOT } from './recorded-block.ts'

/** Blocks that are ingested one after another. The follower may be one block behind. */
export const TURN = 5

/** Ingest into its own store, with a follower of the ledger of some addresses. */
export class LedgerIngest {
  cpuMicros = 0
  taken = 0
  readonly commitsMs: number[] = []
  readonly #addresses: readonly string[]
  readonly #end = new AbortController()
  readonly #storage: Storage
  readonly #blocks: LedgerBlocks
  readonly #follower: LedgerFollower
  readonly #running: Promise<void>
  readonly #ingest: (place: number) => Promise<void>
  /** Durations of all commits. */
  readonly #commits: readonly number[]

  private constructor(
    addresses: readonly string[],
    storage: Storage,
    blocks: LedgerBlocks,
    follower: LedgerFollower,
    commits: readonly number[],
    ingest: (place: number) => Promise<void>
  ) {
    this.#addresses = addresses
    this.#storage = storage
    this.#blocks = blocks
    this.#follower = follower
    this.#ingest = ingest
    this.#commits = commits
    this.#running = follower.run(this.#end.signal)
  }

  /** With `isHeard`, a client has subscribed to the channel of the tenant's rows. */
  static async open(
    directory: string,
    addresses: readonly string[],
    blockAt: (place: number) => Block,
    isHeard: boolean
  ): Promise<LedgerIngest> {
    const storage = await openEmbeddedStorage({ directory })
    const feed = new CommitFeed()
    const committed = new CommittedBlocks(feed)
    const ledgerBlocks = new LedgerBlocks()
    committed.subscribe(ledgerBlocks)
    const registry = new WatchedAddresses(storage.documents)
    for (const each of addresses) await registry.watch('a', { address: each, label: each, role: 'other' }, 1)
    const commits: number[] = []
    const writes = {
      async commit(...block: Parameters<typeof storage.blocks.commit>) {
        const started = performance.now()
        const isNew = await storage.blocks.commit(...block)
        commits.push(performance.now() - started)
        return isNew
      },
      history: storage.history
    }
    const ingester = await loneIngester(storage, writes, undefined, [], feed, committed)
    const ingest = async (place: number): Promise<void> => {
      const block = blockAt(place)
      await ingester.ingest({ block, commitment: 'confirmed', receivedAtMs: block.blockTime * 1_000 })
    }
    await ingest(0)
    const follower = new LedgerFollower({
      ...systemPorts,
      storage,
      names: { namesOf: () => null },
      cash: new CashList(),
      blocks: ledgerBlocks,
      feed,
      stream: new LedgerFeed(
        // As for the connections of a tenant.
        ({ data }) => Buffer.from(JSON.stringify(data)),
        systemPorts.clock,
        () => isHeard
      ),
      metrics: ledgerMetrics(new Registry()),
      lead: { isHeld: false },
      logger: { info: () => undefined, warn: () => undefined }
    })
    const side = new LedgerIngest(addresses, storage, ledgerBlocks, follower, commits, ingest)
    while (follower.addresses < addresses.length) await sleep(1)
    return side
  }

  /** Ingests some blocks, and waits until their entries are stored. */
  async turn(from: number, isCounted: boolean): Promise<void> {
    const before = process.cpuUsage()
    const commits = this.#commits.length
    for (let place = from; place < from + TURN; place++) {
      await this.#ingest(place)
      await this.#followed(place - 1)
    }
    await this.#followed(from + TURN - 1)
    if (!isCounted) return
    const { user, system } = process.cpuUsage(before)
    this.cpuMicros += user + system
    this.taken += TURN
    this.commitsMs.push(...this.#commits.slice(commits))
  }

  async #followed(place: number): Promise<void> {
    if (this.#addresses.length === 0) return
    while ((this.#follower.slot ?? 0) < RECORDED_SLOT + place) await sleep(1)
  }

  /** Ends it. Returns the number of addresses whose entries are not `changes` of each of some blocks. */
  async verified(count: number, changes: ReadonlyMap<string, readonly LedgerChange[]>): Promise<number> {
    this.#end.abort()
    await this.#running
    if (this.#blocks.waiting > 0) throw new Error('blocks wait for the follower')
    const watched = await new WatchedAddresses(this.#storage.documents).list('a')
    const reader = new LedgerReader(this.#storage)
    let wrong = 0
    for (const each of watched) {
      const expected = changes.get(each.address) ?? []
      const page = { from: 0, order: 'asc', after: null, limit: 1_000_000 } as const
      const rows = await reader.rows([each], page)
      const { all } = await reader.sums(each, { from: 0 })
      const places = new Set(rows.map(({ slot, txIndex, index }) => `${slot} ${txIndex} ${index}`))
      const delta = rows.reduce((sum, row) => sum + deltaOf(row), 0n)
      const one = expected.reduce((sum, row) => sum + deltaOf(row), 0n)
      const number = expected.length * count
      if (rows.length !== number || places.size !== number || all.entries !== number) wrong++
      else if (delta !== one * BigInt(count)) wrong++
    }
    await this.#storage.close()
    return wrong
  }
}
