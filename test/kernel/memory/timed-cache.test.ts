import fc from 'fast-check'
import t from 'tap'
import { TimedCache, type Timed } from '../../../src/kernel/memory/timed-cache.ts'
import { randomRuns } from '../../random-runs.ts'
import { settle, virtualClock } from '../../virtual-time.ts'

const KEYS = ['a', 'b', 'c']
const key = fc.constantFrom(...KEYS)
/** Milliseconds from now to the end of a value; null for a value without an end. */
const lifetime = fc.option(fc.integer({ min: -1, max: 5 }))
const step = fc.oneof(
  fc.record({ kind: fc.constant('set' as const), key, lifetime }),
  fc.record({ kind: fc.constant('load' as const), key }),
  fc.record({ kind: fc.constant('settle' as const), key, lifetime, isFailed: fc.boolean() }),
  fc.record({ kind: fc.constant('delete' as const), key }),
  fc.record({ kind: fc.constant('clear' as const) }),
  fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 4 }) })
)

/** A value, or null: an absent value is cached too. */
const valueAt = (n: number): number | null => (n % 5 === 0 ? null : n)

t.test('a cache answers as a map of values with ends, and loads a key once at a time', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const clock = virtualClock()
      const cache = new TimedCache<number | null>(clock, { entriesMax: KEYS.length })
      const model = new Map<string, { readonly value: number | null; readonly endsAtMs: number }>()
      const loads = new Map<string, PromiseWithResolvers<Timed<number | null>>>()
      const outcomes: string[] = []
      const expected: string[] = []
      const callers = new Map<string, number[]>()
      const endOf = (ms: number | null): Pick<Timed<null>, 'endsAtMs'> =>
        ms === null ? {} : { endsAtMs: clock.now() + ms }
      const put = (name: string, value: number | null, ms: number | null): void => {
        const { endsAtMs = Infinity } = endOf(ms)
        if (endsAtMs > clock.now()) model.set(name, { value, endsAtMs })
      }
      const validAt = (name: string): number | null | undefined => {
        const cached = model.get(name)
        return cached !== undefined && cached.endsAtMs > clock.now() ? cached.value : undefined
      }
      for (const [n, at] of steps.entries()) {
        if (at.kind === 'set') {
          cache.set(at.key, { value: valueAt(n), ...endOf(at.lifetime) })
          put(at.key, valueAt(n), at.lifetime)
        } else if (at.kind === 'load') {
          const valid = validAt(at.key)
          const isRunning = loads.has(at.key)
          let isStarted = false
          cache
            .load(at.key, () => {
              isStarted = true
              loads.set(at.key, Promise.withResolvers())
              return loads.get(at.key)!.promise
            })
            .then(
              (value) => outcomes.push(`${n} ${value}`),
              (error: Error) => outcomes.push(`${n} ${error.message}`)
            )
          if (isStarted !== (valid === undefined && !isRunning)) return false
          if (valid !== undefined) expected.push(`${n} ${valid}`)
          else callers.set(at.key, [...(callers.get(at.key) ?? []), n])
        } else if (at.kind === 'settle') {
          const load = loads.get(at.key)
          if (load === undefined) continue
          loads.delete(at.key)
          if (at.isFailed) load.reject(new Error(`failed ${n}`))
          else {
            load.resolve({ value: valueAt(n), ...endOf(at.lifetime) })
            put(at.key, valueAt(n), at.lifetime)
          }
          for (const caller of callers.get(at.key) ?? [])
            expected.push(`${caller} ${at.isFailed ? `failed ${n}` : valueAt(n)}`)
          callers.delete(at.key)
        } else if (at.kind === 'delete') {
          cache.delete(at.key)
          model.delete(at.key)
        } else if (at.kind === 'clear') {
          cache.clear()
          model.clear()
        } else clock.increment(at.ms)
        await settle()
        if (cache.size !== model.size || cache.inFlight !== loads.size) return false
        if (!KEYS.every((name) => cache.get(name) === validAt(name))) return false
        if (!KEYS.every((name) => cache.atAnyAge(name) === model.get(name)?.value)) return false
        if (!KEYS.every((name) => (cache.loading(name) !== undefined) === loads.has(name))) return false
      }
      return outcomes.toSorted().join() === expected.toSorted().join()
    }),
    randomRuns(100, 5)
  )
})

t.test('entries and bytes stay within the limit', async () => {
  const limited = fc.record({ key: fc.nat(20).map(String), bytes: fc.nat(900) })
  fc.assert(
    fc.property(fc.array(limited, { maxLength: 60 }), (sets) => {
      const byEntries = new TimedCache<number>(virtualClock(), { entriesMax: 4 })
      const byBytes = new TimedCache<number>(virtualClock(), { bytesMax: 2_000 })
      const newest = new Map<string, number>()
      return sets.every((each, n) => {
        byEntries.set(each.key, { value: n })
        byBytes.set(each.key, { value: n, bytes: each.bytes })
        newest.set(each.key, n)
        return (
          byEntries.size <= 4 &&
          byBytes.bytes <= 2_000 &&
          [byEntries, byBytes].every((cache) =>
            Array.from(cache.keys()).every((name) => cache.atAnyAge(name) === newest.get(name))
          )
        )
      })
    }),
    randomRuns(100, 5)
  )
})

t.test('the end of all loads is awaited, whatever their outcome', async (t) => {
  const cache = new TimedCache<number>(virtualClock(), { entriesMax: 2 })
  const first = Promise.withResolvers<Timed<number>>()
  const second = Promise.withResolvers<Timed<number>>()
  const failed = t.rejects(
    cache.load('a', () => first.promise),
    { message: 'no' }
  )
  const loaded = cache.load('b', () => second.promise)
  let isOver = false
  const over = cache.loaded().then(() => (isOver = true))
  first.reject(new Error('no'))
  await failed
  await settle()
  t.equal(isOver, false)
  second.resolve({ value: 1 })
  await over
  t.equal(await loaded, 1)
})
