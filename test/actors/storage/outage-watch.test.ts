import t from 'tap'
import { watchOutages } from '../../../actors/storage/outage-watch.ts'
import type { Outage, Storage } from '../../../storage/port.ts'
import { advance, virtualClock } from '../../virtual-time.ts'

t.test(
  'the store is probed once a second, during an outage four times, and not while reads are answered',
  async (t) => {
    const clock = virtualClock()
    const end = new AbortController()
    const lines: string[] = []
    const seconds: number[] = []
    let outage: Outage | null = null
    let answeredAtMs: number | null = null
    let probes = 0
    const storage = {
      waitingReads: 0,
      get outage() {
        return outage
      },
      get answeredAtMs() {
        return answeredAtMs
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
    await probesIn(1_000)
    t.equal(await probesIn(9_000), 36)
    t.equal(seconds.at(-1), 10)
    outage = null
    await probesIn(1_000)
    t.equal(await probesIn(10_000), 10)
    t.match(lines, [/does not answer: too few replicas are up/, /is back after 10\.\d s/])
    const before = probes
    for (let turn = 0; turn < 10; turn++) {
      answeredAtMs = clock.now()
      await probesIn(1_000)
    }
    t.equal(probes, before, 'a read that is answered shows as much')
    outage = { sinceMs: clock.now(), detail: 'the next read has failed' }
    await probesIn(1_000)
    t.ok((await probesIn(1_000)) >= 4, 'and less once another one has failed')
    end.abort()
    await watching
  }
)
