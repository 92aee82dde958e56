import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { carryOut, copyHouse, stepsOf, testFailureIn, typeFailureIn } from './recipe.ts'
import { ROOT } from './sources.ts'

/** A compilation and a keyspace on a CQL server. */

/** Lines of a page, with its code. */
const PAGE_LINES = 110
/** Lines of a new document type. */
const DOCUMENT_LINES = 60

const page = readFileSync(join(ROOT, 'src/docs/how-to-add-a-document.md'), 'utf8')
const steps = stepsOf(page)
const house = t.testdir()

t.test('the recipe of a document is a page, and a new type takes 60 lines of one file', async (t) => {
  t.ok(page.split('\n').length <= PAGE_LINES)
  const own = steps.filter(({ path }) => !/(^|\/)test\//.test(path))
  t.equal(own.length, 1)
  t.ok(own[0]!.code.split('\n').length <= DOCUMENT_LINES)
  for (const path of ['storage/access-documents.ts', 'storage/test/sample-documents.ts'])
    t.ok(
      readFileSync(join(ROOT, path), 'utf8').split('\n').length <= 2 * DOCUMENT_LINES,
      `${path} has two of them`
    )
})

t.test('its steps give documents that are typed, and stored by both adapters', async (t) => {
  copyHouse(house)
  for (const step of steps) carryOut(step, house)
  const tsconfig = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8')) as object
  const include = ['src', 'test/storage/webhook.test.ts']
  writeFileSync(join(house, 'tsconfig.json'), JSON.stringify({ ...tsconfig, include }))
  t.equal(await typeFailureIn(house), '', 'it is typed')
  t.equal(await testFailureIn(house, 'test/storage/webhook.test.ts'), '', 'on both adapters')
})
