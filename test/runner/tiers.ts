import { readSources, type SourceFile } from '../house/sources.ts'

/** Files that start the service, a browser, a packer, an image or a copy of the house in separate processes. */
const STARTING = /^test\/(service|browser|client|cli)\/|^test\/house\/(image|\w+-recipe)\./
/** Helpers and packages that start third-party servers: Cassandra, Redis, the validator, Chromium. */
const SERVERS = /^(test\/servers\/|test\/node\/real-validator\.ts$|playwright-core$)/

/**
 * Files that take more than a minute of two cores. They start first, so that none is left for the end. A missing file makes
 * a run longer, and nothing else.
 */
const LONGEST = [
  'test/storage/scylla-faults.test.ts',
  'test/service/put-back.test.ts',
  'test/service/real-node.test.ts',
  'test/service/transactions-validator.test.ts',
  'test/localnet/node/validator.test.ts',
  'test/service/lost-coordination.test.ts',
  'test/storage/scylla-lives.test.ts',
  'test/storage/scylla-amendments.test.ts',
  'test/house/record-recipe.test.ts',
  'test/service/localnet-oracle.test.ts'
]

/**
 * Files with three CQL nodes or a validator, each of which takes both processors for itself and shows less where it does not
 * get them. One of them runs at a time.
 */
const HEAVY =
  /^test\/(storage\/scylla-faults|service\/(put-back|real-node|(transactions|program-accounts)-validator)|localnet\/node\/validator)\./
export const isHeavy = (path: string): boolean => HEAVY.test(path)

/**
 * Takes the next file to run from the first list that has one, or null where there is none now. While a heavy file runs no
 * other one is taken: who runs it takes those that are left.
 */
export function takeNext(lists: readonly string[][], heavyRuns: boolean): string | null {
  for (const list of lists) {
    const at = list.findIndex((file) => !heavyRuns || !isHeavy(file))
    if (at !== -1) return list.splice(at, 1)[0]!
  }
  return null
}

export interface TestFiles {
  /** Files that start processes or third-party servers, and mostly wait for them; the longest first. */
  readonly waiting: readonly string[]
  /** Files that compute in one process: pure code, HTTP, the embedded storage. */
  readonly computing: readonly string[]
}

/** Returns the test files by their kind of work, each list in the order to run them. */
export function testFiles(): TestFiles {
  const sources = new Map(readSources(['test']).map((source) => [source.path, source]))
  const all = [...sources.keys()].filter((path) => path.endsWith('.test.ts')).sort()
  const isWaiting = (path: string): boolean => STARTING.test(path) || reaches(sources, path, SERVERS)
  const waiting = all.filter(isWaiting)
  return {
    waiting: [...LONGEST.filter((path) => waiting.includes(path)), ...waiting.filter(isNotLongest)],
    computing: all.filter((path) => !isWaiting(path))
  }
}

const isNotLongest = (path: string): boolean => !LONGEST.includes(path)

/** Returns whether a file imports a matching name, directly or through other files of the tests. */
export function reaches(sources: ReadonlyMap<string, SourceFile>, path: string, name: RegExp): boolean {
  const seen = new Set<string>()
  const pending = [path]
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (seen.has(at)) continue
    seen.add(at)
    const { imports = [] } = sources.get(at) ?? {}
    if (imports.some((imported) => name.test(imported))) return true
    pending.push(...imports)
  }
  return false
}
