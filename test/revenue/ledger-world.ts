import { join } from 'node:path'
import { Registry } from 'prom-client'
import type { Test } from 'tap'
import { LedgerFollower } from '../../actors/revenue/ledger-follower.ts'
import { pubkeyToBase58, samePubkey } from '../../src/chain/pubkey.ts'
import { TOKEN_PROGRAM_KEYS } from '../../src/accounts/token-program.ts'
import type { LocalBank } from '../../src/localnet/bank/bank.ts'
import type { SlotRow } from '../../src/market/rows.ts'
import { CashList } from '../../src/market/cash.ts'
import { systemPorts, type Clock } from '../../src/ports.ts'
import { LedgerBlocks } from '../../src/revenue/ledger-blocks.ts'
import { LedgerFeed } from '../../src/stream/ledger-feed.ts'
import { LedgerGaps } from '../../src/revenue/ledger-gap.ts'
import { ledgerProgressIn } from '../../src/revenue/ledger-progress.ts'
import { LedgerReader, type LedgerRow } from '../../src/revenue/ledger-reader.ts'
import type { WatchedAddress } from '../../src/revenue/watched-address.ts'
import { WatchedAddresses } from '../../src/revenue/watched-addresses.ts'
import { ledgerMetrics } from '../../src/telemetry/ledger-metrics.ts'
import type { TenantEvent } from '../../storage/cluster/coordination.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import type { Storage } from '../../storage/port.ts'
import { Choices } from '../../storage/test/choices.ts'
import { FollowedIndex } from '../followed-index.ts'
import { blockOfText, textOfBlock } from '../holders/block-text.ts'
import { DyingStorage } from '../holders/dying-storage.ts'
import { TokenTraffic } from '../holders/token-traffic.ts'
import { openBank } from '../localnet/bank/sending.ts'
import { until } from '../service/asking.ts'

/** Base units of each account that an address has: its own lamports, and its token accounts. */
type Balances = ReadonlyMap<string, bigint>

const TENANT = 'a'

type LedgerIndex = FollowedIndex<LedgerBlocks>
const ledgerIndex = (): LedgerIndex => new FollowedIndex((feed) => new LedgerBlocks(feed))

/** A localnet with traffic of tokens, and a follower that writes the ledger of some of its wallets on an embedded store. */
export class LedgerWorld {
  readonly bank: LocalBank
  readonly traffic: TokenTraffic
  readonly choices: Choices
  readonly #directory: string
  /** All blocks of the chain, as a node has them. */
  readonly blocks: string[] = []
  /** Balances of each wallet at each slot of the chain; those of lost forks are gone. */
  readonly #balances = new Map<number, ReadonlyMap<string, Balances>>()
  readonly dying = new DyingStorage()
  readonly published: TenantEvent[] = []
  readonly registry = new Registry()
  readonly #metrics = ledgerMetrics(this.registry)
  index = ledgerIndex()
  storage!: Storage
  follower!: LedgerFollower
  #end = new AbortController()
  #running: Promise<void> = Promise.resolve()
  readonly #isShared: boolean
  /** Indexes of other processes, which hear of committed blocks. */
  readonly #hearing = new Set<LedgerIndex>()

  private constructor(
    bank: LocalBank,
    traffic: TokenTraffic,
    choices: Choices,
    directory: string,
    isShared: boolean
  ) {
    this.bank = bank
    this.traffic = traffic
    this.choices = choices
    this.#directory = directory
    this.#isShared = isShared
    bank.listen((event) => {
      if (event.kind !== 'block' || event.commitment !== 'processed') return
      const text = textOfBlock(event.block)
      while (this.blocks.length > 0 && blockOfText(this.blocks.at(-1)!).slot > event.block.parentSlot)
        this.blocks.pop()
      this.blocks.push(text)
      const { slot, parentSlot } = event.block
      for (const known of this.#balances.keys()) if (known > parentSlot) this.#balances.delete(known)
      this.#balances.set(slot, this.#balancesNow())
      this.index.take(blockOfText(text))
      for (const index of this.#hearing) index.hear(blockOfText(text))
    })
  }

  /** With `isShared` the follower treats its store as one of several processes. */
  static async open(t: Test, seed: number, isShared = false): Promise<LedgerWorld> {
    const choices = new Choices(seed)
    const bank = await openBank({ seed: `ledger ${seed}` })
    const traffic = await TokenTraffic.open(bank, choices)
    const world = new LedgerWorld(bank, traffic, choices, join(t.testdir(), 'store'), isShared)
    await world.slots(2)
    await world.start()
    t.teardown(async () => {
      await world.stop()
      await world.storage.close()
    })
    return world
  }

  get wallets(): readonly string[] {
    return this.traffic.wallets.map((wallet) => wallet.toBase58())
  }

  async start(): Promise<void> {
    this.storage = await openEmbeddedStorage({ directory: this.#directory })
    const watched = await new WatchedAddresses(this.storage.documents).all()
    this.index.blocks.watch(new Set(watched.map(({ value }) => value.address)))
    this.follow()
  }

  /** Starts a follower on the open store, as after a failure of the one before. */
  follow(): void {
    this.#end = new AbortController()
    this.follower = this.#followerOf(this.index, systemPorts.clock)
    this.#running = this.follower.run(this.#end.signal)
    // Awaited by `stop`.
    this.#running.catch(() => undefined)
  }

  #followerOf(index: LedgerIndex, clock: Clock): LedgerFollower {
    return new LedgerFollower({
      clock,
      random: systemPorts.random,
      storage: {
        ...this.storage,
        ...this.dying.of(this.storage),
        isShared: this.#isShared,
        blocks: {
          at: async (slot) => this.#rows().findLast((row) => row.slot === slot) ?? null,
          between: async (first, last) => this.#rows().filter(({ slot }) => slot >= first && slot <= last)
        }
      },
      cash: new CashList(),
      blocks: index.blocks,
      feed: index.feed,
      stream: new LedgerFeed((event) => void this.published.push(event), clock),
      metrics: this.#metrics,
      logger: { info: () => undefined, warn: () => undefined }
    })
  }

  /**
   * Starts the follower of another process, which commits no blocks. It lists the watched addresses once, before this
   * resolves. The returned function makes it the process that commits, after it has read some last blocks again; the
   * follower before it ends.
   */
  async standBy(): Promise<(recalled: number) => Promise<void>> {
    const index = ledgerIndex()
    index.restore(blockOfText(this.blocks.at(-1)!))
    this.#hearing.add(index)
    let stoodStillMs: number | null = systemPorts.clock.now()
    const clock = { ...systemPorts.clock, now: () => stoodStillMs ?? systemPorts.clock.now() }
    const follower = this.#followerOf(index, clock)
    const end = new AbortController()
    const running = follower.run(end.signal)
    running.catch(() => undefined)
    const known = new Set((await this.watched()).map(({ address }) => address))
    await until(async () => follower.addresses === known.size, 'a list')
    return async (recalled) => {
      this.#end.abort()
      await this.#running
      this.#hearing.delete(index)
      this.index = index
      this.follower = follower
      this.#end = end
      this.#running = running
      index.recall(this.blocks.slice(-recalled).map(blockOfText))
      stoodStillMs = null
    }
  }

  /** The blocks of the chain, as the index has them. */
  #rows(): readonly SlotRow[] {
    return this.blocks
      .map(blockOfText)
      .map(({ slot, blockTime, blockhash }) => ({ slot, blockTime, blockhash }) as SlotRow)
  }

  async stop(): Promise<void> {
    this.#end.abort()
    await this.#running
  }

  /** Makes slots until the process has died at a write. */
  async died(): Promise<void> {
    await until(async () => {
      if (!this.dying.isDead) await this.slots(1)
      return this.dying.isDead
    }, 'a death')
    this.#end.abort()
    await this.#running.catch(() => undefined)
    this.#running = Promise.resolve()
  }

  /** Ends the follower and the store, and begins again; `lateSlots` blocks come in between, and some are read again. */
  async restart(lateSlots: number, recalled: number): Promise<void> {
    await this.stop()
    await this.storage.close()
    const before = this.blocks.length
    await this.slots(lateSlots)
    this.index = ledgerIndex()
    this.index.restore(blockOfText(this.blocks.at(-1)!))
    await this.start()
    this.index.recall(this.blocks.slice(Math.max(0, before - recalled)).map(blockOfText))
  }

  /** Makes slots with traffic. */
  async slots(count: number): Promise<void> {
    for (let made = 0; made < count; made++) {
      this.traffic.send(this.choices.below(6))
      await this.bank.produceSlot()
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  async watch(address: string, tenant = TENANT): Promise<void> {
    await new WatchedAddresses(this.storage.documents).watch(
      tenant,
      { address, label: address, role: 'other' },
      1
    )
    this.follower.hint()
  }

  watched(tenant = TENANT): Promise<readonly WatchedAddress[]> {
    return new WatchedAddresses(this.storage.documents).list(tenant)
  }

  /** Waits until the ledger of each watched address has begun, and is complete at the newest slot. */
  async settled(message: string): Promise<void> {
    await until(async () => {
      const isBegun = (await this.watched()).every(({ captureFrom }) => captureFrom !== null)
      if (!isBegun) await this.slots(1)
      return isBegun && this.follower.slot === this.bank.slot('processed')
    }, message)
  }

  get progress() {
    return ledgerProgressIn(this.storage.documents).get()
  }

  async gaps() {
    return new LedgerGaps(this.storage.documents).since(0)
  }

  async rowsOf(watched: readonly WatchedAddress[]): Promise<readonly LedgerRow[]> {
    return new LedgerReader(this.storage.documents).rows(watched, {
      from: 0,
      order: 'asc',
      after: null,
      limit: 1_000_000
    })
  }

  async counted(name: string): Promise<number> {
    const { values } = await this.registry.getSingleMetric(name)!.get()
    return values.reduce((sum, { value }) => sum + value, 0)
  }

  /** Balances of a wallet at the end of a slot of the chain. */
  balances(wallet: string, slot: number): Balances {
    for (let at = slot; at >= 0; at--) {
      const found = this.#balances.get(at)
      if (found !== undefined) return found.get(wallet)!
    }
    throw new Error(`no balances are known at slot ${slot}`)
  }

  /** Balances of each wallet after the newest block. */
  #balancesNow(): ReadonlyMap<string, Balances> {
    const found = new Map<string, Map<string, bigint>>()
    for (const wallet of this.traffic.wallets) {
      const lamports = this.bank.account(wallet.toBytes())?.lamports ?? 0n
      found.set(wallet.toBase58(), new Map([[wallet.toBase58(), lamports]]))
    }
    for (const program of Object.values(TOKEN_PROGRAM_KEYS))
      for (const { address, data, owner } of this.bank.accountsOf(program, 'processed')) {
        if (!samePubkey(owner, program) || data.length < 165) continue
        const balances = found.get(pubkeyToBase58(data.subarray(32, 64)))
        balances?.set(pubkeyToBase58(address), Buffer.from(data).readBigUInt64LE(64))
      }
    return found
  }
}
