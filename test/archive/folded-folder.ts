import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { openArchive } from '../../src/store/opening.ts'
import { readRecorded } from '../../src/recorded/read.ts'
import { scanRecorded } from '../../src/recorded/scan.ts'
import { CommitFeed } from '../../src/kernel/feed/commit-feed.ts'
import type { BlockCommit } from '../../storage/port.ts'
import { loneIngester } from '../actors/ingest/lone-ingester.ts'
import { portRows } from '../storage/port-rows.ts'
import { configIn } from './recorded-market.ts'

/**
 * Folds all blocks of a folder into an embedded store, with all venues. Returns its rows, without the stream's log, which an
 * archive does not have, and the commits that wrote them.
 */
export async function foldedFolder(t: Test, directory: string) {
  const dataDir = join(t.testdirName, 'embedded')
  // An earlier run of the test leaves its store, whose blocks have other times.
  await rm(dataDir, { recursive: true, force: true })
  const embedded = await openArchive(configIn(dataDir))
  t.teardown(() => embedded.close())
  const feed = new CommitFeed()
  const commits: BlockCommit[] = []
  feed.follow({ published: (commit) => commits.push(commit) })
  const ingester = await loneIngester(embedded, undefined, undefined, [], feed)
  for await (const block of readRecorded(await scanRecorded(directory)))
    await ingester.ingest({ block, commitment: 'finalized', receivedAtMs: block.blockTime * 1000 })
  const rows = await portRows(embedded, commits)
  return { whole: new Map([...rows].filter(([key]) => !key.startsWith('log of '))), commits }
}
