import t from 'tap'
import type { BlockCommit } from '../../src/market/records.ts'
import type { SlotRow } from '../../src/market/rows.ts'
import { CommittedBlocks, type BlockObserver } from '../../src/ingest/committed-blocks.ts'
import type { SourcedBlock } from '../../src/node/block-source.ts'
import { CommitFeed } from '../../src/kernel/feed/commit-feed.ts'

t.test('all observers have committed a block before any takes the commit of the feed', async (t) => {
  const feed = new CommitFeed()
  // Others follow the feed before the blocks do.
  feed.follow({ published: () => undefined })
  const committed = new CommittedBlocks(feed)
  const heard: string[] = []
  const observer = (name: string): BlockObserver => ({
    read: ({ block: { slot } }) => {
      return () => void heard.push(`${name} commits ${slot}`)
    },
    published: ({ slot: { slot } }) => void heard.push(`${name} follows ${slot}`),
    jumped: () => void heard.push(`${name} jumps`)
  })
  const unsubscribe = committed.subscribe(observer('first'))
  committed.subscribe(observer('second'))
  committed.pending({ block: { slot: 1, blockhash: 'a' } } as SourcedBlock)
  feed.publish({ slot: { slot: 1, blockhash: 'a' } } as BlockCommit)
  t.strictSame(heard.splice(0), [
    'first commits 1',
    'second commits 1',
    'first follows 1',
    'second follows 1'
  ])
  committed.pending({ block: { slot: 2, blockhash: 'b' } } as SourcedBlock)
  feed.publish({ slot: { slot: 2, blockhash: 'of another process' } } as BlockCommit)
  t.strictSame(heard.splice(0), ['first follows 2', 'second follows 2'], 'the block of another fork')
  unsubscribe()
  feed.jump({ slot: 7 } as SlotRow)
  t.strictSame(heard, ['second jumps'])
})
