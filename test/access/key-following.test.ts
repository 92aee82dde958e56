import t, { type Test } from 'tap'
import { KeyDirectory } from '../../src/access/key-directory.ts'
import {
  followKeys,
  NOTIFIED_POLL_INTERVAL_MS,
  POLL_INTERVAL_MAX_MS,
  POLL_INTERVAL_MS,
  type KeyHints
} from '../../src/access/key-following.ts'
import { advance, settle, virtualClock, type VirtualClock } from '../virtual-time.ts'
import { MemoryAccess } from './memory-access.ts'

/** Hints that the test sends. */
class TestHints implements KeyHints {
  available = true
  readonly followers = new Set<() => void>()

  subscribe(heard: () => void): () => void {
    this.followers.add(heard)
    return () => void this.followers.delete(heard)
  }

  hint(): void {
    for (const follower of this.followers) follower()
  }
}

interface Watched {
  readonly clock: VirtualClock
  /** Start time of each poll of the store, in order. */
  readonly looks: number[]
  readonly faults: string[]
  /** Runs in place of a poll of the store. */
  look: () => Promise<void>
  end(): Promise<void>
}

async function follow(t: Test, hints: KeyHints | null): Promise<Watched> {
  const clock = virtualClock()
  const end = new AbortController()
  const looks: number[] = []
  const faults: string[] = []
  const watched: Watched = {
    clock,
    looks,
    faults,
    look: async () => undefined,
    end: async () => {
      end.abort()
      await done
    }
  }
  const directory = {
    reload: () => {
      looks.push(clock.now())
      return watched.look()
    }
  }
  const done = followKeys(directory, {
    clock,
    hints,
    signal: end.signal,
    report: (error) => faults.push(error.message)
  })
  t.teardown(() => watched.end())
  await settle()
  return watched
}

t.test('without hints the store is polled within a second', async (t) => {
  const lost = new TestHints()
  lost.available = false
  for (const hints of [null, lost]) {
    const { clock, looks } = await follow(t, hints)
    await advance(clock, 10 * POLL_INTERVAL_MS)
    t.strictSame(
      looks,
      Array.from({ length: 11 }, (_, i) => i * POLL_INTERVAL_MS)
    )
  }
  t.ok(POLL_INTERVAL_MS < 1_000)
})

t.test('a hint causes a poll at once, and many hints no more polls than the limit', async (t) => {
  const hints = new TestHints()
  const { clock, looks } = await follow(t, hints)
  await advance(clock, 100)
  hints.hint()
  await settle()
  t.strictSame(looks, [0, 100])
  await advance(clock, 10)
  hints.hint()
  await settle()
  t.strictSame(looks, [0, 100], 'the second one waits')
  await advance(clock, POLL_INTERVAL_MS - 10)
  t.strictSame(looks, [0, 100, 100 + POLL_INTERVAL_MS])
  const before = looks.length
  for (let ms = 0; ms < 10 * POLL_INTERVAL_MS; ms++) {
    hints.hint()
    await advance(clock, 1)
  }
  t.equal(looks.length - before, 10)
})

t.test('a hint during a poll causes another poll', async (t) => {
  const hints = new TestHints()
  const watched = await follow(t, hints)
  const { clock, looks } = watched
  const read = Promise.withResolvers<void>()
  watched.look = () => read.promise
  await advance(clock, NOTIFIED_POLL_INTERVAL_MS)
  hints.hint()
  await advance(clock, 20)
  t.equal(looks.length, 2, 'one look at a time')
  read.resolve()
  await advance(clock, 1)
  t.equal(looks.length, 3)
})

t.test(
  'with hints a large directory is polled for a small share of the time, and at once after a loss of hints',
  async (t) => {
    const hints = new TestHints()
    const watched = await follow(t, hints)
    const { clock, looks } = watched
    const rests = async (tookMs: number): Promise<number[]> => {
      watched.look = async () => void clock.increment(tookMs)
      const from = looks.length
      await advance(clock, 3 * (POLL_INTERVAL_MAX_MS + tookMs))
      return looks.slice(from + 1).map((at, i) => at - looks[from + i]! - tookMs)
    }
    for (const rest of await rests(0)) t.equal(rest, NOTIFIED_POLL_INTERVAL_MS)
    for (const rest of await rests(400)) t.equal(rest, 8_000)
    for (const rest of await rests(3_000)) t.equal(rest, POLL_INTERVAL_MAX_MS)
    watched.look = async () => undefined
    await advance(clock, POLL_INTERVAL_MAX_MS)
    watched.look = async () => void clock.increment(3_000)
    await advance(clock, NOTIFIED_POLL_INTERVAL_MS + 100)
    const before = looks.length
    hints.available = false
    hints.hint()
    await settle()
    t.equal(looks.length, before + 1)
    await advance(clock, 3 * POLL_INTERVAL_MS)
    t.equal(looks.length, before + 3, 'and from then on by time')
  }
)

t.test('a fault of the store is reported once, and polling continues', async (t) => {
  const watched = await follow(t, null)
  const { clock, faults, looks } = watched
  for (let round = 1; round <= 2; round++) {
    watched.look = () => Promise.reject(new Error(`fault ${round}`))
    await advance(clock, 3 * POLL_INTERVAL_MS)
    watched.look = async () => undefined
    await advance(clock, POLL_INTERVAL_MS)
  }
  t.strictSame(faults, ['fault 1', 'fault 2'])
  t.equal(looks.length, 9)
})

t.test('a closed follower ends at once in any state, and polls no more', async (t) => {
  const hints = new TestHints()
  const resting = await follow(t, hints)
  await advance(resting.clock, 10)
  await resting.end()
  const throttled = await follow(t, hints)
  hints.hint()
  await settle()
  await throttled.end()
  t.equal(hints.followers.size, 0)
  const looks = throttled.looks.length
  hints.hint()
  await advance(throttled.clock, 2 * POLL_INTERVAL_MS)
  t.equal(throttled.looks.length, looks)
})

t.test('a key that another process revoked stops within a second of virtual time', async (t) => {
  const access = new MemoryAccess()
  const one = await KeyDirectory.load(access, 600, { publish: () => undefined })
  await one.createTenant('acme', 1)
  const attributes = { tenant: 'acme', name: '', scopes: [], ratePerMinute: null, expiresAtMs: null }
  const { key, row } = await one.issue({ ...attributes, allowedIps: [], corsOrigins: [] }, 2)
  const two = await KeyDirectory.load(access, 600, { publish: () => undefined })
  const clock = virtualClock()
  const end = new AbortController()
  const done = followKeys(two, {
    clock,
    hints: null,
    signal: end.signal,
    report: (error) => t.fail(error.message)
  })
  await advance(clock, 1)
  await one.revoke(row.id, 3)
  t.equal(two.find(key)?.row.revokedAtMs, null)
  await advance(clock, POLL_INTERVAL_MS)
  t.equal(two.find(key)?.row.revokedAtMs, 3)
  end.abort()
  await done
})
