import { execFile } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { ROOT } from '../house/sources.ts'
import { closingReport, failuresOf } from './failures.ts'
import { writeMark } from './file-mark.ts'
import { countsOf, runTestFile, type TestOutcome } from './test-file.ts'
import { runTestUnit, UnitOutcomes } from './test-unit.ts'

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
  const run = (name: string) => runTestFile(join(folder, name), { env: process.env })
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

t.test(
  'each run of a file has its own folder until all teardowns are over, and leaves nothing',
  async (t) => {
    const folder = t.testdir({
      'a.test.ts': `import { existsSync, writeFileSync } from 'node:fs'
      import t from ${TAP}
      const beside = t.testdir() + '.beside'
      t.notOk(existsSync(beside), 'nothing is left of another run')
      writeFileSync(beside, '')
      t.comment('wrote ' + beside)
      t.test('with a store', async (t) => {
        const store = t.testdir()
        t.teardown(() => writeFileSync(store + '/a block', ''))
      })\n`
    })
    const run = () => runTestFile(join(folder, 'a.test.ts'), { env: process.env })
    const outcomes = [...(await Promise.all([run(), run()])), await run()]
    for (const outcome of outcomes) t.match(outcome, { passed: 2, failed: 0 })
    const written = outcomes.map(({ output }) => /^# wrote (.*)$/m.exec(output)![1]!)
    t.equal(new Set(written).size, 3)
    t.strictSame(
      written.filter((path) => existsSync(path)),
      []
    )
  }
)

const runUnit = async (unit: readonly string[], withinMs?: number): Promise<TestOutcome[]> => {
  const outcomes: TestOutcome[] = []
  await runTestUnit(unit, { env: process.env }, (outcome) => outcomes.push(outcome), withinMs)
  return outcomes
}

t.test(
  'files of a unit run one after another in one process, each with a root of its own; after a crash the others do in another',
  async (t) => {
    const seen = `globalThis.seen ??= []\nglobalThis.seen.push(import.meta.filename)\n`
    const folder = t.testdir({
      'a.test.ts': `import t from 'tap'\n${seen}t.teardown(() => globalThis.seen.push('a is over'))
        void t.test('later', (t) => setTimeout(() => { t.equal(globalThis.seen.length, 1, 'b is not loaded'); t.end() }, 20))\n`,
      'b.test.ts': `import t from 'tap'\nt.equal(globalThis.seen[1], 'a is over')\nt.fail('bad on purpose')\nt.skip('why')\n`,
      'c.test.ts': `import t from 'tap'\nt.equal(globalThis.seen.length, 2)\nt.testdir({ x: '' })\nprocess.exit(0)\n`,
      'd.test.ts': `import t from 'tap'\nt.equal(globalThis.seen, undefined)\n`,
      'e.test.ts': `import t from 'tap'\nthrow new Error('it ends at once')\n`,
      'f.test.ts': `import t from 'tap'\nt.pass('the last')\n`
    })
    const unit = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => relative(ROOT, join(folder, `${name}.test.ts`)))
    const outcomes = await runUnit(unit)
    t.same(
      outcomes.map(({ file }) => file),
      unit
    )
    t.match(outcomes, [
      { passed: 1, failed: 0 },
      { passed: 1, failed: 1, notRun: 1 },
      { failed: 1 },
      { passed: 1, failed: 0 },
      { failed: 1 },
      { passed: 1, failed: 0 }
    ])
    t.match(failuresOf(outcomes[1]!.output), /not ok \d - bad on purpose/)
    t.match(failuresOf(outcomes[4]!.output), /it ends at once/)
    t.notMatch(outcomes[0]!.output, /bad on purpose/)
  }
)

t.test(
  'a file of a unit that takes too long is given up by the name of its test; those after it run in another process',
  async (t) => {
    const never = 'new Promise(() => setInterval(() => {}, 1_000))'
    const folder = t.testdir({
      'a.test.ts': `import t from 'tap'\nt.pass()\n`,
      'body.test.ts': `import t from 'tap'\nt.test('outer', async (t) => { await t.test('of its body', () => ${never}) })\n`,
      'teardown.test.ts': `import t from 'tap'\nt.test('of its teardown', async (t) => { t.pass('was here'); t.teardown(() => ${never}) })\n`,
      'blocked.test.ts': `import t from 'tap'\nt.test('of a loop', async (t) => { t.pass('just before'); await null; for (;;); })\n`,
      'b.test.ts': `import t from 'tap'\nt.pass()\n`,
      'open.test.ts': `import t from 'tap'\nsetInterval(() => {}, 1_000)\nt.pass()\n`
    })
    const unit = ['a', 'body', 'teardown', 'blocked', 'b', 'open'].map((name) =>
      relative(ROOT, join(folder, `${name}.test.ts`))
    )
    const outcomes = await runUnit(unit, 1_500)
    t.same(
      outcomes.map(({ file, failed }) => [file, failed]),
      unit.map((file) => [file, /body|teardown|blocked|open/.test(file) ? 1 : 0])
    )
    const [, body, teardown, blocked, , open] = outcomes.map(({ output }) => failuresOf(output))
    t.match(body, /not ok - \S*body\.test\.ts takes more than 1\.5 s, in: \S* > outer > of its body/)
    t.match(teardown, /in: \S* > of its teardown\n[^]*was here/)
    t.match(blocked, /neither ends nor writes/)
    t.match(outcomes[3]!.output, /just before/)
    t.match(open, /the end of the process takes more than 1\.5 s, by: .*Timeout/)
  }
)

t.test('a process that ends badly after its last file has failed', async (t) => {
  const outcomes: TestOutcome[] = []
  const unit = new UnitOutcomes((outcome) => outcomes.push(outcome))
  const text = ['a', 'b']
    .flatMap((file) => [
      writeMark({ begins: file }),
      'ok',
      writeMark({ ended: file, passed: 1, failed: 0, notRun: 0, seconds: 1, processorSeconds: 1 })
    ])
    .join('\n')
  for (const byte of Buffer.from(`${text}\ncause\n`)) unit.read(Buffer.from([byte]), 0)
  t.match(outcomes, [{ file: 'a', passed: 1, failed: 0, output: 'ok' }], 'the last one waits for the end')
  t.equal(unit.end(['a', 'b'], false), 2)
  t.match(outcomes[1], { file: 'b', failed: 1, output: /cause/ })
  t.match(await runUnit(['none.test.ts', 'neither.test.ts']), [{ failed: 1 }, { failed: 1 }])
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
