import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import type { ErrorKind } from '../../src/kernel/error-kind.ts'
import { errorsOf } from '../../src/kernel/compose/product.ts'
import { ERRORS, ServiceError } from '../../src/kernel/errors.ts'
import { PRODUCTS } from './loaded-products.ts'
import { readSources, ROOT } from '../house/sources.ts'
import { marketApp } from '../http/market-app.ts'

const ALL = errorsOf(PRODUCTS)
const repeated = (texts: readonly string[]): string[] =>
  texts.filter((text, at) => texts.indexOf(text) !== at)

t.test('every declared error is of the kernel or of one product', async (t) => {
  const declaring = readSources(['src', 'actors', 'machines', 'storage'])
    .filter(({ path, text }) => path !== 'src/kernel/error-kind.ts' && /\berrorKinds\(/.test(text))
    .map(({ path }) => path)
  t.same(
    declaring.filter((path) => !/^src\/[\w-]+\/errors\.ts$/.test(path)),
    []
  )
  const declared: ErrorKind[] = []
  for (const path of declaring) {
    const made = (await import(pathToFileURL(join(ROOT, path)).href)) as Record<string, object>
    const groups = Object.entries(made).filter(([name]) => /(^|_)ERRORS$/.test(name))
    t.equal(groups.length, 1, path)
    declared.push(...groups.flatMap(([, group]) => Object.values(group) as ErrorKind[]))
  }
  t.ok(declared.length > 50)
  t.same(
    declared.filter((error) => !ALL.includes(error)).map(({ name }) => name),
    [],
    'a product lists it'
  )
  t.equal(ALL.length, declared.length, 'and no other')
  t.same(repeated(ALL.map(({ name }) => name)), [])
})

t.test('errors with one code are of one room', async (t) => {
  const rooms = [ERRORS, ...PRODUCTS.flatMap(({ errors = {} }) => [errors])]
  const codes = rooms.flatMap((errors) => [...new Set(Object.values(errors).map(({ code }) => code))])
  t.same(repeated(codes), [])
})

t.test('an endpoint lists errors of products and of the kernel only', async (t) => {
  const { app } = await marketApp(t)
  await app.ready()
  const listed = app.served.flatMap(({ endpoint: { errors } }) => errors)
  t.ok(listed.length > 50)
  t.same(
    listed.filter((error) => !ALL.includes(error)).map(({ name }) => name),
    []
  )
})

t.test('the log of an error names its kind, without the texts of its page', async (t) => {
  const error = new ServiceError(ERRORS.STORAGE_UNAVAILABLE, 'the disk is full')
  t.match(error, { kind: ERRORS.STORAGE_UNAVAILABLE, message: 'STORAGE_UNAVAILABLE: the disk is full' })
  t.notMatch(JSON.stringify({ ...error }), ERRORS.STORAGE_UNAVAILABLE.meaning)
})
