import type { Config } from '../../kernel/config/config.ts'
import { VENUE_IDS } from '../../chain/venue-id.ts'
import { readDecodingPeriods } from '../../ingest/decoding-periods.ts'
import { periodAt } from '../../market/decoding-period.ts'
import { blockOfRows } from '../../market/stored-block.ts'
import { systemPorts } from '../../ports.ts'
import type { ArchivePlace } from '../archive-place.ts'
import { FactWriter } from '../facts/fact-writer.ts'
import { newState, StoredState } from '../facts/import-state.ts'
import { MintDecimals } from '../facts/mint-decimals.ts'
import { archivedBlocks, isStoreThere, openArchive } from '../../store/opening.ts'
import type { FactStore, Storage } from '../../../storage/port.ts'

/**
 * Begins the state of an archive. An embedded archive of an earlier version has a store without facts: its blocks are read
 * from its rows. On a cluster they stay in the store alone, which can then only be continued.
 */
export async function beginState(
  config: Config,
  place: ArchivePlace,
  facts: FactStore,
  complain: (line: string) => void
): Promise<StoredState> {
  if (!(await isStoreThere(place.config))) return StoredState.begin(facts, newState(true))
  const storage = await openArchive(config, systemPorts, place)
  const { head, periods } = await contentOf(storage)
  if (head === null) return StoredState.begin(facts, newState(true))
  const decoded = new Set(periods.flatMap(({ venues }) => venues))
  const venues = VENUE_IDS.filter((venue) => decoded.has(venue))
  const usdMints = [...config.usdMints]
  if (config.storage !== 'embedded') return StoredState.begin(facts, { ...newState(false), venues, usdMints })
  complain('the archive is of an earlier version: its blocks are read once')
  // The state is stored last: an interrupted reading begins again.
  const unstored = StoredState.unstored(facts, newState(true))
  const writer = new FactWriter(facts, unstored, new MintDecimals(facts), null)
  for await (const stored of archivedBlocks(place.config)) {
    const block = blockOfRows(stored)
    if (block === null) continue
    const period = periodAt(periods, stored.slot)
    await writer.addBlock({
      block,
      decoderVersion: period?.decoderVersion ?? 0,
      venues: period?.venues ?? [],
      unseen: null
    })
  }
  await writer.flush()
  return StoredState.begin(facts, { ...newState(true), venues, usdMints })
}

async function contentOf(storage: Storage) {
  try {
    return { head: await storage.blocks.head(), periods: await readDecodingPeriods(storage) }
  } finally {
    await storage.close()
  }
}
