import t from 'tap'
import { readSources, type SourceFile } from './sources.ts'

const sources = readSources(['src', 'actors', 'machines', 'storage'])
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

t.test('the pure core imports nothing but itself', async (t) => {
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
  t.same(strangers(under('storage/port.ts'), [/^src\/(chain|market)\//]), [])
})

t.test('adapters know the port and the pure core, not the service', async (t) => {
  t.same(
    trespasses(under('storage/'), [
      /^src\/(http|bodies|cli|service|main|config|access|recorded)/,
      /^(actors|machines)\//
    ]),
    []
  )
})

t.test('actors know neither the composition root nor the process', async (t) => {
  t.same(trespasses(under('actors/'), [/^src\/(service|main|cli|config)/]), [])
})

t.test('HTTP knows the port, never an adapter, a driver, a machine or an actor', async (t) => {
  const forbidden = [/^storage\/(?!port\.ts)/, /^(actors|machines)\//, /^xstate$/, /^classic-level$/]
  t.same(trespasses(under('src/http/', 'src/bodies/', 'src/access/'), forbidden), [])
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

t.test('only the composition root names a storage adapter', async (t) => {
  const namers = under('src/', 'actors/', 'machines/').filter(({ imports }) =>
    imports.some((name) => /^storage\/(?!port\.ts)/.test(name))
  )
  t.same(
    namers.map(({ path }) => path),
    ['src/service.ts']
  )
})

t.test('only the configuration reads the environment, and only main ends the process', async (t) => {
  const reading = sources.filter(({ text }) => /process\.env/.test(text)).map(({ path }) => path)
  const ending = sources.filter(({ text }) => /process\.exit\(/.test(text)).map(({ path }) => path)
  t.same(reading, ['src/config.ts'])
  t.same(ending, ['src/main.ts'])
})
