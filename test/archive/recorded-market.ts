import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { configOf } from '../../src/configuration.ts'
import type { Config } from '../../src/kernel/config/config.ts'
import { withRawStore } from '../storage/embedded-directory.ts'
import { openMarket, recordMarket } from '../actors/ingest/market-blocks.ts'

/** A market's blocks in a recorded folder, one file a slot. */
export interface RecordedMarket {
  readonly directory: string
  /** Ascending. */
  readonly slots: readonly number[]
}

/** Records the first blocks of a localnet's market. The blocks depend only on the seed. */
export async function recordedMarket(t: Test, seed: string, count: number): Promise<RecordedMarket> {
  const market = await openMarket(seed, count)
  const directory = join(t.testdir(), 'blocks')
  try {
    // The chain's first block has no transaction, and the node does not serve it in the form of a recorded one.
    const blocks = market.blocks.filter(({ slot }) => slot > 0)
    await recordMarket(directory, market.url, blocks)
    return { directory, slots: blocks.map(({ slot }) => slot) }
  } finally {
    await market.close()
  }
}

/** Makes a folder of the files of some slots. */
export function folderOf({ directory }: RecordedMarket, slots: readonly number[], name: string): string {
  const folder = `${directory}-${name}`
  mkdirSync(folder)
  for (const slot of slots) symlinkSync(join(directory, `${slot}.json`), join(folder, `${slot}.json`))
  return folder
}

/** Makes a folder of the blocks of some slots an hour later, as another chain has them. */
export function laterFolder({ directory }: RecordedMarket, slots: readonly number[]): string {
  const folder = `${directory}-later`
  mkdirSync(folder)
  for (const slot of slots) {
    const text = readFileSync(join(directory, `${slot}.json`), 'utf8')
    const { block } = JSON.parse(text) as { block: { blockTime: number } }
    const later = { ...block, blockTime: block.blockTime + 3_600 }
    writeFileSync(join(folder, `${slot}.json`), JSON.stringify({ slot, block: later }))
  }
  return folder
}

/** Returns the configuration of a command in a data folder. */
export function configIn(dataDir: string): Config {
  const reading = configOf({ 'data-dir': dataDir }, {})
  if (reading.kind === 'invalid') throw new Error(reading.problems.join('\n'))
  return reading.config
}

/** First byte of the keys of documents, whose versions are random. */
const DOCUMENTS = 'D'.charCodeAt(0)

/** Returns all records of a closed embedded store but its documents, by key. */
export function recordsOf(directory: string): Promise<Record<string, string>> {
  return withRawStore(directory, async (raw) => {
    const records: Record<string, string> = {}
    for await (const [key, value] of raw.iterator())
      if (key[0] !== DOCUMENTS) records[key.toString('hex')] = value.toString('hex')
    return records
  })
}

/** Deletes all documents of a closed embedded store. */
export function deleteDocuments(directory: string): Promise<void> {
  return withRawStore(directory, async (raw) => {
    for await (const key of raw.keys()) if (key[0] === DOCUMENTS) await raw.del(key)
  })
}
