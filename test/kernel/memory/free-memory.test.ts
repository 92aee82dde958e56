import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import t from 'tap'

const module = new URL('../../../src/kernel/memory/free-memory.ts', import.meta.url).href

/** Fills 120 MB with buffers, keeps each twentieth, and writes the resident megabytes before and after the return. */
const HOLES = `
  import { freeMemoryReturn } from '${module}'
  const giveBack = freeMemoryReturn()
  let buffers = Array.from({ length: 4_000 }, () => Buffer.allocUnsafeSlow(30_000).fill(1))
  buffers = buffers.filter((_, at) => at % 20 === 0)
  // A collection frees buffers in another thread.
  for (let looks = 0; looks < 200 && process.memoryUsage().arrayBuffers > 10e6; looks++) {
    gc()
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  const before = process.memoryUsage().rss / 2 ** 20
  giveBack?.()
  console.log(JSON.stringify({ found: giveBack !== null, before, after: process.memoryUsage().rss / 2 ** 20, kept: buffers.length }))`

const isGlibc = process.platform === 'linux' && !existsSync('/lib/ld-musl-x86_64.so.1')

t.test('memory between buffers that are in use goes back to the system, without a warning', async (t) => {
  const args = ['--expose-gc', '--input-type=module', '-e', HOLES]
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args)
  const { found, before, after } = JSON.parse(stdout) as { found: boolean; before: number; after: number }
  t.equal(stderr, '')
  t.equal(found, isGlibc)
  if (found) t.ok(after < before - 60, `${before.toFixed(0)} MB, then ${after.toFixed(0)}`)
})

t.test('a Node without FFI returns nothing, and works', async (t) => {
  const args = ['--no-experimental-ffi', '--input-type=module', '-e']
  const script = `import { freeMemoryReturn } from '${module}'; console.log(freeMemoryReturn())`
  t.match(await promisify(execFile)(process.execPath, [...args, script]), { stdout: 'null\n', stderr: '' })
})

/** Has eight new threads allocate, and writes the number of the allocator's arenas before and after. */
const THREADS = `
  import { pbkdf2 } from 'node:crypto'
  import { readFileSync } from 'node:fs'
  import { promisify } from 'node:util'
  import { shareArenas } from '${module}'
  // glibc reserves 64 MB for an arena, aligned to as much.
  const arenas = () => readFileSync('/proc/self/maps', 'utf8').match(/^[0-9a-f]+[048c]000000-[0-9a-f]+ rw-p 0+ 00:00 0 *$/gm).length
  const isShared = process.argv[1] === 'share' ? shareArenas() : null
  const before = arenas()
  await Promise.all(Array.from({ length: 8 }, () => promisify(pbkdf2)('a', 'b', 100_000, 64, 'sha512')))
  console.log(JSON.stringify({ isShared, more: arenas() - before }))`

t.test('new threads share the arenas of the allocator', { skip: !isGlibc }, async (t) => {
  const grown = async (...words: string[]): Promise<{ isShared: boolean | null; more: number }> => {
    const args = ['--input-type=module', '-e', THREADS, ...words]
    const env = { ...process.env, UV_THREADPOOL_SIZE: '8' }
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { env })
    t.equal(stderr, '')
    return JSON.parse(stdout) as { isShared: boolean | null; more: number }
  }
  t.ok((await grown()).more > 1, 'by itself it makes more')
  t.strictSame(await grown('share'), { isShared: true, more: 0 })
})

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
