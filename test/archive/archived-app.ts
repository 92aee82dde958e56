import { join } from 'node:path'
import type { Test } from 'tap'
import { ServedArchive } from '../../src/archive/served-archive.ts'
import type { DecodedBlock } from '../../src/market/block.ts'
import { commitsOf } from './split-chain.ts'
import { modelStorage } from './model-storage.ts'
import { ownDirectory } from '../own-directory.ts'
import { marketApp, type MarketApp } from '../http/market-app.ts'

/** An app that has the beginning of a chain in an archive, and one that has the whole chain live. */
export interface ArchivedApps {
  readonly app: MarketApp
  readonly whole: MarketApp
  /** The newest block of the archive. */
  readonly end: DecodedBlock
  /** Reads of the archive since the last call. */
  readonly archiveReads: () => number
}

/** Returns an archive of some blocks, in memory, and the number of its reads since the last call. */
export function archiveOf(
  blocks: readonly DecodedBlock[],
  isAdjacent = false
): {
  readonly archive: ServedArchive
  readonly reads: () => number
} {
  const commits = commitsOf(blocks)
  const model = modelStorage(commits)
  const current = { storage: model.storage, first: commits[0]!.slot, last: commits.at(-1)!.slot, isAdjacent }
  const archive = new ServedArchive()
  archive.set({ archive: current, reason: null })
  return { archive, reads: () => model.readsSince() }
}

export async function archivedApps(
  t: Test,
  earlier: readonly DecodedBlock[],
  live: readonly DecodedBlock[],
  { isAdjacent = false } = {}
): Promise<ArchivedApps> {
  const { archive, reads } = archiveOf(earlier, isAdjacent)
  const directory = ownDirectory(t)
  const app = await marketApp(t, undefined, { archive, accounts: null, directory: join(directory, 'live') })
  const whole = await marketApp(t, undefined, { accounts: null, directory: join(directory, 'whole') })
  await app.commit(...live)
  await whole.commit(...earlier, ...live)
  return { app, whole, end: earlier.at(-1)!, archiveReads: reads }
}
