import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbeddedStorage } from '../storage/embedded/store.ts'
import type { BlockCommit, Storage } from '../storage/port.ts'
import { loneIngester } from '../test/actors/ingest/lone-ingester.ts'
import { readBlock, RECORDED_SLOT, recordedBlockText } from './recorded-block.ts'

/** The commits that ingest makes of the recorded block, repeated under new slots. */
export interface RecordedCommits {
  readonly commits: readonly BlockCommit[]
  /** An embedded store that has all of the commits, for comparison. */
  readonly reference: Storage
  /** Closes the reference store and deletes it. */
  readonly remove: () => Promise<void>
}

/** Decodes and folds `count` blocks with the code of ingest. */
export async function recordedCommits(count: number): Promise<RecordedCommits> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-commits-'))
  const reference = await openEmbeddedStorage({ directory })
  const recorded = readBlock(JSON.parse(recordedBlockText()))
  const commits: BlockCommit[] = []
  const commit = (block: BlockCommit): Promise<boolean> => {
    commits.push(block)
    return reference.blocks.commit(block)
  }
  const ingester = await loneIngester(reference, { commit, history: reference.history })
  for (let place = 0; place < count; place++) {
    const slot = RECORDED_SLOT + place
    const blockTime = recorded.blockTime + Math.floor(place * 0.4)
    const block = { ...recorded, slot, parentSlot: slot - 1, blockTime }
    const sourced = { block, commitment: 'confirmed', receivedAtMs: blockTime * 1_000 } as const
    await ingester.ingest(sourced)
  }
  return {
    commits,
    reference,
    async remove() {
      await reference.close()
      rmSync(directory, { recursive: true })
    }
  }
}
