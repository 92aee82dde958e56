import t from 'tap'
import type { Lease } from '../../src/coordination.ts'
import { LEASE_MS, RedisLeases } from '../../storage/redis/leases.ts'
import { advance, settle, virtualClock, type VirtualClock } from '../virtual-time.ts'

/** A server whose answers a test makes, in a time that it moves. */
class ServerOfTime {
  readonly clock: VirtualClock = virtualClock()
  /** When each renewal was sent. */
  readonly renewals: number[] = []
  released = 0
  /** Whether renewals are answered. */
  renew: () => Promise<number> = async () => this.clock.now() + LEASE_MS
  readonly memoryKey = 'memory'

  get serverNowMs(): number {
    return this.clock.now()
  }

  key(...parts: readonly string[]): string {
    return parts.join(':')
  }

  define({ name }: { readonly name: string }): () => Promise<unknown> {
    if (name === 'millraceAcquire') return async () => [7, this.clock.now() + LEASE_MS]
    if (name === 'millraceRelease') return async () => this.released++
    return () => {
      this.renewals.push(this.clock.now())
      return this.renew()
    }
  }

  async lease(): Promise<Lease> {
    const { clock } = this
    const leases = new RedisLeases(this, { clock, monotonicMs: () => clock.now() })
    return (await leases.acquire('work'))!
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

t.test('a lease that cannot be renewed is lost a tenth before its end, after some attempts', async (t) => {
  for (const [how, renew] of [
    ['refused', () => Promise.reject(new Error('away'))],
    ['unanswered', () => new Promise<number>(() => undefined)]
  ] as const) {
    const server = new ServerOfTime()
    const lease = await server.lease()
    await advance(server.clock, LEASE_MS / 3)
    server.renew = renew
    const lastMs = server.renewals.at(-1)!
    await advance(server.clock, LEASE_MS * 0.9 - 1)
    t.ok(lease.held && !lease.lost.aborted, how)
    await advance(server.clock, 1)
    t.equal(server.clock.now(), lastMs + LEASE_MS * 0.9)
    t.ok(lease.lost.aborted && !lease.held, how)
    const attempts = server.renewals.length - 1
    t.ok(how === 'refused' ? attempts >= 5 && attempts <= 10 : attempts === 1, `${attempts} attempts, ${how}`)
    await advance(server.clock, LEASE_MS)
    t.equal(server.renewals.length - 1, attempts, 'what is lost is not renewed')
  }
})

t.test('the time of a lease counts from before its renewal was sent', async (t) => {
  const server = new ServerOfTime()
  const lease = await server.lease()
  const answer = Promise.withResolvers<number>()
  server.renew = () => answer.promise
  await advance(server.clock, LEASE_MS / 3 + 3_000)
  t.ok(lease.held)
  server.renew = () => Promise.reject(new Error('away'))
  answer.resolve(server.clock.now() + LEASE_MS)
  await advance(server.clock, LEASE_MS * 0.9 - 3_000 - 1)
  t.ok(lease.held)
  await advance(server.clock, 1)
  t.notOk(lease.held)
})

t.test('an answer that comes after the end gives nothing back', async (t) => {
  const server = new ServerOfTime()
  const lease = await server.lease()
  const answer = Promise.withResolvers<number>()
  server.renew = () => answer.promise
  await advance(server.clock, LEASE_MS)
  t.ok(lease.lost.aborted)
  answer.resolve(server.clock.now() + LEASE_MS)
  await settle()
  t.notOk(lease.held)
  await advance(server.clock, LEASE_MS)
  t.equal(server.renewals.length, 1)
})

t.test('a process that stood still has lost its lease before its timers run', async (t) => {
  const server = new ServerOfTime()
  let standsMs = 0
  const options = { clock: server.clock, monotonicMs: () => server.clock.now() + standsMs }
  const leases = new RedisLeases(server, options)
  const [looking, answered] = [(await leases.acquire('one'))!, (await leases.acquire('two'))!]
  const answer = Promise.withResolvers<number>()
  server.renew = () => answer.promise
  await advance(server.clock, LEASE_MS / 3)
  t.ok(looking.held && answered.held)
  // Past the end of the lease, and not past that of what the renewal under way would give.
  standsMs = 0.6 * LEASE_MS
  t.notOk(looking.lost.aborted, 'no timer has run')
  t.notOk(looking.held, 'a look at the clock tells it')
  t.ok(looking.lost.aborted, 'and all who listen')
  answer.resolve(server.clock.now() + LEASE_MS)
  await settle()
  t.ok(answered.lost.aborted, 'an answer that is read late gives nothing back')
})

t.test("a lease that the server says is another's is lost at once", async (t) => {
  const server = new ServerOfTime()
  const lease = await server.lease()
  server.renew = async () => 0
  await advance(server.clock, LEASE_MS / 3 - 1)
  t.ok(lease.held)
  await advance(server.clock, 1)
  t.notOk(lease.held)
  t.match(lease.lost.reason, /ended/)
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
