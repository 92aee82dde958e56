import t from 'tap'
import { configOf, maskedConfig, readConfig, SETTING_NAMES, SETTINGS } from '../../../src/configuration.ts'
import { variableOf } from '../../../src/kernel/config/config.ts'
import { hasUrls } from '../../../src/kernel/config/setting.ts'

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

t.test(
  'a misspelled variable is refused with the most similar one, any other unknown one without',
  async (t) => {
    t.strictSame(problemsOf({ MILLRACE_DATADIR: 'x', MILLRACE_COLOUR_OF_MONEY: 'x', OTHER: 'x' }), [
      'MILLRACE_DATADIR is unknown (did you mean MILLRACE_DATA_DIR?)',
      'MILLRACE_COLOUR_OF_MONEY is unknown'
    ])
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

t.test('every setting with URLs is shown without user, path and query', async (t) => {
  const names = SETTING_NAMES.filter((name) => /Url$|Gateway$/.test(name))
  t.strictSame(
    names,
    SETTING_NAMES.filter((name) => hasUrls(SETTINGS[name].schema)),
    'found by type'
  )
  for (const name of names) {
    const scheme = ['https', 'wss', 'rediss'].find(
      (each) => SETTINGS[name].schema.safeParse(`${each}://example.org`).success
    )
    const reading = configOf(
      {},
      { [variableOf(name)]: `${scheme}://user:word@example.org:7001/path-token?query-token=1#fragment` }
    )
    if (reading.kind !== 'config') throw new Error(reading.problems.join())
    const shown = JSON.stringify(maskedConfig(reading.config)[variableOf(name)])
    t.match(shown, `${scheme}://********@example.org:7001/********?********#********`)
    t.notMatch(shown, /user|word|token|fragment/)
    const wrong = configOf({}, { [variableOf(name)]: 'ftp://user:word@example.org/path-token' })
    t.notMatch(JSON.stringify(wrong), /word|token/, 'nor is a wrong one')
  }
})

const configWith = (environment: Record<string, string>) => {
  const reading = readConfig([], environment)
  if (reading.kind === 'invalid') throw new Error(reading.problems.join())
  return reading.config
}

t.test('limits of nodes may have empty places, and weights of methods are numbers by name', async (t) => {
  const { rpcNodeRps, rpcMethodWeights } = configWith({
    MILLRACE_RPC_NODE_RPS: '100,, 50',
    MILLRACE_RPC_METHOD_WEIGHTS: 'getBlock=5, getProgramAccounts=20'
  })
  t.strictSame(rpcNodeRps, [100, null, 50])
  t.strictSame(rpcMethodWeights, { getBlock: 5, getProgramAccounts: 20 })
  t.strictSame(configWith({}).rpcNodeRps, [])
  t.strictSame(problemsOf({ MILLRACE_RPC_NODE_RPS: '100,0' }), ['MILLRACE_RPC_NODE_RPS="100,0" is below 1'])
  t.match(problemsOf({ MILLRACE_RPC_NODE_RPS: '100;50' }), [/is not a whole number/])
  for (const [text, reason] of [
    ['getBlock', 'has getBlock, which is not NAME=NUMBER'],
    ['getBlock=x', 'has getBlock=x, which is not NAME=NUMBER'],
    ['getBlock=0', 'has getBlock=0, which is not from 1 to 10000'],
    ['getBlock=1,getBlock=2', 'has getBlock twice']
  ] as const)
    t.strictSame(problemsOf({ MILLRACE_RPC_METHOD_WEIGHTS: text }), [
      `MILLRACE_RPC_METHOD_WEIGHTS="${text}" ${reason}`
    ])
})
