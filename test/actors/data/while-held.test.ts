import t from 'tap'
import { whileHeld } from '../../../actors/data/while-held.ts'
import type { Run } from '../../../actors/supervision/process.ts'
import { aborted } from '../supervision/recorder.ts'
import { settle } from '../../virtual-time.ts'

/** A place that the test decides, with a process that runs while it is held. */
function world(isHeld: boolean | null) {
  const listeners = new Set<() => void>()
  const place = {
    isHeld,
    onChange: (listener: () => void) => (listeners.add(listener), () => void listeners.delete(listener))
  }
  const seen: string[] = []
  const draining = new AbortController()
  const inner: Run<object> = async (scope) => {
    seen.push('begins')
    scope.ready()
    await aborted(scope.draining)
    seen.push('ends')
  }
  const ended = whileHeld(place, inner, () => seen.push('drops'))({
    input: {},
    draining: draining.signal,
    signal: draining.signal,
    ready: () => seen.push('ready'),
    gauge: () => undefined,
    supervises: () => undefined,
    show: () => undefined,
    report: () => undefined
  })
  const decide = async (held: boolean): Promise<void> => {
    place.isHeld = held
    for (const listener of [...listeners]) listener()
    await settle()
  }
  return { seen, decide, ended, drain: () => draining.abort(), listeners }
}

t.test('a process runs only while it is held, and what it held is freed after it has ended', async (t) => {
  const { seen, decide, ended, drain, listeners } = world(null)
  await settle()
  t.strictSame(seen.splice(0), ['ready'])
  await decide(false)
  t.strictSame(seen.splice(0), [])
  await decide(true)
  t.strictSame(seen.splice(0), ['begins'])
  await decide(false)
  t.strictSame(seen.splice(0), ['ends', 'drops'])
  await decide(true)
  await settle()
  seen.splice(0)
  drain()
  await ended
  t.strictSame(seen, ['ends'], 'a drain drops nothing')
  t.equal(listeners.size, 0)
})

t.test('a held process says itself when it is ready, once', async (t) => {
  const { seen, decide, ended, drain } = world(true)
  await settle()
  t.strictSame(seen, ['begins', 'ready'])
  await decide(false)
  await decide(true)
  t.equal(seen.filter((each) => each === 'ready').length, 1)
  drain()
  await ended
})
