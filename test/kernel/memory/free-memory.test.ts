import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'

const module = new URL('../../../src/kernel/memory/free-memory.ts', import.meta.url).href

/** Fills 80 MB with small objects, keeps each fiftieth, and writes the megabytes of the heap before and after. */
const SPARSE = `
  import { compactHeap } from '${module}'
  let objects = Array.from({ length: 1_000_000 }, (_, at) => ({ at, list: [at] }))
  objects = objects.filter(({ at }) => at % 50 === 0)
  const before = process.memoryUsage().heapTotal / 2 ** 20
  compactHeap()
  // Other threads of the collector give pages back; a busy machine lets them do so late.
  for (let looks = 0; looks < 300 && process.memoryUsage().heapTotal / 2 ** 20 > before / 3; looks++)
    await new Promise((resolve) => setTimeout(resolve, 100))
  console.log(JSON.stringify({ before, after: process.memoryUsage().heapTotal / 2 ** 20, kept: objects.length, gc: typeof globalThis.gc }))`

t.test('a compacted heap takes what is live', async (t) => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', SPARSE])
  const { before, after, gc } = JSON.parse(stdout) as { before: number; after: number; gc: string }
  t.ok(after < before / 3, `${before.toFixed(0)} MB, then ${after.toFixed(0)}`)
  t.equal(gc, 'undefined')
})
