import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { ROOT } from './sources.ts'

const run = promisify(execFile)

/** What a tool of the house prints when it is not content; empty when it is. */
async function complaints(tool: string, args: readonly string[]): Promise<string> {
  const bin = join(ROOT, 'node_modules/.bin', tool)
  return run(bin, args, { cwd: ROOT, maxBuffer: 2 ** 24 }).then(
    () => '',
    (error: { stdout?: string; stderr?: string }) =>
      `${error.stdout ?? ''}${error.stderr ?? ''}` || `${tool} failed`
  )
}

t.setTimeout(300_000)

t.test('the type checker accepts every source', async (t) => {
  t.equal(await complaints('tsc', ['-p', '.']), '')
})

t.test('the linter accepts every source, floating promises included', async (t) => {
  t.equal(
    await complaints('eslint', ['--config', '.config/eslint.config.js', '--max-warnings', '0', '.']),
    ''
  )
})

t.test('every file is formatted', async (t) => {
  t.equal(await complaints('prettier', ['--check', '--log-level', 'warn', '.']), '')
})
