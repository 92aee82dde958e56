import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { slowHeapGrowth } from '../../src/memory/heap-growth.ts'

const module = new URL('../../src/memory/heap-growth.ts', import.meta.url).href

/** Keeps some 50 MB of small objects alive, replaces them ten times, and writes the largest heap that there was, in MB. */
const CHURN = `
  const live = []
  let most = 0
  for (let at = 0; at < 6_000_000; at++) {
    live[at % 600_000] = { at, list: [at] }
    if (at % 10_000 === 0) most = Math.max(most, process.memoryUsage().heapUsed)
  }
  console.log(most / 2 ** 20)`

async function largestHeap(start: string, nodeFlags: readonly string[] = []): Promise<number> {
  const script = `import { slowHeapGrowth } from '${module}'; ${start}; ${CHURN}`
  const args = [...nodeFlags, '--input-type=module', '-e', script]
  return Number((await promisify(execFile)(process.execPath, args)).stdout)
}

t.test('a process whose heap grows slowly has a smaller heap for the same work', async (t) => {
  const usual = await largestHeap('')
  const slow = await largestHeap('slowHeapGrowth()')
  t.ok(slow < 0.85 * usual, `${slow.toFixed(0)} MB instead of ${usual.toFixed(0)}`)
})

t.test("the operator's own flag of Node stays in force", async (t) => {
  t.equal(slowHeapGrowth(['--heap-growing-percent=200']), false)
  t.equal(slowHeapGrowth(['--heap_growing_percent=200']), false)
})
