import t from 'tap'
import { watchOutages } from '../../../actors/storage/outage-watch.ts'
import type { Outage, Storage } from '../../../storage/port.ts'
import { advance, virtualClock } from '../../virtual-time.ts'

t.test('the store is probed once a second, and during an outage four times a second', async (t) => {
  const clock = virtualClock()
  const end = new AbortController()
  const lines: string[] = []
  const seconds: number[] = []
  let outage: Outage | null = null
  let probes = 0
  const storage = {
    waitingReads: 0,
    get outage() {
      return outage
    },
    blocks: {
      head: async () => {
        probes++
        return null
      }
    }
  } as unknown as Storage
  const say = (line: string): void => void lines.push(line)
  const metrics = {
    waitingReads: { set: () => undefined },
    outageSeconds: { set: (value: number) => void seconds.push(value) }
  }
  const deps = { clock, logger: { error: say, info: say }, metrics } as never
  const watching = watchOutages(storage, deps, end.signal)
  const probesIn = async (ms: number): Promise<number> => {
    const before = probes
    await advance(clock, ms)
    return probes - before
  }
  t.equal(probes, 1)
  t.equal(await probesIn(10_000), 10)
  outage = { sinceMs: clock.now(), detail: 'too few replicas are up' }
  t.equal(await probesIn(10_000), 40)
  t.equal(seconds.at(-1), 10)
  outage = null
  await probesIn(1_000)
  t.equal(await probesIn(10_000), 10)
  t.match(lines, [/does not answer: too few replicas are up/, /is back after 10\.\d s/])
  end.abort()
  await watching
})
