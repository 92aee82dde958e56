import t from 'tap'
import { retention } from '../../../actors/storage/retention.ts'
import type { Storage } from '../../../storage/port.ts'
import { sleep } from '../../../src/ports.ts'
import { advance, virtualClock } from '../../virtual-time.ts'

/**
 * Runs the process on a sweeper whose steps take the given milliseconds and which then rests. Returns the start of each step.
 */
async function stepsOf(lengthsMs: readonly number[], runMs: number, damage: readonly string[] = []) {
  const clock = virtualClock()
  const draining = new AbortController()
  const begins: number[] = []
  const step = async (): Promise<boolean> => {
    const lengthMs = lengthsMs[begins.length]
    begins.push(clock.now())
    if (lengthMs === undefined) return false
    await sleep(clock, lengthMs, draining.signal)
    return true
  }
  const storage = { sweeper: { step }, damage } as unknown as Storage
  const running = retention({ clock })({
    input: { storage },
    draining: draining.signal,
    signal: draining.signal,
    ready: () => undefined,
    gauge: () => undefined,
    supervises: () => undefined,
    show: () => undefined,
    report: () => undefined
  })
  await advance(clock, runMs)
  draining.abort()
  await running
  return begins
}

t.test('short steps follow each other after 25 ms, a long one after four times its length', async (t) => {
  t.strictSame(await stepsOf([2, 2, 300, 2], 2_000), [25, 52, 79, 1_579, 1_606])
})

t.test('a step that takes minutes is followed by the next one after 10 s', async (t) => {
  t.strictSame(await stepsOf([12_000], 25_000), [25, 22_025])
})

t.test('a sweep with nothing to do looks again after 30 s, and not at all on a damaged store', async (t) => {
  t.strictSame(await stepsOf([], 31_000), [25, 30_025])
  t.strictSame(await stepsOf([2], 31_000, ['a damaged block']), [])
})
