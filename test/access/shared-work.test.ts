import t from 'tap'
import { PROCESSES_ASSUMED, REPORT_MS, SharedWork } from '../../src/access/shared-work.ts'
import { advance, settle, virtualClock } from '../virtual-time.ts'
import { MemoryCounts } from './memory-counts.ts'

function start() {
  const clock = virtualClock()
  const counts = new MemoryCounts(clock)
  const process = () => new SharedWork(counts, { clock, namesMax: 10 })
  /** Lets every process report. */
  const report = async (): Promise<void> => {
    await advance(clock, REPORT_MS)
    await settle()
  }
  return { clock, counts, process, report }
}

t.test(
  'two processes share a budget: each counts at once, and learns of the other by its report',
  async (t) => {
    const { clock, process, report } = start()
    const [one, two] = [process(), process()]
    const left = (of: SharedWork) => of.look('key', 100, clock.now()).left
    one.charge('key', 100, 30, clock.now())
    t.strictSame([left(one), left(two)], [70, 100])
    two.charge('key', 100, 50, clock.now())
    await report()
    one.charge('key', 100, 5, clock.now())
    t.equal(left(one), 65, 'what it did since its report counts at once')
    await report()
    t.equal(left(one), 15, 'so does the work of the other, from its next report on')
    two.charge('key', 100, 20, clock.now())
    await report()
    t.equal(two.look('key', 100, clock.now()).allowed, false)
    one.charge('key', 100, 0, clock.now())
    await report()
    t.equal(one.look('key', 100, clock.now()).allowed, false)
  }
)

t.test('without the shared counter each process has its share, and its work is reported later', async (t) => {
  const { clock, counts, process, report } = start()
  const [one, two] = [process(), process()]
  counts.available = false
  counts.processes = null
  t.equal(one.look('key', 100, clock.now()).left, 100 / PROCESSES_ASSUMED)
  counts.processes = 2
  one.charge('key', 100, 60, clock.now())
  t.equal(one.look('key', 100, clock.now()).allowed, false)
  t.equal(two.look('key', 100, clock.now()).left, 50)
  await report()
  counts.available = true
  one.charge('key', 100, 1, clock.now())
  await report()
  two.charge('key', 100, 9, clock.now())
  await report()
  t.equal(two.look('key', 100, clock.now()).left, 30)
})

t.test('a counter that lost its data starts from what each process has reported', async (t) => {
  const { clock, counts, process, report } = start()
  const one = process()
  one.charge('key', 100, 40, clock.now())
  await report()
  counts.forget()
  one.charge('key', 100, 10, clock.now())
  await report()
  t.equal(one.look('key', 100, clock.now()).left, 50)
})

t.test('a debt is shared too', async (t) => {
  const { clock, process, report } = start()
  const [one, two] = [process(), process()]
  one.charge('key', 100, 250, clock.now())
  await report()
  await advance(clock, 60_000)
  two.charge('key', 100, 1, clock.now())
  await report()
  t.equal(two.look('key', 100, clock.now()).allowed, false)
})
