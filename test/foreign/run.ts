/**
 * Runs the tests of client libraries against a node, and through the RPC URL of a service in front of such a node.
 * `src/docs/testing.md` describes it.
 *
 *     node test/foreign/run.ts [SUITE…]
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, openSync, closeSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../house/sources.ts'
import { NotReady, SuiteFolder } from './checkout.ts'
import { readReport } from './report.ts'
import type { ForeignSuite } from './suite.ts'
import { KIT } from './suites/kit.ts'
import { SOLANA_PY } from './suites/solana-py.ts'
import { TOKEN_2022 } from './suites/token-2022.ts'
import { WEB3JS } from './suites/web3js.ts'
import { nodeTarget, serviceTarget, type Target } from './targets.ts'
import { verdictOf, type ExpectedDifference, type ForeignOutcome, type ForeignOutcomes } from './verdict.ts'

const SUITES = [WEB3JS, KIT, SOLANA_PY, TOKEN_2022]
/** Reports and outputs of the last run. */
const OUTPUTS = join(ROOT, '.tap/foreign')

/** Runs all commands of a suite against a target, and returns the outcomes of its tests. */
async function runSuite(
  suite: ForeignSuite,
  folder: SuiteFolder,
  of: 'node' | 'service',
  target: Target
): Promise<ForeignOutcomes> {
  const outcomes = new Map<string, ForeignOutcome>()
  for (const { name, command, folder: cwd, environment } of suite.commands) {
    const base = join(OUTPUTS, `${suite.name}-${name}-${of}`)
    const report = `${base}.${suite.report === 'junit' ? 'xml' : 'json'}`
    rmSync(report, { force: true })
    const args = command.map((arg) => arg.replaceAll('{report}', report).replaceAll('{cache}', folder.path))
    const log = openSync(`${base}.log`, 'w')
    const child = spawn(args[0] === 'node' ? process.execPath : args[0]!, args.slice(1), {
      cwd: join(folder.checkout, cwd),
      stdio: ['ignore', log, log],
      env: {
        ...process.env,
        ...environment,
        FOREIGN_RPC_URL: target.url,
        FOREIGN_SOCKET_URL: target.socketUrl
      }
    })
    await once(child, 'exit')
    closeSync(log)
    if (!existsSync(report)) throw new Error(`${suite.name}: no report; see ${base}.log`)
    const read = readReport(suite.report, readFileSync(report, 'utf8'), join(folder.checkout, cwd))
    const prefix = suite.commands.length === 1 ? '' : `${name}: `
    for (const [test, outcome] of read) outcomes.set(prefix + test, outcome)
  }
  if (outcomes.size === 0) throw new Error(`${suite.name}: no test was run`)
  return outcomes
}

/** Runs a suite against both, and returns the number of faults. */
async function proveSuite(suite: ForeignSuite): Promise<number> {
  const folder = new SuiteFolder(suite)
  folder.prepare()
  const outcomes = []
  for (const [of, start] of [
    ['node', nodeTarget],
    ['service', serviceTarget]
  ] as const) {
    const target = await start(suite, folder)
    try {
      outcomes.push(await runSuite(suite, folder, of, target))
    } finally {
      await target.end()
    }
  }
  const [node, service] = outcomes
  const listed = JSON.parse(
    readFileSync(join(import.meta.dirname, 'expected', `${suite.name}.json`), 'utf8')
  ) as ExpectedDifference[]
  const verdict = verdictOf(service!, node!, listed)
  writeFileSync(join(OUTPUTS, `${suite.name}.json`), JSON.stringify(verdict, null, 2))
  for (const fault of verdict.faults) console.log(`${suite.name}: ${fault}`)
  console.log(
    `${suite.name}: ${verdict.passed} passed, ${verdict.expected} differ as expected, ${verdict.skipped} skipped, ${verdict.faults.length} faults`
  )
  return verdict.faults.length
}

const named = process.argv.slice(2)
const unknown = named.filter((name) => !SUITES.some((suite) => suite.name === name))
if (unknown.length > 0) {
  console.error(
    `unknown suite: ${unknown.join(', ')}; there are ${SUITES.map(({ name }) => name).join(', ')}`
  )
  process.exit(2)
}
mkdirSync(OUTPUTS, { recursive: true })
let failed = 0
for (const suite of SUITES.filter(({ name }) => named.length === 0 || named.includes(name)))
  try {
    failed += (await proveSuite(suite)) === 0 ? 0 : 1
  } catch (error) {
    // A suite that did not run proves nothing.
    failed++
    console.error(error instanceof NotReady ? error.message : error)
  }
process.exit(failed === 0 ? 0 : 1)
