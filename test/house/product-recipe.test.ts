import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { carryOut, copyHouse, stepsOf, testFailureIn, testsFailureIn, typeFailureIn } from './recipe.ts'
import { ROOT } from './sources.ts'

/** Two folders of the example's product. */
const ROOM = /^(src|actors)\/block-times\//

const steps = stepsOf(readFileSync(join(ROOT, 'src/docs/how-to-add-a-product.md'), 'utf8'))
const house = t.testdir()

t.test('the recipe of a product touches one file outside its room', async (t) => {
  const paths = steps.map(({ path }) => path)
  t.ok(paths.filter((path) => ROOM.test(path)).length > 5)
  t.same(
    paths.filter((path) => !ROOM.test(path)),
    ['src/products.ts']
  )
})

t.test('its steps give a product that is typed, lies on the floors, and is served', async (t) => {
  copyHouse(house)
  for (const step of steps) carryOut(step, house)
  const tsconfig = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8')) as object
  const include = ['src', 'actors', 'machines', 'storage', 'test/products/added-product.ts']
  writeFileSync(join(house, 'tsconfig.json'), JSON.stringify({ ...tsconfig, include }))
  t.equal(await typeFailureIn(house), '', 'it is typed')
  t.equal(await testsFailureIn(house, ['test/house/imports.test.ts']), '', 'the floors of the house')
  t.equal(await testFailureIn(house, 'test/products/added-product.ts'), '', 'a service with it')
})
