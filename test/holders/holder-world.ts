import { join } from 'node:path'
import { Registry } from 'prom-client'
import type { Test } from 'tap'
import type { HolderLimits } from '../../actors/holders/holder-deps.ts'
import { HolderFollower } from '../../actors/holders/holder-follower.ts'
import { RpcAccountNode } from '../../src/accounts/node-client.ts'
import type { AccountNode } from '../../src/accounts/ports.ts'
import { TOKEN_PROGRAM_KEYS } from '../../src/accounts/token-program.ts'
import { pubkeyToBase58, samePubkey, type Pubkey } from '../../src/chain/pubkey.ts'
import { NATIVE_MINT } from '../../src/chain/token-accounts.ts'
import { holderMintsIn, holderProgressIn, type HolderMint } from '../../src/holders/holder-mint.ts'
import type { LocalBank } from '../../src/localnet/bank/bank.ts'
import { BUSY_MARKET, MarketSimulator } from '../../src/localnet/market/simulator.ts'
import { NodeError } from '../../src/node/node-fault.ts'
import { systemPorts } from '../../src/ports.ts'
import { holderMetrics } from '../../src/telemetry/holder-metrics.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import type { Storage } from '../../storage/port.ts'
import { Choices } from '../../storage/test/choices.ts'
import { openBank } from '../localnet/bank/sending.ts'
import { startNode, urlOf } from '../localnet/node/node-client.ts'
import { until } from '../service/asking.ts'
import { blockOfText, textOfBlock } from './block-text.ts'
import { DyingStorage } from './dying-storage.ts'
import { holderIndex } from './holder-index.ts'
import { chainShape, storedShape, type ListShape } from './list-shape.ts'
import { TokenTraffic } from './token-traffic.ts'

/** A localnet with a market and other traffic, and a follower of its holder lists on an embedded store. */
export class HolderWorld {
  readonly bank: LocalBank
  readonly traffic: TokenTraffic
  readonly choices: Choices
  readonly nodeUrl: string
  readonly #directory: string
  readonly #node: RpcAccountNode
  /** All blocks, as a node has them. */
  readonly blocks: string[] = []
  /** The follower's, also when they change. */
  readonly limits: { -readonly [K in keyof HolderLimits]: HolderLimits[K] }
  readonly dying = new DyingStorage()
  /** Calls of the node. */
  calls = 0
  isNodeAway = false
  index = holderIndex()
  storage!: Storage
  follower!: HolderFollower
  #end = new AbortController()
  #running: Promise<void> = Promise.resolve()
  #paused: () => Promise<void> = async () => undefined
  readonly registry = new Registry()
  readonly #metrics = holderMetrics(this.registry)
  readonly faults: unknown[] = []

  private constructor(
    bank: LocalBank,
    traffic: TokenTraffic,
    choices: Choices,
    node: RpcAccountNode,
    nodeUrl: string,
    directory: string,
    limits: HolderLimits
  ) {
    this.bank = bank
    this.traffic = traffic
    this.choices = choices
    this.#node = node
    this.nodeUrl = nodeUrl
    this.#directory = directory
    this.limits = limits
    bank.listen((event) => {
      if (event.kind !== 'block' || event.commitment !== 'processed') return
      const text = textOfBlock(event.block)
      this.blocks.push(text)
      this.index.take(blockOfText(text))
    })
  }

  static async open(t: Test, seed: number, limits: Partial<HolderLimits> = {}): Promise<HolderWorld> {
    const choices = new Choices(seed)
    const bank = await openBank({ seed: `holders ${seed}` })
    const market = new MarketSimulator(
      { ...BUSY_MARKET, seed: `holders ${seed}` },
      { part: (name) => bank.note(name), account: (address) => bank.account(address) }
    )
    bank.onSlot((slot, blockTime, include, keep) => {
      for (const { transaction, accounts } of market.fill(slot, blockTime)) include(transaction, accounts)
      for (const [name, part] of market.takeParts()) keep(name, part)
    })
    const traffic = await TokenTraffic.open(bank, choices)
    const local = await startNode(t, bank)
    const node = new RpcAccountNode(() => [urlOf(local)], systemPorts.clock)
    t.teardown(() => node.close())
    const all = { mintsMax: 100, accountsMax: 1_000_000, pinnedMs: 300_000, ...limits }
    const world = new HolderWorld(bank, traffic, choices, node, urlOf(local), join(t.testdir(), 'store'), all)
    await world.slots(2)
    await world.start()
    t.teardown(async () => {
      await world.stop()
      await world.storage.close()
    })
    return world
  }

  async start(): Promise<void> {
    this.storage = await openEmbeddedStorage({ directory: this.#directory })
    this.#run(this.dying.of(this.storage))
  }

  /**
   * Starts a follower of another process on the same store. The previous one stays as it is, without further blocks: it is
   * paused. Returns it.
   */
  takeOver(): HolderFollower {
    const { follower, storage } = this
    const [end, running] = [this.#end, this.#running]
    this.#paused = async () => {
      end.abort()
      await running
    }
    this.index = holderIndex()
    this.index.restore(blockOfText(this.blocks.at(-1)!))
    this.#run({ documents: storage.documents, holders: storage.holders, isShared: true })
    return follower
  }

  #run(storage: Pick<Storage, 'documents' | 'holders' | 'isShared'>): void {
    const node: Pick<AccountNode, 'programAccounts'> = {
      programAccounts: async (...asked) => {
        this.calls++
        if (this.isNodeAway) throw new NodeError('node', { kind: 'unreachable', detail: 'away' })
        return this.#node.programAccounts(...asked)
      }
    }
    this.#end = new AbortController()
    this.follower = new HolderFollower({
      ...systemPorts,
      random: () => 0,
      storage,
      node,
      blocks: this.index.blocks,
      feed: this.index.feed,
      metrics: this.#metrics,
      logger: { info: () => undefined, warn: () => undefined },
      report: (error) => {
        if (!this.dying.isDead) this.faults.push(error)
      },
      limits: this.limits
    })
    this.#running = this.follower.run(this.#end.signal)
    // Awaited by `stop`.
    this.#running.catch(() => undefined)
  }

  async stop(): Promise<void> {
    this.#end.abort()
    await this.#running
    await this.#paused()
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

  /**
   * Ends the follower and the store, and begins again with what is stored; `lateSlots` blocks come in between. Some blocks of
   * before it are read again too.
   */
  async restart(lateSlots: number, recalled = 3): Promise<void> {
    await this.stop()
    await this.storage.close()
    // Committed by the index, and not seen by the follower, as before a kill.
    const before = this.blocks.length
    await this.slots(lateSlots)
    this.index = holderIndex()
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

  async ask(mint: Pubkey, askedAtMs = 1): Promise<void> {
    await holderMintsIn(this.storage.documents).insert(this.mintOf(mint, askedAtMs))
    this.follower.hint()
  }

  mintOf(mint: Pubkey, askedAtMs = 1): HolderMint {
    const is2022 = this.bank.account(mint)!.owner[5] === TOKEN_PROGRAM_KEYS['token-2022'][5]
    const decimals = samePubkey(mint, NATIVE_MINT) ? 9 : this.bank.account(mint)!.data[44]!
    const tokenProgram = is2022 ? 'token-2022' : 'spl-token'
    return { mint: pubkeyToBase58(mint), decimals, tokenProgram, askedAtMs }
  }

  /** Waits until all lists are live and complete at the newest slot. */
  async settled(message: string): Promise<void> {
    let looks = 0
    await until(async () => {
      if (looks++ % 60 === 59) await this.slots(1)
      const { slot } = await holderProgressIn(this.storage.documents).get()
      const isLive = this.follower.lists.length > 0 && this.follower.lists.every((list) => list.isLive)
      return isLive && slot === this.bank.slot('processed')
    }, message)
  }

  async counted(name: string): Promise<number> {
    const { values } = await this.registry.getSingleMetric(name)!.get()
    return values.reduce((sum, { value }) => sum + value, 0)
  }

  /** The list of a mint as it is stored at a slot. */
  stored(mint: Pubkey, slot: number): Promise<ListShape> {
    return storedShape(this.storage, mint, slot)
  }

  /** The same from the chain's newest accounts. */
  chain(mint: Pubkey): ListShape {
    return chainShape(this.bank, mint)
  }
}
