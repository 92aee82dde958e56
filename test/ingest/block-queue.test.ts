import t from 'tap'
import type { Block } from '../../src/chain/transaction.ts'
import type { BlockCommit } from '../../src/market/records.ts'
import { CommittedBlocks } from '../../src/ingest/committed-blocks.ts'
import { CommitFeed } from '../../src/kernel/feed/commit-feed.ts'
import { LedgerBlocks } from '../../src/revenue/ledger-blocks.ts'
import { FollowedIndex } from '../followers/followed-index.ts'

const ADDRESS = '11111111111111111111111111111112'

const blockAt = (slot: number): Block => ({
  slot,
  blockTime: 0,
  parentSlot: slot - 1,
  blockhash: `${slot}`,
  height: slot,
  transactions: [],
  votes: 0
})

t.test('a block that is read before the first watch and committed after it is of this process', async (t) => {
  const index = new FollowedIndex(new LedgerBlocks())
  const sourced = { block: blockAt(1), commitment: 'processed', receivedAtMs: 0 } as const
  index.committed.pending(sourced)
  t.equal(index.blocks.watch(new Set([ADDRESS])), 1)
  index.hear(blockAt(1))
  t.strictSame(index.blocks.take(), [], 'it is neither queued nor missed')
  index.take(blockAt(2))
  index.hear(blockAt(3))
  t.match(index.blocks.take(), [
    { kind: 'block', block: { slot: 2 } },
    { kind: 'missed', reason: 'block 3 was read by another process' }
  ])
})

t.test('blocks of this process are never missed, whichever queue was made or subscribed first', async (t) => {
  const feed = new CommitFeed()
  // Others follow the feed before the blocks do.
  feed.follow({ published: () => undefined })
  const committed = new CommittedBlocks(feed)
  const queue = new LedgerBlocks()
  queue.watch(new Set([ADDRESS]))
  committed.subscribe(queue)
  for (const slot of [1, 2]) {
    committed.pending({ block: blockAt(slot), commitment: 'processed', receivedAtMs: 0 })
    feed.publish({ slot: { slot, blockhash: `${slot}` } } as BlockCommit)
  }
  t.match(queue.take(), [
    { kind: 'block', block: { slot: 1 } },
    { kind: 'block', block: { slot: 2 } }
  ])
})

t.test('a lost fork leaves the blocks from before it that were read again', async (t) => {
  const index = new FollowedIndex(new LedgerBlocks())
  index.blocks.watch(new Set([ADDRESS]))
  index.recall([1, 2, 3, 4].map(blockAt))
  index.committed.lost(2)
  t.strictSame(
    [0, 1, 2, 3].map((parent) => index.blocks.recalledAfter(parent)?.slot ?? null),
    [1, 2, null, null]
  )
})
