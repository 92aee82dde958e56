import type { Test } from 'tap'
import type { HolderLimits } from '../../actors/holders/holder-deps.ts'
import { isFaultOfReading, READING_POLICY } from '../../actors/holders/list-reader.ts'
import { DynamicSupervisor } from '../../actors/supervision/dynamic-supervisor.ts'
import { HolderFollower } from '../../actors/holders/holder-follower.ts'
import { RpcAccountNode } from '../../src/accounts/node-client.ts'
import type { AccountNode } from '../../src/accounts/ports.ts'
import { TOKEN_PROGRAM_KEYS } from '../../src/accounts/token-program.ts'
import { pubkeyToBase58, samePubkey, type Pubkey } from '../../src/chain/pubkey.ts'
import { NATIVE_MINT } from '../../src/chain/token-accounts.ts'
import type { BalanceChanges } from '../../src/holders/balance-changes.ts'
import type { HolderBlocks } from '../../src/holders/holder-blocks.ts'
import { holderMintsIn, holderProgressIn, type HolderMint } from '../../src/holders/holder-mint.ts'
import { BUSY_MARKET, MarketSimulator } from '../../src/localnet/market/simulator.ts'
import { NodeError } from '../../src/node/node-fault.ts'
import { systemPorts, type Clock } from '../../src/ports.ts'
import { holderMetrics } from '../../src/holders/metrics.ts'
import type { Storage } from '../../storage/port.ts'
import { startNode, urlOf } from '../localnet/node/node-client.ts'
import { steadily as until } from '../until.ts'
import { FollowerWorld, worldParts, type WorldParts } from '../followers/follower-world.ts'
import type { FollowedIndex } from '../followers/followed-index.ts'
import { holderIndex } from './holder-index.ts'
import { chainShape, storedShape, tokenAccountsOf, type ListShape } from './list-shape.ts'

/** A localnet with a market and other traffic, and a follower of its holder lists on an embedded store. */
export class HolderWorld extends FollowerWorld<BalanceChanges, HolderBlocks, HolderFollower> {
  readonly nodeUrl: string
  readonly #node: RpcAccountNode
  /** The follower's, also when they change. */
  readonly limits: { -readonly [K in keyof HolderLimits]: HolderLimits[K] }
  /** Calls of the node. */
  calls = 0
  isNodeAway = false
  readonly #metrics = holderMetrics(this.registry)
  readonly faults: unknown[] = []

  private constructor(parts: WorldParts, node: RpcAccountNode, nodeUrl: string, limits: HolderLimits) {
    super(parts, holderIndex)
    this.#node = node
    this.nodeUrl = nodeUrl
    this.limits = limits
  }

  /** With `isShared` the follower treats its store as one of several processes. */
  static async open(
    t: Test,
    seed: number,
    limits: Partial<HolderLimits> = {},
    isShared = false
  ): Promise<HolderWorld> {
    const parts = await worldParts(t, 'holders', seed, isShared)
    const { bank } = parts
    const market = new MarketSimulator(
      { ...BUSY_MARKET, seed: `holders ${seed}` },
      { part: (name) => bank.note(name), account: (address) => bank.account(address) }
    )
    bank.onSlot((slot, blockTime, include, keep) => {
      for (const { transaction, accounts } of market.fill(slot, blockTime)) include(transaction, accounts)
      for (const [name, part] of market.takeParts()) keep(name, part)
    })
    const local = await startNode(t, bank)
    const node = new RpcAccountNode(() => [urlOf(local)], systemPorts.clock)
    t.teardown(() => node.close())
    const all = { mintsMax: 100, accountsMax: 1_000_000, pinnedMs: 300_000, ...limits }
    const world = new HolderWorld(parts, node, urlOf(local), all)
    await world.begin(t)
    return world
  }

  protected followerOf(index: FollowedIndex<HolderBlocks>, storage: Storage, clock: Clock): HolderFollower {
    const node: Pick<AccountNode, 'programAccounts'> = {
      programAccounts: async (...asked) => {
        this.calls++
        if (this.isNodeAway) throw new NodeError('node', { kind: 'unreachable', detail: 'away' })
        return this.#node.programAccounts(...asked)
      }
    }
    const random = (): number => 0
    const report = (fault: Error): void => {
      if (!this.dying.isDead) this.faults.push(fault)
    }
    return new HolderFollower({
      clock,
      random,
      storage,
      node,
      blocks: index.blocks,
      feed: index.feed,
      metrics: this.#metrics,
      logger: { info: () => undefined, warn: () => undefined },
      readings: new DynamicSupervisor(READING_POLICY, { clock, random, report, isKnown: isFaultOfReading }),
      limits: this.limits
    })
  }

  protected async isStandingBy(): Promise<boolean> {
    return true
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

  /** The list of a mint as it is stored at a slot. */
  stored(mint: Pubkey, slot: number): Promise<ListShape> {
    return storedShape(this.storage, mint, slot)
  }

  /** The lists of mints from the chain's newest accounts. */
  chains(mints: readonly Pubkey[]): ListShape[] {
    const accounts = tokenAccountsOf(this.bank)
    return mints.map((mint) => chainShape(accounts, mint))
  }

  /** The list of a mint from the chain's newest accounts. */
  chain(mint: Pubkey): ListShape {
    return this.chains([mint])[0]!
  }
}
