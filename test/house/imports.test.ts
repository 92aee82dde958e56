import { join } from 'node:path'
import t from 'tap'
import { readSources, type SourceFile } from './sources.ts'

/** Programs of users, which know the package alone; they are no part of the house. */
const EXAMPLE = /^src\/client\/examples\//
const sources = readSources(['src', 'actors', 'machines', 'storage']).filter(
  ({ path }) => !EXAMPLE.test(path)
)
/** Files of storage other than its ports, its pure encodings and its report. */
const STORAGE_ADAPTER =
  /^storage\/(?!port\/|codec\/(byte-reader|byte-writer|codes|key-table)\.ts|(port|access-documents|cluster\/coordination|documents|histories|document-definition|document-store)\.ts|report\/)/
const under = (...folders: string[]) =>
  sources.filter(({ path }) => folders.some((folder) => path.startsWith(folder)))

/** Imports of files that no pattern allows, as `file → import`. */
function strangers(files: readonly SourceFile[], allowed: readonly RegExp[]): string[] {
  return files.flatMap(({ path, imports }) =>
    imports
      .filter((name) => !allowed.some((pattern) => pattern.test(name)))
      .map((name) => `${path} → ${name}`)
  )
}

/** Imports of files that a pattern forbids. */
function trespasses(files: readonly SourceFile[], forbidden: readonly RegExp[]): string[] {
  return files.flatMap(({ path, imports }) =>
    imports
      .filter((name) => forbidden.some((pattern) => pattern.test(name)))
      .map((name) => `${path} → ${name}`)
  )
}

/** Commands of the products, and the command line. They lie above the service, and their folders among other floors. */
const COMMANDS = /^src\/(kernel\/cli\/|[\w-]+\/commands(\/|\.ts$))/
/** Declarations of products with their capabilities, and what opens the store and the source of a process. */
const WIRING =
  /^src\/(kernel\/compose\/(product|socket-owner)|[\w-]+\/(product|[\w-]+-product|capabilities)|store\/(opening|data-directory)|ingest\/(node-urls|sources)|archive\/(archive-place|import-tools))\.ts$/
/** The domain of a room whose files no floor below names. */
const DOMAIN = /^src\/[\w-]+\/[^/]+\.ts$/
/** Files for operators, written from the declarations of all rooms. */
const OPERATIONS = /^src\/operations\//
/** The form of a row of the list of products, which has commands. */
const PRODUCT_ROW = /^src\/kernel\/product-row\.ts$/

/**
 * The floors of the house from the ground up: a file imports from its own room and from floors below it. Rooms of one floor
 * do not import each other. A product's room reaches over several floors: its settings and errors lie low, its domain above
 * the store, its routes above HTTP, its wiring above the actors, its commands at the top. The first pattern that matches a
 * path is its room.
 */
const FLOORS: readonly (readonly RegExp[])[] = [
  [/^src\/chain\//],
  [/^src\/market\//],
  [
    /^src\/(kernel\/(collected-bytes|error-kind|errors|format-refusal|json-depth|running-process|time-limits)|ports|version)\.ts$/
  ],
  [
    /^src\/kernel\/request-effects\.ts$/,
    /^src\/kernel\/work\//,
    /^src\/[\w-]+\/errors\.ts$/,
    /^src\/kernel\/compose\/(capability|handle|published-order)\.ts$/
  ],
  [
    /^src\/kernel\/memory\//,
    /^src\/(kernel\/config\/|[\w-]+\/settings\.ts$)/,
    /^src\/signing\//,
    /^machines\//
  ],
  [/^storage\//],
  [
    /^src\/access\/[^/]+(?<!product|capabilities)\.ts$/,
    /^src\/archive\/(?!product|capabilities|archive-place|import-tools)[^/]+\.ts$/,
    /^src\/(kernel\/feed\/|data\/(?!product|capabilities)[^/]+\.ts$)/,
    /^src\/recorded\//,
    /^src\/localnet\//
  ],
  [/^src\/node\//, /^src\/archive\/(rows|facts)\//],
  [/^src\/ingest\/(block-queue|committed-blocks|coverage|decoding-\w+)\.ts$/],
  [
    /^src\/yellowstone\//,
    /^src\/(kernel\/telemetry\/|[\w-]+\/(\w+-)?metrics\.ts$)/,
    /^src\/accounts\/(pools\/|(?!product|capabilities)[^/]+\.ts$)/
  ],
  [/^src\/revenue\/(?!product|capabilities|ledger-feed)[^/]+\.ts$/],
  [/^src\/([\w-]+\/bodies\/|kernel\/http\/(schema|tenant-mark|time)\.ts$)/],
  [/^src\/stream\/(?!product|capabilities)[^/]+\.ts$/],
  [
    /^src\/webhooks\/(?!product|capabilities)[^/]+\.ts$/,
    /^src\/transactions\/(engine\/|tpu\/|(?!product|capabilities)[^/]+\.ts$)/
  ],
  [
    /^src\/program-accounts\/(?!product|capabilities)[^/]+\.ts$/,
    /^src\/holders\/(?!product|capabilities)[^/]+\.ts$/,
    /^src\/store\/(verify|backup)\//
  ],
  [/^src\/rpc\/(pubsub\/|(?!product|capabilities|subscriptions-product)[^/]+\.ts$)/],
  [DOMAIN],
  [/^src\/client\//, /^src\/(kernel\/http\/|[\w-]+\/routes\/)/],
  [/^src\/[\w-]+\/browser\//],
  [/^actors\//],
  [WIRING],
  [/^src\/service\.ts$/],
  [COMMANDS],
  [PRODUCT_ROW],
  [/^src\/products\.ts$/],
  [/^src\/configuration\.ts$/],
  [/^src\/program\.ts$/],
  [OPERATIONS],
  [/^src\/main\.ts$/]
]

const roomOf = (path: string): RegExp | undefined =>
  [COMMANDS, WIRING, PRODUCT_ROW, OPERATIONS, ...FLOORS.flat()].find((room) => room.test(path))
const floorOf = (path: string): number => FLOORS.findIndex((rooms) => rooms.includes(roomOf(path)!))

t.test('every file is in a room', async (t) => {
  t.same(
    sources.filter(({ path }) => roomOf(path) === undefined).map(({ path }) => path),
    []
  )
})

t.test('no import runs upward, nor to a neighbour on the same floor', async (t) => {
  const upward = sources.flatMap(({ path, imports }) =>
    imports
      .filter((name) => sources.some((source) => source.path === name))
      .filter((name) => roomOf(name) !== roomOf(path) && floorOf(name) >= floorOf(path))
      .map((name) => `${path} → ${name}`)
  )
  t.same(upward, [])
})

t.test('no files import each other in a circle, for types neither', async (t) => {
  const importsOf = new Map(sources.map(({ path, imports }) => [path, imports]))
  const settled = new Set<string>()
  const circles: string[] = []
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) circles.push([...trail.slice(trail.indexOf(path)), path].join(' → '))
    if (trail.includes(path) || settled.has(path)) return
    for (const name of importsOf.get(path) ?? []) visit(name, [...trail, path])
    settled.add(path)
  }
  for (const { path } of sources) visit(path, [])
  t.same(circles, [])
})

t.test('the pure core imports nothing but itself, no package and no module of Node either', async (t) => {
  t.ok(under('src/chain/').length > 10)
  t.same(strangers(under('src/chain/'), [/^src\/chain\//]), [])
  t.same(strangers(under('src/market/'), [/^src\/(chain|market)\//]), [])
})

t.test('the pure core reads no clock, no random and no environment', async (t) => {
  const impure = /\bDate\.now\(|new Date\(\)|Math\.random\(|\bprocess\.|performance\.now\(|setTimeout\(/
  t.same(
    under('src/chain/', 'src/market/')
      .filter(({ text }) => impure.test(text))
      .map(({ path }) => path),
    []
  )
})

t.test('machines import xstate and the pure core only', async (t) => {
  t.same(strangers(under('machines/'), [/^xstate$/, /^machines\//, /^src\/(chain|market)\//]), [])
})

t.test('the storage port speaks in words of the pure core', async (t) => {
  t.same(
    strangers(under('storage/port.ts', 'storage/port/', 'storage/document-store.ts'), [
      /^src\/(chain|market)\//,
      /^storage\/(document-store\.ts$|port\/)/
    ]),
    []
  )
})

t.test('a new file at the top of src is a new room', async (t) => {
  const loose = sources.map(({ path }) => path).filter((path) => /^src\/[^/]+$/.test(path))
  t.same(loose.toSorted(), [
    'src/configuration.ts',
    'src/main.ts',
    'src/ports.ts',
    'src/products.ts',
    'src/program.ts',
    'src/service.ts',
    'src/version.ts'
  ])
})

/** The form of a product has types of what it is given: the opened store, the report of decoding, the tree. */
const NAMES_PRODUCTS = ['src/kernel/compose/product.ts']

t.test('the kernel imports no product but the keys of tenants', async (t) => {
  const rooms = sources.flatMap(({ path }) => /^src\/([\w-]+)\/product\.ts$/.exec(path)?.[1] ?? [])
  t.ok(rooms.length > 10)
  const others = rooms.filter((room) => room !== 'access').join('|')
  const kernel = under('src/kernel/').filter(({ path }) => !NAMES_PRODUCTS.includes(path))
  t.same(trespasses(kernel, [new RegExp(`^(src|actors)/(${others})/`)]), [])
})

t.test('HTTP knows the port, never an adapter, a driver, a machine or an actor', async (t) => {
  const forbidden = [STORAGE_ADAPTER, /^(actors|machines)\//, /^xstate$/, /^classic-level$/]
  const http = sources.filter(({ path }) => /^src\/(kernel\/http|[\w-]+\/(routes|bodies))\//.test(path))
  t.ok(http.length > 100)
  t.same(trespasses(http, forbidden), [])
})

t.test('the localnet has byte layouts of its own, not those of the decoder that it tests', async (t) => {
  t.ok(under('src/localnet/').length > 10)
  t.same(trespasses(under('src/localnet/'), [/^src\/chain\/(venues\/|layout\.ts$)/]), [])
})

t.test('an example imports the client, modules of Node, and what its users install', async (t) => {
  const examples = readSources(['src/client/examples'])
  t.ok(examples.length > 4)
  t.same(strangers(examples, [/^millrace\/client$/, /^node:/, /^fastify$/, /^@solana\/web3\.js$/]), [])
})

t.test('the client of the stream takes types from the service, and nothing that runs', async (t) => {
  const running = /^import (?!type\b)[^']*from '\.\.\/|^export (?!type\b)[^']*from '\.\.\/|from '[^.]/m
  const client = under('src/client/')
  t.ok(client.length > 4)
  t.same(
    client
      .filter(({ text }) => running.test(text.replace("import type { z } from 'zod'", '')))
      .map(({ path }) => path),
    []
  )
})

/** Packages that a page's modules may name: the service serves them from `node_modules`. */
const PAGE_PACKAGES = ['preact', 'preact/hooks', 'lightweight-charts']

t.test('modules of a page run on packages for browsers, the client and the pure core alone', async (t) => {
  const browser = under('src/page/browser/')
  t.ok(browser.length > 10)
  const running = /(?:^|\n)(?:import|export) (?!type\b)[^'"`;]*?from '([^']+)'|import\('([^']+)'\)/g
  const foreign = browser.flatMap(({ path, text }) =>
    [...text.matchAll(running)]
      .map(([, from, lazy]) => (from ?? lazy)!)
      .filter((name) => !PAGE_PACKAGES.includes(name))
      .map((name) => (name.startsWith('.') ? join(path, '..', name) : name))
      .filter((name) => !/^src\/(page\/browser|client|chain|market)\//.test(name))
      .map((name) => `${path} → ${name}`)
  )
  t.same(foreign, [])
})

t.test(
  'only the openings of the store and of the coordination, and their TLS, name a storage adapter',
  async (t) => {
    const namers = under('src/', 'actors/', 'machines/').filter(({ imports }) =>
      imports.some((name) => STORAGE_ADAPTER.test(name))
    )
    t.same(
      namers.map(({ path }) => path),
      ['src/store/coordination.ts', 'src/store/opening.ts', 'src/store/tls-files.ts']
    )
  }
)

t.test('only the configuration reads the environment, and only main ends the process', async (t) => {
  const reading = sources.filter(({ text }) => /process\.env/.test(text)).map(({ path }) => path)
  const ending = sources.filter(({ text }) => /process\.exit\(/.test(text)).map(({ path }) => path)
  t.same(reading, ['src/kernel/config/config.ts'])
  t.same(ending, ['src/main.ts'])
})
