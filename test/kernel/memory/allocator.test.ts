import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import t from 'tap'

const module = new URL('../../../src/kernel/memory/allocator.ts', import.meta.url).href

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
  import { holdLessFreeMemory } from '${module}'
  // glibc reserves 64 MB for an arena, aligned to as much.
  const arenas = () => readFileSync('/proc/self/maps', 'utf8').match(/^[0-9a-f]+[048c]000000-[0-9a-f]+ rw-p 0+ 00:00 0 *$/gm).length
  const isSet = process.argv[1] === 'set' ? holdLessFreeMemory() : null
  const before = arenas()
  await Promise.all(Array.from({ length: 8 }, () => promisify(pbkdf2)('a', 'b', 100_000, 64, 'sha512')))
  console.log(JSON.stringify({ isSet, more: arenas() - before }))`

t.test('new threads share the arenas of the allocator', { skip: !isGlibc }, async (t) => {
  const grown = async (...words: string[]): Promise<{ isSet: boolean | null; more: number }> => {
    const args = ['--input-type=module', '-e', THREADS, ...words]
    const env = { ...process.env, UV_THREADPOOL_SIZE: '8' }
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { env })
    t.equal(stderr, '')
    return JSON.parse(stdout) as { isSet: boolean | null; more: number }
  }
  t.ok((await grown()).more > 1, 'by itself it makes more')
  t.strictSame(await grown('set'), { isSet: true, more: 0 })
})

/** Keeps small buffers between 80 MB of large ones, frees these, and writes the resident megabytes that are left of them. */
const LARGE = `
  import { holdLessFreeMemory } from '${module}'
  if (process.argv[1] === 'set') holdLessFreeMemory()
  const free = async (bytesLeft) => {
    for (let looks = 0; looks < 200 && process.memoryUsage().arrayBuffers > bytesLeft; looks++) {
      gc()
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
  const resident = () => process.memoryUsage().rss / 2 ** 20
  // One that is freed makes glibc take others of up to its size from an arena.
  Buffer.allocUnsafeSlow(4e6).fill(1)
  await free(1e6)
  const before = resident()
  const kept = []
  let large = []
  for (let at = 0; at < 800; at++) {
    large.push(Buffer.allocUnsafeSlow(100_000).fill(1))
    kept.push(Buffer.allocUnsafeSlow(1_000).fill(1))
  }
  const full = resident() - before
  large = []
  await free(10e6)
  console.log(JSON.stringify({ full, left: resident() - before, kept: kept.length }))`

t.test('large blocks that are freed go back to the system at once', { skip: !isGlibc }, async (t) => {
  const held = async (...words: string[]): Promise<{ full: number; left: number }> => {
    const args = ['--expose-gc', '--input-type=module', '-e', LARGE, ...words]
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args)
    t.equal(stderr, '')
    return JSON.parse(stdout) as { full: number; left: number }
  }
  const byItself = await held()
  t.ok(
    byItself.left > byItself.full / 2,
    `by itself it holds ${byItself.left.toFixed(0)} MB of ${byItself.full.toFixed(0)}`
  )
  const { full, left } = await held('set')
  t.ok(left < full / 4, `${left.toFixed(0)} MB of ${full.toFixed(0)}`)
})
