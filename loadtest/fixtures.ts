import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** Returns the folder of recorded mainnet data (`FIXTURES_DIR`). Throws if it is missing. */
export function fixturesDirectory(): string {
  const directory = resolve(process.env.FIXTURES_DIR ?? '../shared/fixtures')
  if (!existsSync(join(directory, 'index.json'))) {
    throw new Error(`no recorded data in ${directory}; name its folder in FIXTURES_DIR`)
  }
  return directory
}

/** Returns the JSON files below a folder of the fixtures, as paths relative to the fixtures, sorted by name. */
export function listFixtures(directory: string, below: string): string[] {
  return readdirSync(join(directory, below), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.json'))
    .map((path) => join(below, path))
    .sort()
}
