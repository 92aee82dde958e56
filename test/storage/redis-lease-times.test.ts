import t from 'tap'
import type { Lease } from '../../storage/cluster/coordination.ts'
import { LEASE_MS, RedisLeases } from '../../storage/redis/leases.ts'
import type { RunScript } from '../../storage/redis/script.ts'
import { advance, settle, virtualClock, type VirtualClock } from '../virtual-time.ts'

/** A server whose answers are made by a test, on virtual time. */
class ServerOfTime {
  readonly clock: VirtualClock = virtualClock()
  /** Time of each request to renew leases. */
  readonly renewals: number[] = []
  /** Number of leases of each such request. */
  readonly sizes: number[] = []
  released = 0
  /** Answers the renewal of a lease. */
  renew: (owner: string) => Promise<number> = async () => 1
  readonly memoryKey = 'memory'

  get serverNowMs(): number {
    return this.clock.now()
  }

  key(...parts: readonly string[]): string {
    return parts.join(':')
  }

  define({ name }: { readonly name: string }): RunScript {
    if (name === 'millraceAcquire') return async () => 7
    if (name === 'millraceRelease') return async () => this.released++
    return (keys, args) => {
      this.renewals.push(this.clock.now())
      this.sizes.push(keys.length / 2)
      const owners = args.slice(2).filter((_, at) => at % 2 === 0)
      return Promise.all(owners.map((owner) => this.renew(String(owner))))
    }
  }

  leases(): RedisLeases {
    const { clock } = this
    return new RedisLeases(this, { clock, monotonicMs: () => clock.now() })
  }

  async lease(): Promise<Lease> {
    return (await this.leases().acquire('work'))!
  }
}

t.test('a lease is renewed at a third of its length, for as long as it is held', async (t) => {
  const server = new ServerOfTime()
  const lease = await server.lease()
  await advance(server.clock, 3 * LEASE_MS)
  t.ok(lease.held)
  t.strictSame(
    server.renewals,
    Array.from({ length: 9 }, (_, i) => ((i + 1) * LEASE_MS) / 3)
  )
  await lease.release()
  await advance(server.clock, LEASE_MS)
  t.equal(server.renewals.length, 9)
  t.equal(server.released, 1)
})

t.test(
  'a lease that cannot be renewed is held until a tenth before its end, and again once it is renewed',
  async (t) => {
    const server = new ServerOfTime()
    const lease = await server.lease()
    await advance(server.clock, LEASE_MS / 3)
    const { renew } = server
    server.renew = () => Promise.reject(new Error('away'))
    const lastMs = server.renewals.at(-1)!
    await advance(server.clock, LEASE_MS * 0.9 - 1)
    t.ok(lease.held)
    await advance(server.clock, 1)
    t.equal(server.clock.now(), lastMs + LEASE_MS * 0.9)
    t.notOk(lease.held)
    await advance(server.clock, 10 * LEASE_MS)
    t.notOk(lease.lost.aborted, 'nobody says that it is another process that has it')
    const attempts = server.renewals.length - 1
    t.ok(attempts > 100 && attempts < 140, `${attempts} attempts, each a twelfth of a lease after the last`)
    for (const late of [async () => -1, renew]) {
      server.renew = late
      t.notOk(lease.held)
      await advance(server.clock, LEASE_MS / 12)
    }
    t.ok(lease.held, 'a renewal that the server has read in time gives it back')
    await advance(server.clock, 3 * LEASE_MS)
    t.ok(lease.held)
    await lease.release()
  }
)

t.test('the time of a lease counts from before its renewal was sent', async (t) => {
  const server = new ServerOfTime()
  const lease = await server.lease()
  const answer = Promise.withResolvers<number>()
  server.renew = () => answer.promise
  await advance(server.clock, LEASE_MS / 3 + LEASE_MS / 2)
  t.ok(lease.held)
  server.renew = () => Promise.reject(new Error('away'))
  answer.resolve(1)
  await advance(server.clock, LEASE_MS * 0.9 - LEASE_MS / 2 - 1)
  t.ok(lease.held)
  await advance(server.clock, 1)
  t.notOk(lease.held)
})

t.test('an answer that comes after the end of what it gives does not make a lease held', async (t) => {
  const server = new ServerOfTime()
  const lease = await server.lease()
  const answer = Promise.withResolvers<number>()
  server.renew = () => answer.promise
  await advance(server.clock, 2 * LEASE_MS)
  t.notOk(lease.held)
  answer.resolve(1)
  await settle()
  t.notOk(lease.held)
  t.equal(server.renewals.length, 1)
  await advance(server.clock, LEASE_MS / 3)
  t.ok(lease.held, 'the next renewal does')
  await lease.release()
})

t.test('a lease that was released is not held again, whatever is answered later', async (t) => {
  const server = new ServerOfTime()
  const lease = await server.lease()
  const answer = Promise.withResolvers<number>()
  server.renew = () => answer.promise
  await advance(server.clock, LEASE_MS / 3)
  await lease.release()
  answer.resolve(1)
  await settle()
  t.notOk(lease.held)
  await advance(server.clock, LEASE_MS)
  t.equal(server.renewals.length, 1)
})

t.test('a process that stood still knows that its lease may be over before its timers run', async (t) => {
  const server = new ServerOfTime()
  let standsMs = 0
  const options = { clock: server.clock, monotonicMs: () => server.clock.now() + standsMs }
  const lease = (await new RedisLeases(server, options).acquire('one'))!
  await advance(server.clock, LEASE_MS / 3)
  t.ok(lease.held)
  standsMs = LEASE_MS
  t.notOk(lease.held, 'a look at the clock tells it')
  await advance(server.clock, LEASE_MS / 3)
  t.ok(lease.held, 'until the server has renewed it')
  await lease.release()
})

t.test("a lease that the server says is another's is lost at once", async (t) => {
  const server = new ServerOfTime()
  const lease = await server.lease()
  server.renew = async () => 0
  await advance(server.clock, LEASE_MS / 3 - 1)
  t.ok(lease.held)
  await advance(server.clock, 1)
  t.notOk(lease.held)
  t.match(lease.lost.reason, /another process/)
})

t.test('a lease whose grant took too long to arrive is none, and is given back', async (t) => {
  const server = new ServerOfTime()
  const times = [0, LEASE_MS]
  const leases = new RedisLeases(server, {
    clock: server.clock,
    monotonicMs: () => times.shift() ?? LEASE_MS
  })
  t.equal(await leases.acquire('work'), null)
  t.equal(server.released, 1)
})

t.test(
  'leases that were granted at different times are soon renewed by one request, each at most a pause after the last',
  async (t) => {
    const server = new ServerOfTime()
    const leases = server.leases()
    const held: Lease[] = []
    for (let n = 0; n < 8; n++) {
      held.push((await leases.acquire(`work ${n}`))!)
      await advance(server.clock, LEASE_MS / 24)
    }
    await advance(server.clock, LEASE_MS)
    const requests = server.renewals.length
    await advance(server.clock, 3 * LEASE_MS)
    t.equal(server.renewals.length - requests, 9, 'one request for each third of the length')
    t.ok(server.sizes.slice(requests).every((size) => size === 8))
    t.ok(held.every((lease) => lease.held))
    for (const lease of held.slice(1)) await lease.release()
    await advance(server.clock, LEASE_MS)
    t.equal(server.sizes.at(-1), 1, 'a released lease is renewed no more')
    t.ok(held[0]!.held)
  }
)

t.test('of leases that are renewed by one request, one that is refused is lost alone', async (t) => {
  const server = new ServerOfTime()
  const leases = server.leases()
  const held = (await Promise.all(['a', 'b', 'c'].map((name) => leases.acquire(name)))) as Lease[]
  const owners: string[] = []
  server.renew = async (owner) => (owners.push(owner) === 2 ? 0 : 1)
  await advance(server.clock, LEASE_MS / 3)
  t.same(server.sizes, [3])
  t.same(
    held.map((lease) => [lease.held, lease.lost.aborted]),
    [
      [true, false],
      [false, true],
      [true, false]
    ]
  )
  server.renew = async (owner) => (owner === owners[0] ? 1 : -1)
  await advance(server.clock, LEASE_MS)
  t.same(
    held.map((lease) => lease.held),
    [true, false, false],
    'one whose renewals come late is not held either'
  )
  t.notOk(held[2]!.lost.aborted)
  t.equal(new Set(server.sizes.slice(1)).size, 2, 'it is tried again before the other is due')
})

t.test('more leases than a script may have are renewed by several requests', async (t) => {
  const server = new ServerOfTime()
  const leases = server.leases()
  const held = await Promise.all(Array.from({ length: 250 }, (_, n) => leases.acquire(`work ${n}`)))
  await advance(server.clock, LEASE_MS)
  t.ok(held.every((lease) => lease?.held))
  t.same(server.sizes.slice(0, 3), [100, 100, 50])
})
