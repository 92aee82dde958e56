import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { HeapLoad } from '../../../src/kernel/memory/loaded-heap.ts'

const module = new URL('../../../src/kernel/memory/loaded-heap.ts', import.meta.url).href

t.test(
  'a heap is loaded by three collections in an interval, and calm after twelve with fewer',
  async (t) => {
    const load = new HeapLoad()
    t.notOk(load.take(2), 'rare collections change nothing')
    t.notOk(load.isLoaded)
    t.ok(load.take(3))
    t.ok(load.isLoaded)
    for (let interval = 1; interval < 12; interval++) t.notOk(load.take(0), `interval ${interval}`)
    t.notOk(load.take(5), 'the minute begins again')
    for (let interval = 1; interval < 12; interval++) load.take(2)
    t.ok(load.isLoaded)
    t.ok(load.take(2))
    t.notOk(load.isLoaded)
  }
)

/** Replaces objects that outlive the young generation until the heap is given room, or for 400 million of them. */
const CHURN = `
  import { setFlagsFromString } from 'node:v8'
  import { giveHeapRoomUnderLoad } from '${module}'
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--heap-growing-percent=1')
  const given = []
  const end = giveHeapRoomUnderLoad((isLoaded) => given.push(isLoaded), 2_000)
  const live = Array.from({ length: 100_000 }, (_, at) => ({ at, list: [at] }))
  for (let turn = 0; turn < 20_000 && given.length === 0; turn++) {
    for (let at = 0; at < 20_000; at++) live[(turn * 20_000 + at) % live.length] = { at, list: [at] }
    await new Promise((resolve) => setImmediate(resolve))
  }
  end()
  console.log(JSON.stringify(given))`

t.test('a process whose old generation is collected often is given room', async (t) => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', CHURN])
  t.strictSame(JSON.parse(stdout), [true])
})
