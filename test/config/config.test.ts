import t from 'tap'
import { readConfig, SETTING_NAMES, variableOf } from '../../src/config/config.ts'

const problemsOf = (environment: Record<string, string>): readonly string[] => {
  const reading = readConfig([], environment)
  return reading.kind === 'invalid' ? reading.problems : []
}

t.test(
  'a bad value of a setting, it is refused in a line that names the variable and the reason',
  async (t) => {
    let refused = 0
    for (const variable of SETTING_NAMES.map(variableOf))
      for (const value of ['', 'x y', '-1', '0', '9'.repeat(30)])
        for (const problem of problemsOf({ [variable]: value })) {
          refused++
          t.match(problem, new RegExp(`^${variable}(=".*")? (is|has) `), problem)
        }
    t.ok(refused > 100, `${refused} values are refused`)
  }
)

t.test('the factor of a recorded source may be max, a price may not, and each refusal says so', async (t) => {
  t.strictSame(problemsOf({ MILLRACE_RECORDED_SPEED: 'max' }), [])
  t.strictSame(problemsOf({ MILLRACE_RECORDED_SPEED: '0.5' }), [])
  t.strictSame(problemsOf({ MILLRACE_RECORDED_SPEED: '0' }), ['MILLRACE_RECORDED_SPEED="0" is not above 0'])
  t.strictSame(problemsOf({ MILLRACE_RECORDED_SPEED: 'fast' }), [
    'MILLRACE_RECORDED_SPEED="fast" is neither max nor a positive number'
  ])
  t.strictSame(problemsOf({ MILLRACE_SOL_USD: '-1' }), ['MILLRACE_SOL_USD="-1" is not a positive number'])
  t.strictSame(problemsOf({ MILLRACE_HOST: '' }), ['MILLRACE_HOST="" is empty'])
})
