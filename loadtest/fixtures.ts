import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** The folder of recorded mainnet data; without it there is nothing to measure on. */
export function fixturesDirectory(): string {
  const directory = resolve(process.env.FIXTURES_DIR ?? '../shared/fixtures')
  if (!existsSync(join(directory, 'index.json'))) {
    throw new Error(`no recorded data in ${directory}; name its folder in FIXTURES_DIR`)
  }
  return directory
}

/** JSON files below a folder of the fixtures, as paths relative to the fixtures, in order of their names. */
export function listFixtures(directory: string, below: string): string[] {
  return readdirSync(join(directory, below), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.json'))
    .map((path) => join(below, path))
    .sort()
}
