/**
 * Writes the store of this version's format into this folder, for the test that opens stores of earlier formats. Run it when
 * the format was raised, and before for the last store of the earlier one:
 *
 *     node test/storage/formats/write.ts NAME
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadReadSet, restoreMarket } from '../../../actors/ingest/market-loader.ts'
import type { DecodedBlock } from '../../../src/market/block.ts'
import { encodeLog } from '../../../src/stream/encode.ts'
import { openEmbeddedStorage } from '../../../storage/embedded/store.ts'
import { OPTIONS } from '../../market/world.ts'
import { FORMAT_CHAIN } from './chain.ts'
import { packFiles } from './stored-files.ts'

/** Folds a chain into a new store, as ingest does. */
export async function storeChain(directory: string, chain: readonly DecodedBlock[]): Promise<void> {
  const storage = await openEmbeddedStorage({ directory })
  const market = await restoreMarket(storage, null)
  for (const each of chain) {
    const prepared = market.prepare(each, OPTIONS)
    const fold = prepared.fold(await loadReadSet(storage, prepared.readSet))
    await storage.blocks.commit({ ...fold, log: encodeLog(fold, OPTIONS.cash) })
  }
  await storage.close()
}

if (import.meta.main) {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-format-'))
  await storeChain(join(directory, 'store'), FORMAT_CHAIN)
  writeFileSync(join(import.meta.dirname, `${process.argv[2]!}.bin`), packFiles(join(directory, 'store')))
  rmSync(directory, { recursive: true })
}
