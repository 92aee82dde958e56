import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { allocateYoung } from '../../../src/kernel/memory/young-allocation.ts'

const module = new URL('../../../src/kernel/memory/young-allocation.ts', import.meta.url).href

/** Returns whether V8 decides for places of the code in which generation it allocates their objects. */
async function isDecidedByPlace(start: string): Promise<boolean> {
  const script = `
    import { allocateYoung } from '${module}'
    ${start}
    const live = []
    const made = (at) => ({ list: [at, at + 1] })
    for (let turn = 0; turn < 10; turn++) {
      for (let at = 0; at < 300_000; at++) live[at] = made(at)
      await new Promise(setImmediate)
    }`
  const args = ['--trace-pretenuring-statistics', '--input-type=module', '-e', script]
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 26 })
  return stdout.includes('pretenuring: AllocationSite')
}

t.test('V8 decides for no place of the code that its objects are allocated old', async (t) => {
  t.equal(await isDecidedByPlace(''), true)
  t.equal(await isDecidedByPlace('allocateYoung()'), false)
})

t.test("the operator's own flags of Node stay in force", async (t) => {
  for (const flag of ['--allocation-site-pretenuring', '--no-allocation_site_pretenuring'])
    t.equal(allocateYoung([flag]), false)
})
