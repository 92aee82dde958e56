import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { keepYoungHeapSmall, slowHeapGrowth } from '../../src/memory/small-heap.ts'

const module = new URL('../../src/memory/small-heap.ts', import.meta.url).href

/** Keeps some 50 MB of small objects alive, replaces them ten times, and writes the largest heap that there was, in MB. */
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
  const small = await largestHeapMb('keepYoungHeapSmall(); slowHeapGrowth()')
  t.ok(small < 0.85 * usual, `${small.toFixed(0)} MB instead of ${usual.toFixed(0)}`)
})

/** Makes objects as a service at rest does, a few between two turns of the event loop, and writes the young generation's MB. */
const AT_REST = `
  const { getHeapSpaceStatistics } = await import('node:v8')
  const youngMb = () => {
    const { space_used_size, space_available_size } = getHeapSpaceStatistics().find((each) => each.space_name === 'new_space')
    return Math.round((space_used_size + space_available_size) / 2 ** 20)
  }
  const live = []
  let made = 0
  const make = (count) => {
    for (let i = 0; i < count; i++, made++) live[made % 100_000] = { made, list: [made] }
  }
  make(1_000_000)
  const before = youngMb()
  growYoungHeapOnce()
  for (let turn = 0; turn < 150; turn++) {
    make(3_000)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  make(1_000_000)
  console.log(JSON.stringify({ before, after: youngMb() }))`

t.test('the young generation of a process at rest grows once, and keeps that size', async (t) => {
  const script = `import { growYoungHeapOnce, keepYoungHeapSmall } from '${module}'; keepYoungHeapSmall(); ${AT_REST}`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
  t.strictSame(JSON.parse(stdout), { before: 1, after: 8 })
})

t.test("the operator's own flags of Node stay in force", async (t) => {
  t.equal(slowHeapGrowth(['--heap-growing-percent=200']), false)
  t.equal(slowHeapGrowth(['--heap_growing_percent=200']), false)
  for (const flag of ['--max-semi-space-size=32', '--min_semi_space_size=1', '--semi-space-growth-factor=3'])
    t.equal(keepYoungHeapSmall([flag]), false)
})
