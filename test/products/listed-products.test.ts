import fc from 'fast-check'
import t from 'tap'
import { readConfig } from '../../src/configuration.ts'
import { LISTED_PRODUCTS } from '../../src/kernel/config/listed-products.ts'
import { listRefusal, type ListedProduct } from '../../src/kernel/compose/product.ts'
import { memoryBudget } from '../../src/kernel/config/memory-budget.ts'
import { PRODUCTS, productsOf } from './loaded-products.ts'
import { randomRuns } from '../random-runs.ts'

const GATEWAY = ['gateway'] as const
const namesOf = (config: Parameters<typeof productsOf>[0]): string[] =>
  productsOf(config).map(({ name }) => name)

t.test(
  'the names that the setting takes are those that products state, and all of them are the default',
  async (t) => {
    t.same(new Set(PRODUCTS.flatMap(({ listedAs }) => listedAs ?? [])), new Set(LISTED_PRODUCTS))
    const reading = readConfig([], {})
    t.match(reading, { kind: 'config', config: { products: LISTED_PRODUCTS } })
    t.match(readConfig(['--products', 'rpc,names'], {}), {
      kind: 'invalid',
      problems: [/^--products="rpc,names" .*is not one of data, stream/]
    })
  }
)

t.test('a gateway has the listed products, and what every gateway has', async (t) => {
  t.same(namesOf({ role: [...GATEWAY], products: ['rpc', 'transactions'] }), [
    ...[
      'store',
      'fleet',
      'ingest',
      'transactions',
      'rpc',
      'rpc-subscriptions',
      'access',
      'edge',
      'docs',
      'page'
    ]
  ])
  t.same(
    namesOf({ role: [...GATEWAY], products: [...LISTED_PRODUCTS] }),
    namesOf({ role: [...GATEWAY] }),
    'all of them are the products without a list'
  )
})

t.test('a list takes nothing from the roles ingest and delivery', async (t) => {
  for (const role of ['ingest', 'delivery'] as const)
    t.same(namesOf({ role: [role], products: ['rpc'] }), namesOf({ role: [role] }))
  const both = namesOf({ role: ['ingest', 'gateway'], products: ['rpc', 'transactions'] })
  for (const name of namesOf({ role: ['ingest'] })) t.ok(both.includes(name), name)
  t.notOk(both.includes('data'))
})

t.test('a list without a product that a listed one needs is refused by a line that names both', async (t) => {
  const refusal = (products: readonly ListedProduct[]): string | null =>
    listRefusal(PRODUCTS, { role: [...GATEWAY], products: [...products] })
  t.equal(
    refusal(['holders']),
    'MILLRACE_PRODUCTS=holders lists holders, which needs accounts; list it too, or leave out holders'
  )
  t.equal(
    refusal(['data']),
    'MILLRACE_PRODUCTS=data lists data, which needs accounts and transactions; list them too, or leave out data'
  )
  t.equal(refusal(['rpc', 'transactions']), null)
  t.equal(listRefusal(PRODUCTS, { role: ['ingest'], products: ['holders'] }), null, 'ingest serves no list')
  fc.assert(
    fc.property(fc.subarray([...LISTED_PRODUCTS]), (listed) => {
      const isWhole = PRODUCTS.every(
        ({ listedAs, needs = [] }) =>
          listedAs === undefined || !listed.includes(listedAs) || needs.every((each) => listed.includes(each))
      )
      return (refusal(listed) === null) === isWhole
    }),
    randomRuns(100)
  )
})

t.test('a gateway without data has no memory for windows and names, and more for the rest', async (t) => {
  const setup = { memoryMb: 512, source: 'rpc', storage: 'scylla', role: [...GATEWAY] } as const
  const all = memoryBudget({ ...setup, role: [...GATEWAY] })
  const some = memoryBudget({ ...setup, role: [...GATEWAY], products: ['rpc', 'transactions'] })
  t.match(some, { windows: 0, names: 0, mints: 0, pools: 0 })
  t.ok(some.rpcAnswers > all.rpcAnswers)
})
