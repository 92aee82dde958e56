import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { compileLate } from '../../../src/kernel/memory/late-compilation.ts'

const module = new URL('../../../src/kernel/memory/late-compilation.ts', import.meta.url).href

/** Returns whether a function that is called 400 times, each a hundred rounds, is compiled with the last compiler. */
async function isCompiled(start: string): Promise<boolean> {
  const script = `
    import { compileLate } from '${module}'
    ${start}
    function probed(value) {
      let mixed = value
      for (let round = 0; round < 100; round++) mixed = Math.imul(mixed, 31) ^ (mixed >>> 3)
      return mixed
    }
    let sum = 0
    for (let turn = 0; turn < 400; turn++) {
      sum += probed(turn)
      await new Promise((resolve) => setTimeout(resolve, turn < 300 ? 0 : 1))
    }`
  const args = ['--trace-opt', '--no-use-osr', '--input-type=module', '-e', script]
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 26 })
  return /completed compiling .*<JSFunction probed .*target TURBOFAN/.test(stdout)
}

t.test(
  'a function is compiled with the last compiler after more calls than V8 asks for by itself',
  async (t) => {
    t.equal(await isCompiled(''), true)
    t.equal(await isCompiled('compileLate()'), false)
  }
)

t.test("the operator's own flags of Node stay in force", async (t) => {
  for (const flag of ['--invocation-count-for-turbofan=5', '--max_opt=2', '--no-opt'])
    t.equal(compileLate([flag]), false)
})
