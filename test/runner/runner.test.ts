import { execFile } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { readSources, ROOT } from '../house/sources.ts'
import { closingReport, failuresOf } from './failures.ts'
import { countsOf, runTestFile } from './test-file.ts'
import { isHeavy, reaches, takeNext, testFiles } from './tiers.ts'

const TAP = JSON.stringify(import.meta.resolve('tap'))

t.test('a file counts by what it says, and as one failure where it says nothing or ends badly', async (t) => {
  t.same(countsOf('ok 1\n# { total: 7, pass: 4, fail: 1, skip: 1, todo: 1 }\n# time=3ms\n', false), {
    passed: 4,
    failed: 1,
    notRun: 2
  })
  t.same(countsOf('# { total: 2, pass: 2 }\n', true), { passed: 2, failed: 0, notRun: 0 })
  t.same(countsOf('# { total: 2, pass: 2 }\n', false), { passed: 2, failed: 1, notRun: 0 })
  t.same(countsOf('', true), { passed: 0, failed: 1, notRun: 0 })
})

t.test(
  'of an output the failed points are told with their reports, or its end where none failed',
  async (t) => {
    const output = 'ok 1 - fine\n    not ok 2 - bad\n      ---\n      at: here\n      ...\nok 3 - after\n'
    t.equal(failuresOf(output), '    not ok 2 - bad\n      ---\n      at: here\n      ...')
    t.equal(failuresOf('some\ncrash'), 'some\ncrash')
  }
)

t.test(
  'a closing report tells each failed assertion without sources and frames of the runner, within limits',
  async (t) => {
    const assertion = (name: string, diff: number): string => {
      const rows = Array.from({ length: diff }, (_, at) => `        + row ${at}\n`).join('')
      const places = '      at:\n        fileName: x.ts\n        columnNumber: 7\n'
      const frames =
        '      stack: |\n        inX (x.ts:4:7)\n      \n        test/runner/test-errors.ts:27:28\n'
      const source = '      source: >2\n          t.same(rows, [])\n        ----^\n'
      return `    not ok 1 - ${name}\n      ---\n      diff: |\n${rows}${places}${frames}${source}      ...\n`
    }
    const subtest = 'not ok 1 - a subtest # time=4.5ms\n  ---\n  at:\n    fileName: x.ts\n  ...\n'
    const short = ['diff: |', '  + row 0', 'at:', '  fileName: x.ts', 'stack: |', '  inX (x.ts:4:7)']
    t.same(closingReport([{ name: 'x.test.ts', output: assertion('rows are equal', 1) + subtest }]), [
      'not ok - x.test.ts',
      '  not ok 1 - rows are equal',
      ...short.map((line) => `    ${line}`)
    ])
    const long = closingReport([{ name: 'long', output: assertion('a', 90) + assertion('b', 90) }])
    t.equal(long.length, 41)
    t.same(long.slice(19, 23), ['      + row 16', '  … 77 lines more', '  not ok 1 - b', '    diff: |'])
    const crash = closingReport([{ name: 'lint', output: `${'x\n'.repeat(90)}the cause\n` }])
    t.match([crash.length, crash.at(-1)], [41, '  the cause'])
    const many = Array.from({ length: 7 }, (_, at) => ({ name: `f${at}`, output: assertion('a', 90) }))
    t.equal(closingReport(many).length, 200)
    t.equal(closingReport(many).at(-1), 'not ok - f6')
  }
)

t.test('a file runs in a process of its own, by plain Node', async (t) => {
  const folder = t.testdir({
    'good.test.ts': `import t from ${TAP}\nconst n: number = 1\nt.equal(n, 1)\nt.test('later', { skip: 'why' }, () => {})\n`,
    'bad.test.ts': `import t from ${TAP}\nt.equal(1, 2, 'one is two')\nt.pass('another')\n`,
    'long.test.ts': `import t from ${TAP}\nfor (let n = 0; n < 20_000; n++) t.pass('one of many points of a file that writes much')\n`,
    'lost.test.ts': `import t from ${TAP}
      t.test('outer', (t) => {
        t.test('at fault', async (t) => {
          t.test('innocent', async (t) => t.pass())
          void Promise.reject(new Error('a lost rejection'))
          await new Promise((resolve) => setTimeout(resolve, 20))
        })
        t.test('throws', (t) => void setTimeout(() => { throw new Error('a late throw') }, 5))
        t.test('after', async (t) => t.pass())
        t.end()
      })\n`,
    'crash.test.ts': `throw new Error('it ends at once')\n`
  })
  const run = (name: string) => runTestFile(join(folder, name), process.env)
  const [good, bad, crash] = [await run('good.test.ts'), await run('bad.test.ts'), await run('crash.test.ts')]
  t.match(good, { passed: 1, failed: 0, notRun: 1 })
  t.match(bad, { passed: 1, failed: 1 })
  t.match(failuresOf(bad.output), /^not ok 1 - one is two\n +---\n[^]*\n +\.\.\.$/)
  t.match(await run('long.test.ts'), { passed: 20_000, failed: 0 }, 'all of a long output is read')
  const lost = await run('lost.test.ts')
  t.match(lost, { passed: 2, failed: 2 })
  t.match(lost.output, /# Subtest: at fault\n[^]*not ok 2 - a lost rejection[^]*# Subtest: throws/)
  t.match(lost.output, / {4}not ok 2[^]* {4}ok 3 - after/, 'the others go on')
  t.match(crash, { passed: 0, failed: 1 })
  t.match(failuresOf(crash.output), /it ends at once/)
})

t.test('the command ends with the sum, and with 1 where a file failed', async (t) => {
  const folder = t.testdir({
    'good.test.ts': `import t from ${TAP}\nt.pass('one')\nt.pass('two')\n`,
    'bad.test.ts': `import t from ${TAP}\nt.fail('bad on purpose')\n`
  })
  const good = join(folder, 'good.test.ts')
  const run = (...args: string[]) =>
    promisify(execFile)(process.execPath, [join(ROOT, 'test/run.ts'), '--jobs=2', ...args]).then(
      ({ stdout }) => ({ stdout, code: 0 }),
      (error: { stdout: string; code: number }) => ({ stdout: error.stdout, code: error.code })
    )
  t.match(await run(good), { stdout: /^2 passed, 0 failed\n$/m, code: 0 })
  const failing = await run(good, join(folder, 'bad.test.ts'))
  t.match(failing, { stdout: /not ok 1 - bad on purpose[^]*\n2 passed, 1 failed\n$/, code: 1 })
  t.match(
    failing.stdout,
    /\nnot ok - \S*bad\.test\.ts\n {2}not ok 1 - bad on purpose\n[^]*\n# 2 files in .*\n2 passed, 1 failed\n$/
  )
  const kept = /All that it wrote: (.*)/.exec(failing.stdout)![1]!
  t.teardown(() => rmSync(kept))
  t.ok(existsSync(kept))
  t.match(await run('--jobs=none', good), { code: 1 })
})

t.test('one heavy file runs at a time, and none of them is left', async (t) => {
  const { waiting } = testFiles()
  const heavy = waiting.filter(isHeavy)
  t.equal(heavy.length, 6)
  const sources = new Map(readSources(['test']).map((source) => [source.path, source]))
  for (const path of waiting)
    if (reaches(sources, path, /real-validator/)) t.ok(isHeavy(path), `${path} starts a validator`)
  const lists = [[heavy[0]!, heavy[1]!], ['test/x.test.ts']]
  t.equal(takeNext(lists, false), heavy[0])
  t.equal(takeNext(lists, true), 'test/x.test.ts')
  t.equal(takeNext(lists, true), null)
  t.equal(takeNext(lists, false), heavy[1])
  t.equal(takeNext(lists, false), null)
})

t.test('every test file is in one list, and those of the quick tier reach no server', async (t) => {
  const { waiting, computing } = testFiles()
  const sources = new Map(readSources(['test']).map((source) => [source.path, source]))
  const all = [...sources.keys()].filter((path) => path.endsWith('.test.ts'))
  t.same([...waiting, ...computing].toSorted(), all.toSorted())
  t.ok(computing.includes('test/storage/embedded-conformance.test.ts'))
  t.ok(waiting.includes('test/storage/scylla-conformance.test.ts'))
  t.ok(waiting.includes('test/service/real-node.test.ts'))
  for (const path of computing)
    if (reaches(sources, path, /servers\/|playwright|schemathesis/)) t.fail(`${path} reaches a server`)
})
