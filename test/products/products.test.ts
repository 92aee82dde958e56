import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { appOf } from '../http/app-of.ts'
import type { Product } from '../../src/kernel/compose/product.ts'
import { SETTING_NAMES } from '../../src/configuration.ts'
import { variableOf, type SettingName } from '../../src/kernel/config/config.ts'
import type { ProductRow } from '../../src/kernel/product-row.ts'
import { PROGRAM } from '../../src/program.ts'
import { PRODUCT_ROWS } from '../../src/products.ts'
import { PRODUCTS, productsOf } from './loaded-products.ts'
import { CHANNEL_FORMS } from '../../src/stream/channel.ts'
import { processMetrics } from './process-metrics.ts'
import { ROOT } from '../house/sources.ts'
import { marketApp, type MarketApp } from '../http/market-app.ts'

const names = (products: readonly Product[]): string[] => products.map(({ name }) => name)

/** Returns the names of the settings of a row. */
const settingsOf = async ({ settings }: ProductRow): Promise<SettingName[]> =>
  Object.keys((await settings?.load()) ?? {}) as SettingName[]

/** Returns the paths that an app with some products answers. */
async function pathsOf(app: MarketApp, products: readonly Product[]): Promise<string[]> {
  const { decoding } = app.deps
  const built = appOf({ ...app.deps, metrics: processMetrics(decoding) }, products)
  await built.ready()
  const paths = built.served.map(({ endpoint }) => endpoint.path)
  await built.close()
  return paths
}

t.test('every setting belongs to one product', async (t) => {
  const owned = await Promise.all(PRODUCT_ROWS.map(settingsOf))
  t.same(owned.flat().toSorted(), SETTING_NAMES.toSorted())
})

t.test('every command belongs to one product, and none has the position of another', async (t) => {
  const commands = PRODUCT_ROWS.flatMap(({ commands = {} }) => Object.entries(commands))
  t.same(commands.map(([name]) => name).toSorted(), Object.keys(PROGRAM.commands).toSorted())
  const positions = commands.flatMap(([, { position }]) => position ?? [])
  t.same(positions.length, new Set(positions).size)
})

t.test('every channel belongs to one product', async (t) => {
  t.same(
    PRODUCTS.flatMap(({ channels = [] }) => channels),
    CHANNEL_FORMS
  )
})

t.test('an endpoint belongs to one product', async (t) => {
  const app = await marketApp(t)
  const paths = await Promise.all(PRODUCTS.map((product) => pathsOf(app, [product])))
  // `GET` and `POST` of tenants and keys share a path.
  const owners = paths.map((own) => new Set(own))
  const all = owners.flatMap((own) => [...own])
  t.ok(all.length > 20)
  t.same(all.length, new Set(all).size)
  t.same(new Set(await pathsOf(app, PRODUCTS)), new Set(all), 'and together they are the API')
})

t.test('a process has the products of its roles, in the order of their units', async (t) => {
  t.same(names(productsOf({ role: ['ingest', 'gateway', 'delivery'] })), names(PRODUCTS))
  t.same(names(productsOf({ role: ['gateway'] })), [
    'store',
    'fleet',
    'ingest',
    'archive',
    'data',
    'channels',
    'stream',
    'webhooks',
    'transactions',
    'accounts',
    'program-accounts',
    'holders',
    'revenue',
    'rpc',
    'rpc-subscriptions',
    'access',
    'edge',
    'docs',
    'page'
  ])
  t.same(names(productsOf({ role: ['delivery'] })), [
    'store',
    'fleet',
    'ingest',
    'channels',
    'webhooks',
    'delivery',
    'transactions',
    'tracking',
    'edge'
  ])
  t.same(names(productsOf({ role: ['ingest'] })), [
    'store',
    'fleet',
    'watches',
    'ingest',
    'program-accounts',
    'holders',
    'revenue',
    'edge',
    'retention'
  ])
})

t.test('the page on products has a section for each, with its settings, channels and paths', async (t) => {
  const page = readFileSync(join(ROOT, 'src/docs/products.md'), 'utf8')
  const sections = new Map(
    page
      .split(/^## /m)
      .slice(1)
      .map((text) => [text.slice(0, text.indexOf('\n')), text])
  )
  t.same([...sections.keys()], names(PRODUCTS))
  const app = await marketApp(t)
  for (const [index, product] of PRODUCTS.entries()) {
    const section = sections.get(product.name) ?? ''
    const settings = (await settingsOf(PRODUCT_ROWS[index]!)).map(variableOf)
    const said = [...settings, ...(product.channels ?? []), ...(await pathsOf(app, [product]))]
    t.same(
      said.filter((word) => !section.includes(`\`${word}\``)),
      [],
      product.name
    )
  }
})
