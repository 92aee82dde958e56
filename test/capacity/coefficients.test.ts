import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { LIVE } from '../../loadtest/recorded-block.ts'
import { ASSUMED, COEFFICIENTS, MAINNET, type Coefficient } from '../../src/capacity/coefficients.ts'
import { INPUTS } from '../../src/capacity/inputs.ts'
import { MEASURED, type Measured } from '../../src/capacity/measured.ts'
import { DEFAULT_MEMORY_MB } from '../../src/kernel/config/memory-budget.ts'
import { ROOT } from '../house/sources.ts'

/** Returns the value at a place of a result; undefined if the result has no such place. */
function stated({ result, path }: Measured): unknown {
  const text = readFileSync(join(ROOT, 'loadtest/results', `${result}.json`), 'utf8')
  return path.reduce<unknown>(
    (value, name) => (value as Readonly<Record<string, unknown>> | undefined)?.[name],
    JSON.parse(text)
  )
}

t.test('each measured figure is that of its result', async (t) => {
  for (const [name, figure] of Object.entries<Measured>(MEASURED)) t.equal(stated(figure), figure.value, name)
})

t.test('each coefficient is a positive number that follows from measured figures', async (t) => {
  const used = new Set<string>()
  for (const [name, { value, from, unit, meaning }] of Object.entries<Coefficient>(COEFFICIENTS)) {
    t.ok(Number.isFinite(value) && value > 0, `${name}: ${value}`)
    t.ok(from.length > 0 && unit !== '' && meaning !== '', name)
    for (const figure of from) used.add(figure)
  }
  const plain = ['postEvents', 'blockMints']
  t.same(
    Object.keys(MEASURED).filter((name) => !used.has(name) && !plain.includes(name)),
    [],
    'no figure is left unused'
  )
})

t.test("the rate of mainnet is the load tests', and defaults are those of the service", async (t) => {
  t.strictSame(MAINNET, LIVE)
  const { transactionsPerBlock, blocksPerSecond } = MAINNET
  const perDay = transactionsPerBlock * blocksPerSecond * 86_400 * COEFFICIENTS.tradesPerTransaction.value
  t.equal(INPUTS['trades-per-day'].fallback, Number(perDay.toPrecision(2)))
  t.equal(INPUTS['memory-mb'].fallback, DEFAULT_MEMORY_MB.other)
})

t.test('each assumption names a file that is there', async (t) => {
  for (const { source } of Object.values(ASSUMED)) t.ok(existsSync(join(ROOT, source)), source)
})
