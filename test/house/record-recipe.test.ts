import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { IS_LONG } from '../random-runs.ts'
import { carryOut, copyHouse, stepsOf, testFailureIn, testsFailureIn, typeFailureIn } from './recipe.ts'
import { ROOT } from './sources.ts'

/** Two compilations and a life on a CQL server. */

/** Lines of a page, with its code. */
const PAGE_LINES = 110
const FILES_MAX = 5

const page = readFileSync(join(ROOT, 'src/docs/how-to-add-a-record.md'), 'utf8')
const steps = stepsOf(page)
const house = t.testdir()

t.test('the recipe of a record is a page, and touches five files that are no tests', async (t) => {
  t.ok(page.split('\n').length <= PAGE_LINES)
  const files = new Set(steps.map(({ path }) => path).filter((path) => !/(^|\/)test\//.test(path)))
  t.ok(files.size <= FILES_MAX, [...files].join())
})

t.test('its steps give a record that is typed, folded, and stored by both adapters', async (t) => {
  copyHouse(house)
  for (const step of steps) carryOut(step, house)
  const tsconfig = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8')) as object
  const include = [
    'src/market',
    'src/*/settings.ts',
    'storage',
    'actors/ingest',
    'test/storage/added-record.ts'
  ]
  writeFileSync(join(house, 'tsconfig.json'), JSON.stringify({ ...tsconfig, include }))
  t.equal(await typeFailureIn(house), '', 'it is typed')
  const files = [
    'test/market/market-state.test.ts',
    'test/market/refold.test.ts',
    'test/storage/block-commit-codec.test.ts',
    'test/storage/older-layouts.test.ts',
    'test/storage/row-kinds.test.ts',
    // Kills of a store with any record: the recipe adds nothing to them.
    ...(IS_LONG ? ['test/storage/embedded-crash.test.ts'] : [])
  ]
  t.equal(await testsFailureIn(house, files), '', 'the tests of records')
  t.equal(await testFailureIn(house, 'test/storage/added-record.ts', 'wallets'), '', 'on both adapters')
})
