import t from 'tap'
import { LeaselessClaim } from '../../../actors/shards/shard-claims.ts'
import type { DocumentStore } from '../../../storage/document-store.ts'
import { openEmbeddedStorage } from '../../../storage/embedded/store.ts'
import { blockOf, VENUES } from '../../stream/blocks.ts'
import { virtualClock, type VirtualClock } from '../../virtual-time.ts'
import { FakeCluster } from './fake-cluster.ts'
import { MemoryDocuments } from './memory-documents.ts'

const CHANNELS = VENUES.map((venue) => `venue:${venue}`)
const FOREVER = new AbortController().signal

async function settled(turns = 20): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
}

async function pass(clock: VirtualClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 500) {
    clock.increment(500)
    await settled()
  }
}

/** A process without leases: it claims, and sends heartbeats until it dies. */
class Process {
  readonly own: LeaselessClaim
  readonly #death = new AbortController()

  constructor(store: DocumentStore, clock: VirtualClock) {
    this.own = new LeaselessClaim('webhooks', store, true, clock)
  }

  async claim() {
    const taken = (await this.own.take(FOREVER))!
    void this.own.keep(taken, this.#death.signal)
    return taken.claim
  }

  die(): void {
    this.#death.abort()
  }

  /** Returns whether the process that has claimed is silent. */
  watch(): { isSilent: boolean } {
    const watched = { isSilent: false }
    void this.own.silence(this.#death.signal).then(() => (watched.isSilent = true))
    return watched
  }
}

t.test(
  'the process that claims last has the claim, and the one before it learns it within a heartbeat',
  async (t) => {
    const [store, clock] = [new MemoryDocuments(), virtualClock()]
    const [first, second] = [new Process(store, clock), new Process(store, clock)]
    const before = await first.claim()
    await pass(clock, 10_000)
    t.equal(before.lost.aborted, false)
    t.equal(before.held, false, 'each write is read back')
    const after = await second.claim()
    t.ok(after.token > before.token)
    await pass(clock, 2_000)
    t.equal(before.lost.aborted, true)
    await pass(clock, 60_000)
    t.equal(after.lost.aborted, false)
    second.die()
  }
)

t.test('of two processes that claim at once one has the claim, with a token of its own', async (t) => {
  const [store, clock] = [new MemoryDocuments(), virtualClock()]
  const processes = [new Process(store, clock), new Process(store, clock)]
  const claims = Promise.all(processes.map((each) => each.claim()))
  await pass(clock, 4_000)
  const tokens = (await claims).map(({ token }) => token)
  t.equal(new Set(tokens).size, 2)
  t.same(
    (await claims).filter(({ lost }) => !lost.aborted).map(({ token }) => token),
    [Math.max(...tokens)]
  )
  for (const each of processes) each.die()
})

t.test(
  'a process that stands by sees silence after ten missed heartbeats, and none while they come',
  async (t) => {
    const [store, clock] = [new MemoryDocuments(), virtualClock()]
    const [first, second] = [new Process(store, clock), new Process(store, clock)]
    const before = await first.claim()
    const watched = second.watch()
    await pass(clock, 120_000)
    t.equal(watched.isSilent, false)
    first.die()
    await pass(clock, 18_000)
    t.equal(watched.isSilent, false)
    await pass(clock, 6_000)
    t.equal(watched.isSilent, true)
    t.ok((await second.claim()).token > before.token)
    second.die()
  }
)

t.test('an outage of the store is no silence, and a claim outlives it', async (t) => {
  const [store, clock] = [new MemoryDocuments(), virtualClock()]
  const [first, second] = [new Process(store, clock), new Process(store, clock)]
  const before = await first.claim()
  const watched = second.watch()
  await pass(clock, 10_000)
  store.isAway = true
  await pass(clock, 60_000)
  store.isAway = false
  await pass(clock, 30_000)
  t.equal(watched.isSilent, false)
  t.equal(before.lost.aborted, false)
  first.die()
  second.die()
})

t.test('a claim during an outage waits for its end, or for that of the process', async (t) => {
  const [store, clock] = [new MemoryDocuments(), virtualClock()]
  const { own } = new Process(store, clock)
  store.isAway = true
  const [end, taken] = [new AbortController(), own.take(FOREVER)]
  const given = own.take(end.signal)
  await pass(clock, 5_000)
  end.abort()
  t.equal(await given, null)
  store.isAway = false
  await pass(clock, 1_000)
  t.ok((await taken)!.claim.token > 0)
})

t.test('tokens grow over restarts on an embedded store, and with the clock', async (t) => {
  const [directory, clock] = [t.testdir(), virtualClock()]
  const tokens: number[] = []
  const takeOnce = async (): Promise<void> => {
    const storage = await openEmbeddedStorage({ directory })
    const { claim } = (await new LeaselessClaim('webhooks', storage.documents, false, clock).take(FOREVER))!
    t.equal(claim.held, true, 'no other process can open the store')
    tokens.push(claim.token)
    await storage.close()
  }
  for (let restart = 0; restart < 3; restart++) await takeOnce()
  t.same(tokens, [1, 2, 3])
  clock.increment(1_000_000)
  await takeOnce()
  t.equal(tokens.at(-1), 1_000_000, 'above the tokens of leases that there were before')
})

t.test(
  'of two processes without Redis the later one delivers, and the other after it has died',
  async (t) => {
    const cluster = new FakeCluster(false)
    const { receiver, stream } = cluster.world
    await cluster.world.create({ channels: CHANNELS })
    const commit = async (slot: number): Promise<void> => {
      stream.commit(blockOf(slot, [0]))
      // An answer is written a second later.
      await cluster.pass(2_000)
    }
    const first = cluster.join()
    await cluster.settle()
    await commit(1)
    const second = cluster.join()
    await cluster.pass(2_500)
    t.same(cluster.shards, [0, 32])
    t.equal(first.warnings.length, 1)
    await commit(2)
    await second.die()
    await commit(3)
    t.same(
      receiver.received.map(({ token }) => token),
      [0, 1]
    )
    await cluster.pass(25_000)
    t.equal(first.shards, 32)
    t.same(
      receiver.received.map(({ token }) => token),
      [0, 1, 0]
    )
    const cursors = receiver.cursors
    t.equal(new Set(cursors).size, 3, 'each event once')
    await first.die()
    t.same(cluster.faults, [])
  }
)
