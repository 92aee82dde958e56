import { join } from 'node:path'
import type { Test } from 'tap'
import type { Block } from '../../src/chain/transaction.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import type { BlockCommit, Storage } from '../../storage/port.ts'
import { loneIngester } from '../actors/ingest/lone-ingester.ts'

/** A market in two stores: one retains everything, the other is swept. */
export interface SweptMarket {
  readonly whole: Storage
  readonly swept: Storage
  readonly directory: string
  readonly commits: readonly BlockCommit[]
}

/** Returns the blocks with times that are some seconds apart. */
export function stretched(blocks: readonly Block[], seconds: number): Block[] {
  const [first] = blocks
  return blocks.map((block, n) => ({ ...block, blockTime: first!.blockTime + n * seconds }))
}

/** Ingests blocks into two stores and sweeps one of them, which is reopened without a retention. */
export async function sweptMarket(
  t: Test,
  blocks: readonly Block[],
  retentionOf: (commits: readonly BlockCommit[]) => number
): Promise<SweptMarket> {
  const place = t.testdir()
  const directory = join(place, 'store')
  const whole = await openEmbeddedStorage({ directory: join(place, 'whole') })
  const filling = await openEmbeddedStorage({ directory })
  const commits: BlockCommit[] = []
  const both = await loneIngester(whole, {
    history: whole.history,
    async commit(block, ...rest) {
      commits.push(block)
      await filling.blocks.commit(block)
      return whole.blocks.commit(block, ...rest)
    }
  })
  for (const block of blocks) await both.ingest({ block, commitment: 'confirmed', receivedAtMs: 1 })
  await filling.close()
  const sweeping = await openEmbeddedStorage({ directory, retentionSeconds: retentionOf(commits) })
  await sweepAll(sweeping)
  await sweeping.close()
  const swept = await openEmbeddedStorage({ directory })
  t.teardown(() => Promise.all([whole.close(), swept.close()]))
  return { whole, swept, directory, commits }
}

/** Runs every step of a sweep that is due. */
export async function sweepAll(storage: Storage): Promise<void> {
  while (await storage.sweeper!.step());
}
