import { join } from 'node:path'
import { Registry } from 'prom-client'
import type { Test } from 'tap'
import type { ProgramMirrorDeps } from '../../actors/program-accounts/mirror-deps.ts'
import { isFaultOfMirror, MIRROR_POLICY } from '../../actors/program-accounts/mirror-shard.ts'
import { DynamicSupervisor, type Member } from '../../actors/supervision/dynamic-supervisor.ts'
import { ProgramMirror } from '../../actors/program-accounts/program-mirror.ts'
import { pubsubSubscriptions } from '../../actors/program-accounts/pubsub-subscription.ts'
import { RpcAccountNode } from '../../src/accounts/node-client.ts'
import { pubkeyMapKey } from '../../src/chain/pubkey.ts'
import type { LocalBank } from '../../src/localnet/bank/bank.ts'
import type { LocalAccount } from '../../src/localnet/chain.ts'
import type { ChainListener } from '../../src/program-accounts/chain-watch.ts'
import type { TouchedAccount } from '../../src/program-accounts/touched-accounts.ts'
import { NO_PROGRESS, type MirrorProgress } from '../../src/program-accounts/program.ts'
import type { SubscriptionListener } from '../../src/program-accounts/ports.ts'
import { systemPorts } from '../../src/ports.ts'
import { mirrorMetrics } from '../../src/program-accounts/metrics.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import type {
  AccountsQuery,
  AccountVersion,
  DataMatcher,
  IndexedRange,
  ProgramAccountStore
} from '../../storage/port.ts'
import { Choices } from '../../storage/test/choices.ts'
import { wholePage } from '../../storage/test/whole-page.ts'
import { included, marketAccount } from '../localnet/bank/market-entries.ts'
import { openBank } from '../localnet/bank/sending.ts'
import { startNode, urlOf } from '../localnet/node/node-client.ts'
import { ownDirectory } from '../own-directory.ts'
import { steadily as until } from '../until.ts'

export const PROGRAM = new Uint8Array(32).fill(77)
const OTHER_PROGRAM = new Uint8Array(32).fill(78)
type State = ReadonlyMap<string, LocalAccount>
type AccountPages = Pick<ProgramAccountStore, 'pages'>

/** A localnet with accounts of a program that change in each slot, and what they were at each confirmed slot. */
export class World {
  readonly bank: LocalBank
  readonly choices = new Choices(3)
  readonly states = new Map<number, State>()
  readonly listeners = new Set<ChainListener>()
  /** Whether blocks state the accounts that they have touched. */
  isReporting = true
  /** Whether accounts are given to another program, and come back. */
  isGiving = false
  #state = new Map<string, LocalAccount>()
  #entry = 0

  constructor(bank: LocalBank) {
    this.bank = bank
    bank.listen((event) => {
      if (event.kind !== 'block' || event.commitment !== 'confirmed') return
      const touched = this.#touched(event.accounts)
      for (const account of event.accounts) {
        if (account.lamports > 0n && pubkeyMapKey(account.owner) === pubkeyMapKey(PROGRAM))
          this.#state.set(pubkeyMapKey(account.address), account)
        else this.#state.delete(pubkeyMapKey(account.address))
      }
      const { slot } = event.block
      this.states.set(slot, new Map(this.#state))
      const closed = event.accounts.filter(({ lamports }) => lamports === 0n).map(({ address }) => address)
      for (const each of this.listeners) each.tick({ slot, closed, touched })
    })
  }

  /** Produces slots in which accounts are created, changed and closed, and on request given to another program. */
  async slots(count: number): Promise<void> {
    for (let made = 0; made < count; made++) {
      for (let i = this.choices.below(6); i > 0; i--) this.#change()
      await this.bank.produceSlot()
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
  }

  /** Produces a slot in which an account is given to another program, of which its subscribers are not told. */
  async giveAway(address: Uint8Array): Promise<void> {
    const given = { ...marketAccount(1), address, owner: OTHER_PROGRAM, lamports: 1n }
    this.bank.include(included(++this.#entry), [given])
    await this.bank.produceSlot()
  }

  /** Each changed account counts as touched, whichever program owns it: a block does not state the owner. */
  #touched(accounts: readonly LocalAccount[]): TouchedAccount[] {
    if (!this.isReporting) return []
    return accounts.map(({ address }) => ({ address, isNew: !this.#state.has(pubkeyMapKey(address)) }))
  }

  #change(): void {
    const account = marketAccount(1)
    const address = new Uint8Array(32).fill(this.choices.below(40) + 100)
    const isClosed = this.choices.chance(0.2)
    const isGiven = this.isGiving && this.choices.chance(0.1)
    const data = Uint8Array.of(this.choices.below(3), this.#entry % 256, 7)
    const changed = { ...account, address, owner: PROGRAM, data, lamports: BigInt(this.#entry + 1) }
    const closed = { ...account, address, owner: new Uint8Array(32), data: new Uint8Array(), lamports: 0n }
    const given = { ...changed, owner: OTHER_PROGRAM }
    this.bank.include(included(++this.#entry), [isClosed ? closed : isGiven ? given : changed])
  }
}

export async function contentOf(
  store: AccountPages,
  slot: number,
  filter: Pick<AccountsQuery, 'matches' | 'lookups' | 'abandoned'> = {}
): Promise<AccountVersion[]> {
  const found: AccountVersion[] = []
  for (let after: Uint8Array | undefined; ;) {
    const { accounts, next } = await wholePage(store, PROGRAM, {
      slot,
      after,
      limit: 7,
      examined: 20,
      ...filter
    })
    found.push(...accounts)
    if (next === null) return found
    after = next
  }
}

/** Compares each ready index with a scan at a slot, for every existing value and for a missing one. */
export async function indexedEqual(
  t: Test,
  store: AccountPages,
  mirror: ProgramMirror,
  slot: number
): Promise<void> {
  const all = await contentOf(store, slot)
  for (const { offset, length, state } of mirror.progress.indexes) {
    if (state !== 'ready') continue
    const range = `${offset}:${length}`
    const valueOf = ({ account }: AccountVersion): string =>
      Buffer.from(account!.data.subarray(offset, offset + length)).toString('hex')
    const values = new Set([...all.map(valueOf), 'ff'.repeat(length)])
    for (const text of values) {
      const value = Buffer.from(text, 'hex')
      const matches: DataMatcher = (bytes, from, to) =>
        Buffer.compare(bytes.subarray(from, to).subarray(offset, offset + length), value) === 0
      const lookups = [{ offset, length, value }]
      const found = await contentOf(store, slot, { matches, lookups })
      const expected = all.filter((each) => valueOf(each) === text)
      t.strictSame(shapeOf(found), shapeOf(expected), `${range} = ${text} at slot ${slot}`)
    }
  }
}

export const shape = (
  list: Iterable<{ address: Uint8Array; lamports: bigint; data: Uint8Array }>
): string[] =>
  [...list]
    .map(({ address, lamports, data }) => `${address[0]} ${lamports} ${Buffer.from(data).toString('hex')}`)
    .sort()

export const shapeOf = (versions: readonly AccountVersion[]): string[] =>
  shape(versions.map(({ address, account }) => ({ address, ...account! })))

/** Ends a process at a write: from then on none takes effect. */
class Kill {
  /** Writes until the end. */
  after = Infinity
  fired = 0

  async step<T>(write: () => Promise<T>): Promise<T> {
    if (this.after-- > 0) return write()
    this.fired++
    throw new Error('the process is killed')
  }

  of(store: ProgramAccountStore): ProgramAccountStore {
    return {
      newest: async (...asked) => store.newest(...asked),
      at: async (...asked) => store.at(...asked),
      pages: (program, query) => store.pages(program, query),
      versions: (program) => store.versions(program),
      put: async (...asked) => this.step(async () => store.put(...asked)),
      drop: async (...asked) => this.step(async () => store.drop(...asked)),
      index: async (...asked) => this.step(async () => store.index(...asked)),
      unindex: async (...asked) => this.step(async () => store.unindex(...asked)),
      clear: async (program) => this.step(async () => store.clear(program))
    }
  }
}

/** A supervisor of mirrors, whose faults fail the test unless they are wanted. */
export function mirrorSupervisor(
  t: Test,
  clock = systemPorts.clock,
  isWanted: () => boolean = () => false
): DynamicSupervisor {
  const report = ({ message }: Error): void => {
    if (!isWanted()) t.fail(message)
  }
  return new DynamicSupervisor(MIRROR_POLICY, { clock, random: () => 0, report, isKnown: isFaultOfMirror })
}

export async function openWorld(t: Test, more: Partial<ProgramMirrorDeps> = {}) {
  const world = new World(await openBank())
  await world.slots(5)
  const node = await startNode(t, world.bank)
  const directory = join(ownDirectory(t), 'store')
  let storage = await openEmbeddedStorage({ directory })
  t.teardown(() => storage.close())
  const accounts = new RpcAccountNode(() => [urlOf(node)], systemPorts.clock)
  t.teardown(() => accounts.close())
  let saved: MirrorProgress = NO_PROGRESS
  const registry = new Registry()
  const metrics = mirrorMetrics(registry)
  const dropping = { chance: 0 }
  /** Called between a snapshot and its delivery. */
  const snapshots = { read: async (): Promise<void> => undefined }
  const declared: { indexes: readonly IndexedRange[] } = { indexes: [] }
  const kill = new Kill()
  const open = pubsubSubscriptions(() => [`ws://${node.host}:${node.port}`], systemPorts.clock)
  let running: Member | null = null
  const mirrors = mirrorSupervisor(t, systemPorts.clock, () => kill.fired > 0)
  const start = (): ProgramMirror => {
    const deps: ProgramMirrorDeps = {
      ...systemPorts,
      random: () => 0,
      node: {
        programAccounts: async (...asked) => {
          const snapshot = await accounts.programAccounts(...asked)
          await snapshots.read()
          return snapshot
        },
        // A localnet answers with the newest state of single accounts, a node with that of the slot which it names.
        accounts: async (addresses, signal) => {
          const { slot } = await accounts.accounts(addresses, signal)
          const state = world.states.get(slot)!
          return {
            slot,
            accounts: addresses.map((address) => state.get(pubkeyMapKey(address)) ?? null)
          }
        }
      },
      subscribe: (program, listener, signal) => {
        const lossy: SubscriptionListener = {
          ...listener,
          processed: (slot) => listener.processed(slot),
          update: (version) => {
            if (!world.choices.chance(dropping.chance)) listener.update(version)
          }
        }
        return open(program, lossy, signal)
      },
      watch: {
        subscribe: (_, listener) => {
          world.listeners.add(listener)
          return () => void world.listeners.delete(listener)
        }
      },
      store: kill.of(storage.programAccounts),
      metrics,
      logger: { info: () => undefined, warn: () => undefined },
      slotsUnconfirmed: 0,
      settleMs: 20,
      ...more
    }
    const mirror = new ProgramMirror(
      'P',
      PROGRAM,
      () => declared.indexes,
      saved,
      async (progress) => kill.step(async () => void (saved = progress)),
      deps
    )
    running = mirrors.start('the mirror', async ({ signal }) => mirror.run(signal))
    return mirror
  }
  t.teardown(async () => mirrors.drain(AbortSignal.abort()))
  const restart = async (): Promise<ProgramMirror> => {
    running!.kill()
    await running!.ended
    kill.after = Infinity
    await storage.close()
    storage = await openEmbeddedStorage({ directory })
    return start()
  }
  const counted = async (name: string): Promise<number> => {
    const { values } = await registry.getSingleMetric(name)!.get()
    return values.reduce((sum, { value }) => sum + value, 0)
  }
  return {
    world,
    node,
    dropping,
    snapshots,
    declared,
    kill,
    start,
    restart,
    counted,
    /** The accounts as readers see them, who know the mirror's progress. */
    store: (): AccountPages => ({
      pages: (program, query) =>
        storage.programAccounts.pages(program, { ...query, abandoned: saved.abandoned })
    })
  }
}

type Opened = Awaited<ReturnType<typeof openWorld>>

/** Waits until the mirror is at the chain's confirmed slot. */
export async function follows(
  { world }: Pick<Opened, 'world'>,
  mirror: ProgramMirror,
  message = 'it follows'
): Promise<void> {
  let looks = 0
  // A mirror that has restarted needs a slot to begin at.
  await until(async () => {
    const slot = world.bank.slot('confirmed')
    if (mirror.progress.slot === slot && mirror.progress.reason === null) return true
    // Later slots close a gap. Otherwise a slot is produced now and then: the mirror follows a block after a quarter of a
    // second. Fifteen polls take half a second at first, and later one and a half.
    const isBegun = mirror.progress.slot !== null && mirror.progress.reason === null
    if (!isBegun || looks++ % 15 === 14) await world.slots(1)
    return false
  }, message)
}

/** Waits until the mirror is at the chain's confirmed slot, and compares the two. */
export async function equal(
  t: Test,
  { world, store }: Opened,
  mirror: ProgramMirror,
  message: string
): Promise<void> {
  await follows({ world }, mirror, message)
  const { slot, accounts } = mirror.progress
  const expected = shape(world.states.get(slot!)!.values())
  t.strictSame(shapeOf(await contentOf(store(), slot!)), expected, message)
  t.equal(accounts, expected.length)
  t.strictSame(shape(world.bank.accountsOf(PROGRAM, 'confirmed')), expected)
}
