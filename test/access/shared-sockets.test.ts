import t from 'tap'
import { SharedSockets, type SharedSocketCounts } from '../../src/access/shared-sockets.ts'
import { settle, virtualClock } from '../virtual-time.ts'

/** A counter of places that processes share; it can be unreachable, and can lose its counts. */
class FakeCounts {
  readonly counts = new Map<string, number>()
  readonly #listeners = new Set<(available: boolean) => void>()
  available = true

  turn(available: boolean): void {
    this.available = available
    for (const listener of this.#listeners) listener(available)
  }

  of(process: string): SharedSocketCounts {
    const { counts } = this
    const isAvailable = (): boolean => this.available
    const keyOf = (keyId: string): string => `${keyId} ${process}`
    const all = (keyId: string): number =>
      [...counts].reduce((sum, [key, count]) => (key.startsWith(`${keyId} `) ? sum + count : sum), 0)
    const change = (keyId: string, by: number): void =>
      void counts.set(keyOf(keyId), (counts.get(keyOf(keyId)) ?? 0) + by)
    return {
      get available() {
        return isAvailable()
      },
      onChange: (listener) => {
        this.#listeners.add(listener)
        return () => void this.#listeners.delete(listener)
      },
      async take(keyId, max) {
        if (!isAvailable()) throw new Error('unreachable')
        if (all(keyId) >= max) return false
        change(keyId, 1)
        return true
      },
      async release(keyId) {
        if (isAvailable()) change(keyId, -1)
      },
      async restore(own) {
        for (const [keyId, count] of own) counts.set(keyOf(keyId), count)
      }
    }
  }
}

const takenBy = async (sockets: SharedSockets, times: number): Promise<number> => {
  let taken = 0
  for (let at = 0; at < times; at++) if (await sockets.take('key')) taken++
  return taken
}

t.test('a key has twenty places over all processes, and each refuses the next one', async (t) => {
  const counts = new FakeCounts()
  const clock = virtualClock()
  const [a, b] = ['a', 'b'].map(
    (name) => new SharedSockets({ clock, counts: counts.of(name), gateways: () => 2 })
  ) as [SharedSockets, SharedSockets]
  t.same([await takenBy(a, 15), await takenBy(b, 15)], [15, 5])
  t.same([await a.take('key'), await b.take('key')], [false, false])
  b.release('key')
  await settle()
  t.same([await a.take('key'), await b.take('key')], [true, false])
})

t.test('without a counter each process has its share, at least one place', async (t) => {
  const clock = virtualClock()
  let gateways = 3
  const sockets = new SharedSockets({ clock, counts: null, gateways: () => gateways })
  t.equal(await takenBy(sockets, 30), 6)
  gateways = 50
  const other = new SharedSockets({ clock, counts: null, gateways: () => gateways })
  t.equal(await takenBy(other, 30), 1)
  other.release('key')
  t.equal(await takenBy(other, 30), 1)
})

t.test(
  'sockets that were opened in an outage, or that the counter has lost, count once it is back',
  async (t) => {
    const counts = new FakeCounts()
    const clock = virtualClock()
    const [a, b] = ['a', 'b'].map(
      (name) => new SharedSockets({ clock, counts: counts.of(name), gateways: () => 2 })
    ) as [SharedSockets, SharedSockets]
    t.equal(await takenBy(a, 6), 6)
    counts.turn(false)
    t.equal(await takenBy(a, 30), 4, 'up to its share')
    counts.counts.clear()
    counts.turn(true)
    await settle()
    t.equal(await takenBy(b, 30), 10)
    a.close()
    b.close()
  }
)
