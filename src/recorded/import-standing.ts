import { standingOf, type StoredBlocks } from './chain-check.ts'
import type { RecordedIndex } from './scan.ts'
import type { CoverageStore } from '../../storage/port.ts'

/** A store that a folder is compared with. */
export interface ComparedStore {
  readonly blocks: StoredBlocks
  readonly coverage: Pick<CoverageStore, 'genesis'>
}

/** The outcome of a comparison, in lines for the operator. A refusal ends the import. */
export interface ImportStanding {
  readonly refusal: string | null
  readonly warnings: readonly string[]
}

/**
 * Compares a recorded folder with the archive that it is added to, and with the live store, whose chain it must be of.
 * `live` is null if no live store exists. Rejects with the store's error.
 */
export async function importStanding(
  index: RecordedIndex,
  archive: ComparedStore,
  live: ComparedStore | null
): Promise<ImportStanding> {
  const warnings: string[] = []
  const geneses = [await archive.coverage.genesis(), (await live?.coverage.genesis()) ?? null]
  if (geneses.every((hash) => hash !== null) && geneses[0] !== geneses[1])
    return { refusal: `the archive is of the genesis ${geneses[0]}, the index of ${geneses[1]}`, warnings }
  const ofArchive = await standingOf(index, archive.blocks)
  if (ofArchive.kind === 'other')
    return { refusal: `the folder is of another chain than the archive: ${ofArchive.detail}`, warnings }
  if (ofArchive.detail !== null)
    warnings.push(
      ofArchive.kind === 'same'
        ? `the folder has blocks of the archive's chain and of another chain: ${ofArchive.detail}`
        : `the folder is assumed to be of the archive's chain: ${ofArchive.detail}`
    )
  const ofLive = live === null ? null : await standingOf(index, live.blocks)
  if (ofLive?.kind === 'other')
    return { refusal: `the folder is of another chain than the index: ${ofLive.detail}`, warnings }
  return { refusal: null, warnings }
}
