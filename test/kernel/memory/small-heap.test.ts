import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { keepYoungHeapSmall, slowHeapGrowth } from '../../../src/kernel/memory/small-heap.ts'

const module = new URL('../../../src/kernel/memory/small-heap.ts', import.meta.url).href

/** Keeps about 50 MB of small objects alive, replaces them ten times, and writes the largest heap that there was, in MB. */
const CHURN = `
  const live = []
  let heap = 0
  for (let at = 0; at < 6_000_000; at++) {
    live[at % 600_000] = { at, list: [at] }
    if (at % 10_000 === 0) heap = Math.max(heap, process.memoryUsage().heapUsed)
  }
  console.log(heap / 2 ** 20)`

async function largestHeapMb(start: string): Promise<number> {
  const script = `import { keepYoungHeapSmall, slowHeapGrowth } from '${module}'; ${start}; ${CHURN}`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
  return Number(stdout)
}

t.test('a process whose heap is kept small has a smaller heap for the same work', async (t) => {
  const usual = await largestHeapMb('')
  const small = await largestHeapMb('keepYoungHeapSmall(); slowHeapGrowth(true)')
  t.ok(small < 0.85 * usual, `${small.toFixed(0)} MB instead of ${usual.toFixed(0)}`)
  const between = await largestHeapMb('slowHeapGrowth(false)')
  t.ok(small < between && between < usual, `${between.toFixed(0)} MB where memory is not tight`)
})

t.test("the operator's own flags of Node stay in force", async (t) => {
  t.equal(slowHeapGrowth(true, ['--heap-growing-percent=200']), false)
  t.equal(slowHeapGrowth(true, ['--heap_growing_percent=200']), false)
  for (const flag of ['--max-semi-space-size=32', '--min_semi_space_size=1', '--semi-space-growth-factor=3'])
    t.equal(keepYoungHeapSmall([flag]), false)
})
