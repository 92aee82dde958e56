import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Test } from 'tap'

/**
 * The recorded mainnet data that tests read: a folder next to the checkout, or FIXTURES_DIR. Its README describes its
 * content. Tests that need it are declared by testWithFixtures, so that a run without it is reported.
 */
const DIRECTORY = process.env.FIXTURES_DIR ?? join(import.meta.dirname, '../../shared/fixtures')
const REQUIRED = Boolean(process.env.CI) || Boolean(process.env.REQUIRE_FIXTURES)

export function fixturesDirectory(): string {
  return DIRECTORY
}

/** Declares a test that reads fixtures. Without them it is reported as NOT RUN, and fails if they are required. */
export function testWithFixtures(t: Test, name: string, run: (t: Test) => unknown): void {
  if (existsSync(join(DIRECTORY, 'index.json'))) {
    void t.test(name, async (t) => {
      await run(t)
    })
    return
  }
  const missing = `NOT RUN, there are no fixtures at ${DIRECTORY} (set FIXTURES_DIR): ${name}`
  process.stderr.write(`${missing}\n`)
  if (REQUIRED) t.fail(missing)
  else void t.test(missing, { skip: 'NOT RUN' }, () => undefined)
}

/** A transaction of the catalogue; the values that tests compare are under `expected`. */
export interface FixtureEntry {
  readonly signature: string
  readonly slot: number | null
  readonly venues: readonly string[]
  readonly aggregators: readonly string[]
  readonly kind: readonly string[]
  readonly instructions: Readonly<Record<string, readonly string[]>>
  readonly version: 'legacy' | 0 | 1
  readonly signature_verified: boolean
  readonly expected: readonly { readonly from: string; readonly values: readonly unknown[] }[]
  readonly notes: readonly string[]
  /** Path below the folder of the getTransaction result in encoding `json`. */
  readonly file: string
  /** Path of this result as jsonParsed, if the source had that. */
  readonly file_source?: string
}

export interface FixtureIndex {
  readonly transactions: readonly FixtureEntry[]
  readonly accounts: readonly Record<string, unknown>[]
  readonly vectors: readonly Record<string, unknown>[]
}

export function fixtureIndex(): FixtureIndex {
  return readFixture('index.json') as FixtureIndex
}

/** Returns the JSON of a file below the folder, gzipped or not. */
export function readFixture(path: string): unknown {
  const bytes = readFileSync(join(DIRECTORY, path))
  return JSON.parse((path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8'))
}

/** Returns the files below a folder of the fixtures, at any depth, as paths below the fixtures, sorted by name. */
export function fixtureFiles(folder: string): string[] {
  return readdirSync(join(DIRECTORY, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(DIRECTORY.length)
        .replace(/^[/\\]/, '')
    )
    .sort()
}

/** Returns every transaction of the catalogue with its getTransaction result. */
export function fixtureTransactions(): { readonly entry: FixtureEntry; readonly result: unknown }[] {
  return fixtureIndex().transactions.map((entry) => ({ entry, result: readFixture(entry.file) }))
}

export const BLOCK_SLOT = 254170887

/** Returns the getBlock result of slot BLOCK_SLOT: 602 transactions in base64, 158 of them votes. */
export function fixtureBlock(): { readonly transactions: Record<string, unknown>[] } & Record<
  string,
  unknown
> {
  return readFixture(`blocks/${BLOCK_SLOT}.json.gz`) as ReturnType<typeof fixtureBlock>
}

/** An account snapshot: a getAccountInfo result with base64 data. */
export interface FixtureAccount {
  readonly path: string
  readonly owner: string
  readonly data: Uint8Array
}

export function fixtureAccounts(venue: string): FixtureAccount[] {
  return fixtureFiles(`accounts/${venue}`).map((path) => {
    const { value } = readFixture(path) as { value: { owner: string; data: [string, string] } }
    return { path, owner: value.owner, data: new Uint8Array(Buffer.from(value.data[0], 'base64')) }
  })
}
