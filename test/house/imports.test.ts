import t from 'tap'
import { readSources, type SourceFile } from './sources.ts'

const sources = readSources(['src', 'actors', 'machines', 'storage'])
/** Files of storage other than its ports and its report. */
const STORAGE_ADAPTER =
  /^storage\/(?!port\/|(port|access-documents|cluster\/coordination|documents|document-definition|document-store)\.ts|report\/)/
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

/**
 * The rooms of the house from the ground up: a file imports from its own room and from those below it. Rooms on one line do
 * not import each other.
 */
const FLOORS = [
  ['src/chain'],
  ['src/market'],
  ['src/errors.ts', 'src/json-depth.ts', 'src/ports.ts', 'src/time-limits.ts', 'src/version.ts'],
  ['src/request-effects.ts', 'src/work', 'src/compose'],
  ['src/memory', 'src/config', 'src/signing', 'machines'],
  ['storage'],
  ['src/access', 'src/archive', 'src/views', 'src/recorded', 'src/localnet'],
  ['src/node'],
  ['src/yellowstone', 'src/telemetry', 'src/accounts'],
  ['src/revenue'],
  ['src/api'],
  ['src/stream'],
  ['src/webhooks', 'src/transactions'],
  ['src/program-accounts', 'src/holders', 'src/verify'],
  ['src/rpc'],
  ['src/client', 'src/http'],
  ['actors'],
  ['src/products'],
  ['src/service.ts'],
  ['src/cli'],
  ['src/main.ts']
]

const roomOf = (path: string): string =>
  FLOORS.flat().find((room) => path === room || path.startsWith(`${room}/`)) ?? 'none'
const floorOf = (room: string): number => FLOORS.findIndex((rooms) => rooms.includes(room))

t.test('every file is in a room', async (t) => {
  t.same(
    sources.filter(({ path }) => roomOf(path) === 'none').map(({ path }) => path),
    []
  )
})

t.test('no import runs upward, nor to a neighbour on the same floor', async (t) => {
  const upward = sources.flatMap(({ path, imports }) =>
    imports
      .filter((name) => sources.some((source) => source.path === name))
      .filter((name) => roomOf(name) !== roomOf(path) && floorOf(roomOf(name)) >= floorOf(roomOf(path)))
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
    'src/errors.ts',
    'src/json-depth.ts',
    'src/main.ts',
    'src/ports.ts',
    'src/request-effects.ts',
    'src/service.ts',
    'src/time-limits.ts',
    'src/version.ts'
  ])
})

t.test('HTTP knows the port, never an adapter, a driver, a machine or an actor', async (t) => {
  const forbidden = [STORAGE_ADAPTER, /^(actors|machines)\//, /^xstate$/, /^classic-level$/]
  t.same(trespasses(under('src/http/', 'src/api/', 'src/access/'), forbidden), [])
})

t.test('the localnet has byte layouts of its own, not those of the decoder that it tests', async (t) => {
  t.ok(under('src/localnet/').length > 10)
  t.same(trespasses(under('src/localnet/'), [/^src\/chain\/(venues\/|layout\.ts$)/]), [])
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

t.test('only the opening of the store names a storage adapter', async (t) => {
  const namers = under('src/', 'actors/', 'machines/').filter(({ imports }) =>
    imports.some((name) => STORAGE_ADAPTER.test(name))
  )
  t.same(
    namers.map(({ path }) => path),
    ['src/products/opening.ts']
  )
})

t.test('only the configuration reads the environment, and only main ends the process', async (t) => {
  const reading = sources.filter(({ text }) => /process\.env/.test(text)).map(({ path }) => path)
  const ending = sources.filter(({ text }) => /process\.exit\(/.test(text)).map(({ path }) => path)
  t.same(reading, ['src/config/config.ts'])
  t.same(ending, ['src/main.ts'])
})
