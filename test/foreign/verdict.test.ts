import t from 'tap'
import { readReport } from './report.ts'
import { verdictOf, type ForeignOutcomes, type Outcome } from './verdict.ts'

const outcomes = (all: Readonly<Record<string, Outcome>>): ForeignOutcomes =>
  new Map(Object.entries(all).map(([name, outcome]) => [name, { outcome }]))
const NODE = outcomes({ good: 'passed', changed: 'passed', broken: 'failed', left: 'skipped' })
const EXPECTED = [
  { reason: 'the specification wants it', node: 'passes', tests: ['changed'] },
  { reason: 'the node is newer than the suite', node: 'fails', tests: ['broken'] }
] as const

t.test('a suite passes if only the expected tests fail', async (t) => {
  const service = outcomes({ good: 'passed', changed: 'failed', broken: 'failed', left: 'skipped' })
  t.same(verdictOf(service, NODE, EXPECTED), { passed: 1, skipped: 1, expected: 2, faults: [] })
})

t.test(
  'a difference that is not listed is a fault, and so is a listed one that no longer occurs',
  async (t) => {
    const faultsOf = (all: Readonly<Record<string, Outcome>>, expected = EXPECTED): readonly string[] =>
      verdictOf(outcomes(all), NODE, expected).faults
    const rest = { changed: 'failed', broken: 'failed', left: 'skipped' } as const
    t.match(faultsOf({ ...rest, good: 'failed' }), [/^good: fails, and passes at the node/])
    t.match(faultsOf(rest), [/^good: was not run through the service/])
    t.match(faultsOf({ ...rest, good: 'skipped' }), [/^good: was skipped through the service alone/])
    t.match(faultsOf({ ...rest, good: 'passed', changed: 'passed' }), [
      /^changed: passes, and the list expects/
    ])
    const other = [...EXPECTED, { reason: 'gone', node: 'passes', tests: ['no such test', 'goo*'] }] as const
    t.match(verdictOf(outcomes({ ...rest, good: 'passed' }), NODE, other).faults, [
      /^no such test: no test/,
      /^goo\*: no test/
    ])
    const wrong = [{ ...EXPECTED[0], node: 'fails' }, EXPECTED[1]] as const
    t.match(verdictOf(outcomes({ ...rest, good: 'passed' }), NODE, wrong).faults, [
      /^changed: passes at the node, and the list says that it fails there too/
    ])
  }
)

t.test('reports of mocha, jest and pytest are read', async (t) => {
  const test = (title: string, message?: string) => ({ file: '/at/a.ts', fullTitle: title, err: { message } })
  const mocha = {
    tests: [test('one'), test('two', 'bad'), test('three')],
    pending: [test('three')],
    failures: [test('two', 'bad'), test('"before all" hook', 'worse')]
  }
  t.same(Object.fromEntries(readReport('mocha', JSON.stringify(mocha), '/at')), {
    'a.ts > one': { outcome: 'passed' },
    'a.ts > two': { outcome: 'failed', error: 'bad' },
    'a.ts > three': { outcome: 'skipped' },
    'a.ts > "before all" hook': { outcome: 'failed', error: 'worse' }
  })
  const assertion = (status: string) => ({ fullName: 'same', status, failureMessages: ['\u001b[31mbad'] })
  const jest = {
    testResults: [
      { name: '/at/b.ts', message: '', assertionResults: [assertion('passed'), assertion('failed')] },
      { name: '/at/c.ts', message: 'cannot be loaded', assertionResults: [] },
      { name: '/at/d.ts', message: '', assertionResults: [assertion('todo')] }
    ]
  }
  t.same(Object.fromEntries(readReport('jest', JSON.stringify(jest), '/at')), {
    'b.ts > same': { outcome: 'passed' },
    'b.ts > same #2': { outcome: 'failed', error: 'bad' },
    'c.ts > the file': { outcome: 'failed', error: 'cannot be loaded' },
    'd.ts > same': { outcome: 'skipped' }
  })
  const junit = `<testsuite><testcase classname="a.b" name="one" time="1" />
    <testcase classname="a.b" name="two"><failure message="x &lt; 1&#10;">text</failure></testcase>
    <testcase classname="a.b" name="three"><skipped message="no"/></testcase></testsuite>`
  t.same(Object.fromEntries(readReport('junit', junit, '/at')), {
    'a.b > one': { outcome: 'passed' },
    'a.b > two': { outcome: 'failed', error: 'x < 1\n' },
    'a.b > three': { outcome: 'skipped' }
  })
})
