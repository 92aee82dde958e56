import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { keepYoungHeapSmall, slowHeapGrowth } from '../../src/memory/small-heap.ts'

const module = new URL('../../src/memory/small-heap.ts', import.meta.url).href

/** Keeps some 50 MB of small objects alive, replaces them ten times, and writes the largest sizes that there were, in MB. */
const CHURN = `
  import { getHeapSpaceStatistics } from 'node:v8'
  const live = []
  let heap = 0
  let young = 0
  for (let at = 0; at < 6_000_000; at++) {
    live[at % 600_000] = { at, list: [at] }
    if (at % 10_000 !== 0) continue
    heap = Math.max(heap, process.memoryUsage().heapUsed)
    young = Math.max(young, getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size)
  }
  console.log(JSON.stringify({ heap: heap / 2 ** 20, young: young / 2 ** 20 }))`

async function sizesOf(start: string, nodeFlags: readonly string[] = []) {
  const script = `import { keepYoungHeapSmall, slowHeapGrowth } from '${module}'; ${start}; ${CHURN}`
  const args = [...nodeFlags, '--input-type=module', '-e', script]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return JSON.parse(stdout) as { heap: number; young: number }
}

t.test('a process whose heap is kept small has a smaller heap for the same work', async (t) => {
  const usual = await sizesOf('')
  const small = await sizesOf('keepYoungHeapSmall(); slowHeapGrowth()')
  t.ok(small.heap < 0.85 * usual.heap, `${small.heap.toFixed(0)} MB instead of ${usual.heap.toFixed(0)}`)
  t.ok(small.young < usual.young / 2, `${small.young.toFixed(0)} MB instead of ${usual.young.toFixed(0)}`)
})

t.test("the operator's own flags of Node stay in force", async (t) => {
  t.equal(slowHeapGrowth(['--heap-growing-percent=200']), false)
  t.equal(slowHeapGrowth(['--heap_growing_percent=200']), false)
  for (const flag of ['--max-semi-space-size=32', '--min_semi_space_size=1', '--semi-space-growth-factor=3'])
    t.equal(keepYoungHeapSmall([flag]), false)
})
