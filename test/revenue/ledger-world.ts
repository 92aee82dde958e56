import type { Test } from 'tap'
import { LedgerFollower } from '../../actors/revenue/ledger-follower.ts'
import { pubkeyToBase58, samePubkey } from '../../src/chain/pubkey.ts'
import { TOKEN_PROGRAM_KEYS } from '../../src/accounts/token-program.ts'
import type { SlotRow } from '../../src/market/rows.ts'
import { CashList } from '../../src/market/cash.ts'
import { systemPorts, type Clock } from '../../src/ports.ts'
import { LedgerBlocks, type LedgerChanges } from '../../src/revenue/ledger-blocks.ts'
import { LedgerFeed } from '../../src/revenue/ledger-feed.ts'
import { LedgerGaps } from '../../src/revenue/ledger-gap.ts'
import { ledgerProgressIn } from '../../src/revenue/ledger-progress.ts'
import { LedgerReader, type LedgerRow } from '../../src/revenue/ledger-reader.ts'
import type { WatchedAddress } from '../../src/revenue/watched-address.ts'
import { WatchedAddresses } from '../../src/revenue/watched-addresses.ts'
import { ledgerMetrics } from '../../src/revenue/metrics.ts'
import type { TenantEvent } from '../../storage/cluster/coordination.ts'
import type { Storage } from '../../storage/port.ts'
import { FollowedIndex } from '../followers/followed-index.ts'
import { blockOfText } from '../followers/block-text.ts'
import { FollowerWorld, worldParts, type WorldParts } from '../followers/follower-world.ts'
import { until } from '../service/asking.ts'

/** Base units of each account that an address has: its own lamports, and its token accounts. */
type Balances = ReadonlyMap<string, bigint>

const TENANT = 'a'

type LedgerIndex = FollowedIndex<LedgerBlocks>
const ledgerIndex = (): LedgerIndex => new FollowedIndex(new LedgerBlocks())

/** A localnet with traffic of tokens, and a follower that writes the ledger of some of its wallets on an embedded store. */
export class LedgerWorld extends FollowerWorld<LedgerChanges, LedgerBlocks, LedgerFollower> {
  /** Balances of each wallet at each slot of the chain; those of lost forks are deleted. */
  readonly #balances = new Map<number, ReadonlyMap<string, Balances>>()
  readonly published: TenantEvent[] = []
  /** Whether a client has subscribed to the channel of rows. */
  hasClient = true
  /** Whether the follower writes the ledger. */
  readonly lead = { isHeld: false }
  readonly #metrics = ledgerMetrics(this.registry)

  private constructor(parts: WorldParts) {
    super(parts, ledgerIndex)
  }

  /** With `isShared` the follower treats its store as one of several processes. */
  static async open(t: Test, seed: number, isShared = false): Promise<LedgerWorld> {
    const world = new LedgerWorld(await worldParts(t, 'ledger', seed, isShared))
    await world.begin(t)
    return world
  }

  get wallets(): readonly string[] {
    return this.traffic.wallets.map((wallet) => wallet.toBase58())
  }

  protected override async opened(): Promise<void> {
    const watched = await new WatchedAddresses(this.storage.documents).all()
    this.index.blocks.watch(new Set(watched.map(({ value }) => value.address)))
  }

  protected override produced(slot: number, parentSlot: number): void {
    for (const known of this.#balances.keys()) if (known > parentSlot) this.#balances.delete(known)
    this.#balances.set(slot, this.#balancesNow())
  }

  protected followerOf(index: LedgerIndex, storage: Storage, clock: Clock): LedgerFollower {
    return new LedgerFollower({
      clock,
      random: systemPorts.random,
      storage: {
        ...storage,
        blocks: {
          at: async (slot) => this.#rows().findLast((row) => row.slot === slot) ?? null,
          between: async (first, last) => this.#rows().filter(({ slot }) => slot >= first && slot <= last)
        }
      },
      names: { namesOf: () => null },
      cash: new CashList(),
      blocks: index.blocks,
      feed: index.feed,
      stream: new LedgerFeed(
        (event) => void this.published.push(event),
        clock,
        () => this.hasClient
      ),
      metrics: this.#metrics,
      lead: this.lead,
      logger: { info: () => undefined, warn: () => undefined }
    })
  }

  /** Whether it has listed the watched addresses once. */
  protected async isStandingBy(follower: LedgerFollower): Promise<boolean> {
    const known = new Set((await this.watched()).map(({ address }) => address))
    return follower.addresses === known.size
  }

  /** The blocks of the chain, as the index has them. */
  #rows(): readonly SlotRow[] {
    return this.blocks
      .map(blockOfText)
      .map(({ slot, blockTime, blockhash }) => ({ slot, blockTime, blockhash }) as SlotRow)
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
    return new LedgerReader(this.storage).rows(watched, {
      from: 0,
      order: 'asc',
      after: null,
      limit: 1_000_000
    })
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
