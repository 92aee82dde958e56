import t from 'tap'
import { CommitFeed } from '../../src/kernel/feed/commit-feed.ts'
import { pubkeyMapKey, pubkeyToBase58, type Pubkey } from '../../src/chain/pubkey.ts'
import { digestOf } from '../../src/market/block-digest.ts'
import { extentOf, hasExtent } from '../../src/market/block-extent.ts'
import { CashList } from '../../src/market/cash.ts'
import { RECORD_NAMES, type RecordName } from '../../src/market/records.ts'
import { channelOf, type Channel } from '../../src/stream/channel.ts'
import { isFirstRow } from '../../src/stream/encode.ts'
import { endOf, StreamHub, type Reader } from '../../src/stream/hub.ts'
import { addDigest, addRows, packBlock, unpackBlock, unreadBlock } from '../../storage/codec/packed-block.ts'
import type { BlockCommit } from '../../storage/port.ts'
import { sampleBlock } from '../../storage/test/sample-blocks.ts'

const key = Buffer.from('j1')
const BLOCKS = 40

interface Followed {
  readonly decoded: Set<RecordName>
  readonly decodedBlocks: number
  readonly cursors: number[]
}

/** Blocks as a follower has them, and the events that a hub sends for them to readers of some channels. */
function followed(names: readonly string[]): Followed {
  const feed = new CommitFeed()
  const hub = new StreamHub(feed, new CashList(), (fault) => {
    throw fault
  })
  hub.follow()
  const cursors: number[] = []
  const reader: Reader = {
    owe: (frames) => cursors.push(...frames.cursors) > 0,
    endBlock: () => undefined,
    missed: () => undefined
  }
  const blocks: BlockCommit[] = []
  for (let index = 0; index < BLOCKS; index++) {
    blocks.push(unpackBlock(key, packBlock(key, sampleBlock(4, index))))
    feed.publish(blocks.at(-1)!)
    // The first block of a hub is read from the store.
    if (index === 0) for (const name of names) hub.join(channelOf(name) as Channel, reader)
  }
  const decoded = blocks.map((block) =>
    RECORD_NAMES.filter((name) => Object.getOwnPropertyDescriptor(block, name)?.get === undefined)
  )
  const decodedBlocks = decoded.filter(({ length }) => length > 0).length
  return { decoded: new Set(decoded.flat()), decodedBlocks, cursors }
}

t.test('a hub decodes no row of a followed block while its channels have no readers', async (t) => {
  t.strictSame([...followed([]).decoded], [])
})

t.test('a reader costs the decoding of the rows that its channel has', async (t) => {
  const launches = followed(['launches'])
  t.ok(launches.cursors.length > 0)
  t.strictSame([...launches.decoded].sort(), ['launches', 'log'])
  const curves = followed(['curves'])
  t.ok(curves.cursors.length > 0)
  t.strictSame([...curves.decoded].sort(), ['log', 'poolEvents'])
  const all = followed(['venue:pumpfun', 'launches', 'curves'])
  t.strictSame([...all.decoded].sort(), ['launches', 'log', 'poolEvents', 'trades'])
})

t.test('a channel of an address costs only the blocks that change it', async (t) => {
  // The first block is not published to readers.
  const blocks = Array.from({ length: BLOCKS }, (_, index) => sampleBlock(4, index)).slice(1)
  const changing = (address: Pubkey): number =>
    blocks.filter((block) => digestOf(block).has(pubkeyMapKey(address))).length
  const users = blocks.flatMap(({ trades }) => trades.filter(isFirstRow).map(({ user }) => user))
  const [user] = users.toSorted((a, b) => changing(a) - changing(b))
  const some = followed([`wallet:${pubkeyToBase58(user!)}`])
  t.ok(some.cursors.length > 0)
  t.ok(some.decoded.has('trades'))
  t.equal(some.decodedBlocks, changing(user!))
  t.ok(some.decodedBlocks < blocks.length)
  const none = followed([`trades:${pubkeyToBase58(new Uint8Array(32).fill(200))}`])
  t.strictSame([...none.decoded], [])
})

/** Blocks of a follower that reads what its hub needs: how much of each was read, and the cursors that a reader gets. */
function readFor(names: readonly string[], joinAt = 0) {
  const feed = new CommitFeed()
  const hub = new StreamHub(feed, new CashList(), (fault) => {
    throw fault
  })
  hub.follow()
  const cursors: number[] = []
  const missed: number[] = []
  const reader: Reader = {
    owe: (frames) => cursors.push(...frames.cursors) > 0,
    endBlock: () => undefined,
    missed: (after) => void missed.push(after)
  }
  const extents: string[] = []
  for (let index = 0; index < BLOCKS; index++) {
    const whole = sampleBlock(4, index)
    const bytes = packBlock(key, whole)
    const block = unreadBlock(whole.slot)
    while (!hasExtent(block, feed.neededOf(block)))
      if (feed.neededOf(block) === 'digest') addDigest(block, key, bytes.digest)
      else addRows(block, key, bytes)
    extents.push(extentOf(block))
    feed.publish(block)
    if (index === joinAt) for (const name of names) hub.join(channelOf(name) as Channel, reader)
  }
  return { hub, extents, cursors, missed }
}

t.test('a hub reads only the slots of followed blocks while its channels have no readers', async (t) => {
  const { hub, extents } = readFor([])
  t.strictSame(new Set(extents), new Set(['slot']))
  t.strictSame(hub.recentAfter(hub.head), [], 'at the head, nothing is missing')
  t.equal(hub.recentAfter(hub.head - 1), null, 'before it, the store has the events')
})

t.test(
  'a hub reads as much of a block as its channels need, and its readers get the same events',
  async (t) => {
    const blocks = Array.from({ length: BLOCKS }, (_, index) => sampleBlock(4, index)).slice(1)
    const { user } = blocks.flatMap(({ trades }) => trades.filter(isFirstRow))[0]!
    const wallet = `wallet:${pubkeyToBase58(user)}`
    for (const names of [
      ['launches'],
      ['curves'],
      ['venue:pumpfun', 'launches'],
      [wallet],
      [wallet, 'pools']
    ]) {
      const { extents, cursors, missed } = readFor(names)
      t.strictSame(cursors, followed(names).cursors, names.join())
      t.strictSame(missed, [])
      t.equal(extents[0], 'slot', 'the first block is read from the store')
      const digestsAlone = extents.filter((extent) => extent === 'digest').length
      const isByDigest = names.length === 1 && names[0] === wallet
      t.equal(digestsAlone > 0, isByDigest, names.join())
    }
    const late = readFor(['venue:pumpfun'], 20)
    t.strictSame(new Set(late.extents.slice(0, 21)), new Set(['slot']))
    t.strictSame(new Set(late.extents.slice(21)), new Set(['rows']))
    const { slot } = sampleBlock(4, 20)
    t.strictSame(
      late.cursors,
      followed(['venue:pumpfun']).cursors.filter((cursor) => cursor > endOf(slot))
    )
  }
)
