import t from 'tap'
import { CommitFeed } from '../../../src/kernel/feed/commit-feed.ts'
import type { BlockExtent } from '../../../src/market/block-extent.ts'
import { noRows, type BlockCommit } from '../../../src/market/records.ts'

/** Returns a block without an event. */
function commitOf(slot: number): BlockCommit {
  const counts = { transactions: 0, trades: 0, events: 0 }
  return {
    slot: { slot, blockTime: slot, parentSlot: null, blockhash: null, receivedAtMs: 0, ...counts },
    ...noRows()
  }
}

/** A feed, and the slots that a follower receives. */
function followed() {
  const feed = new CommitFeed()
  const published: number[] = []
  feed.follow({ published: ({ slot }) => void published.push(slot.slot) })
  return { feed, published }
}

const written = { commit: async () => true }
const lost = { commit: () => Promise.reject(new Error('the answer is lost')) }

t.test('a block is published once it is committed, and is the head then', async (t) => {
  const { feed, published } = followed()
  const answer = Promise.withResolvers<boolean>()
  const committed = feed.commit(commitOf(7), { commit: () => answer.promise })
  t.strictSame([feed.head, published], [null, []])
  answer.resolve(true)
  await committed
  t.strictSame([feed.head?.slot, published], [7, [7]])
})

t.test('a block that the store had already is not published', async (t) => {
  const { feed, published } = followed()
  await feed.commit(commitOf(7), { commit: async () => false })
  t.strictSame([feed.head, published], [null, []])
})

t.test(
  'a block whose commit was made but not answered is published when the store is taken up',
  async (t) => {
    const { feed, published } = followed()
    await feed.commit(commitOf(7), written)
    await t.rejects(feed.commit(commitOf(8), lost))
    t.strictSame(published, [7])
    feed.restore(commitOf(8).slot)
    t.strictSame([feed.head?.slot, published], [8, [7, 8]])
    feed.restore(commitOf(8).slot)
    t.strictSame(published, [7, 8])
  }
)

t.test('a block whose commit was not made is published when it is made', async (t) => {
  const { feed, published } = followed()
  await feed.commit(commitOf(7), written)
  await t.rejects(feed.commit(commitOf(8), lost))
  const { head } = feed
  feed.restore(commitOf(7).slot)
  t.equal(feed.head, head, 'the head is the same')
  t.strictSame(published, [7])
  await feed.commit(commitOf(8), written)
  t.strictSame(published, [7, 8])
})

/** A store that answers when the test says so. */
function answering() {
  const answers: PromiseWithResolvers<boolean>[] = []
  const commit = (): Promise<boolean> => {
    const answer = Promise.withResolvers<boolean>()
    answers.push(answer)
    return answer.promise
  }
  return { commit, answers }
}

t.test(
  'blocks of which several are in flight are published in their order, each once it is answered',
  async (t) => {
    const { feed, published } = followed()
    const store = answering()
    const commits = [7, 8, 9].map((slot) => feed.commit(commitOf(slot), store))
    store.answers[0]!.resolve(true)
    await commits[0]
    t.strictSame(published, [7])
    for (const { resolve } of store.answers) resolve(true)
    await Promise.all(commits)
    t.strictSame([feed.head?.slot, published], [9, [7, 8, 9]])
  }
)

t.test(
  'behind a block whose answer was lost none is published, until the store says what it has come to',
  async (t) => {
    for (const [head, expected] of [
      [6, [6]],
      [8, [6, 7, 8]],
      [9, [6, 7, 8, 9]]
    ] as const) {
      const { feed, published } = followed()
      await feed.commit(commitOf(6), written)
      const store = answering()
      const commits = [7, 8, 9].map((slot) => feed.commit(commitOf(slot), store))
      store.answers[0]!.reject(new Error('the answer is lost'))
      await t.rejects(commits[0]!)
      for (const { resolve } of store.answers) resolve(true)
      await Promise.all(commits.slice(1))
      t.strictSame([feed.head?.slot, published], [6, [6]])
      feed.restore(commitOf(head).slot)
      t.strictSame([feed.head?.slot, published], [head, expected])
      await feed.commit(commitOf(head + 1), written)
      t.strictSame(published, [...expected, head + 1], 'the feed goes on from there')
    }
  }
)

t.test('a block in flight is not published once it is forgotten', async (t) => {
  const { feed, published } = followed()
  await t.rejects(feed.commit(commitOf(7), lost))
  const store = answering()
  const late = feed.commit(commitOf(8), store)
  feed.forget()
  store.answers[0]!.resolve(true)
  await late
  t.strictSame(published, [])
  feed.publish(commitOf(7))
  await feed.commit(commitOf(8), written)
  t.strictSame(published, [7, 8], 'a journal tells of it, and further commits')
})

t.test('a follower that fails keeps no block from the others', async (t) => {
  const feed = new CommitFeed()
  feed.follow({
    published: () => {
      throw new Error('a defect')
    }
  })
  const published: number[] = []
  const unfollow = feed.follow({ published: ({ slot }) => void published.push(slot.slot) })
  await t.rejects(feed.commit(commitOf(7), written), { message: 'a follower of the feed failed' })
  feed.restore(commitOf(7).slot)
  t.strictSame([feed.head?.slot, published], [7, [7]], 'and it counts as published')
  unfollow()
  await t.rejects(feed.commit(commitOf(8), written))
  t.strictSame(published, [7])
})

t.test('a block that is published from a journal and by its own commit is published once', async (t) => {
  const { feed, published } = followed()
  await feed.commit(commitOf(7), written)
  const answer = Promise.withResolvers<boolean>()
  const committed = feed.commit(commitOf(8), { commit: () => answer.promise })
  feed.publish(commitOf(8))
  feed.publish(commitOf(9))
  answer.resolve(true)
  await committed
  feed.publish(commitOf(8))
  t.strictSame([feed.head?.slot, published], [9, [7, 8, 9]])
  await t.rejects(feed.commit(commitOf(10), lost))
  feed.publish(commitOf(10))
  feed.restore(commitOf(10).slot)
  t.strictSame(published, [7, 8, 9, 10], 'nor a block whose answer was lost')
})

t.test('a head that moves without a block is a jump, and nothing else is', async (t) => {
  const { feed, published } = followed()
  let jumps = 0
  const unsubscribe = feed.onJump(() => jumps++)
  feed.restore(null)
  t.equal(jumps, 0, 'still empty')
  feed.restore(commitOf(5).slot)
  t.equal(jumps, 1)
  await t.rejects(feed.commit(commitOf(6), lost))
  feed.restore(commitOf(6).slot)
  feed.restore(commitOf(6).slot)
  feed.publish(commitOf(7))
  t.strictSame([jumps, published], [1, [6, 7]], 'a block that is published is none')
  feed.restore(commitOf(90).slot)
  t.strictSame([jumps, feed.head?.slot, published], [2, 90, [6, 7]])
  feed.publish(commitOf(91))
  t.strictSame(published, [6, 7, 91], 'the feed goes on from there')
  unsubscribe()
  feed.restore(commitOf(95).slot)
  t.equal(jumps, 2)
})

t.test('blocks that the store answers in one turn are published together, others alone', async (t) => {
  const feed = new CommitFeed()
  const said: (number | 'end')[] = []
  feed.follow({
    published: ({ slot }) => void said.push(slot.slot),
    ended: () => void said.push('end')
  })
  const store = answering()
  const commits = [7, 8, 9, 10].map((slot) => feed.commit(commitOf(slot), store))
  store.answers[0]!.resolve(true)
  await commits[0]
  t.strictSame(said.splice(0), [7, 'end'])
  for (const { resolve } of store.answers) resolve(true)
  await Promise.all(commits)
  t.strictSame(said.splice(0), [8, 9, 10, 'end'])
  feed.publishAll([commitOf(10), commitOf(11)])
  feed.publishAll([])
  t.strictSame(said, [11, 'end'])
})

t.test('a follower that fails at one of several blocks gets the others, and their end is told', async (t) => {
  const feed = new CommitFeed()
  const said: (number | 'end')[] = []
  feed.follow({
    published: ({ slot }) => {
      said.push(slot.slot)
      if (slot.slot === 7) throw new Error('a defect')
    },
    ended: () => void said.push('end')
  })
  t.throws(() => feed.publishAll([commitOf(7), commitOf(8)]), { message: 'a follower of the feed failed' })
  t.strictSame(said, [7, 8, 'end'])
})

t.test('a block is needed as far as the follower that reads most of it needs it', async (t) => {
  const feed = new CommitFeed()
  t.equal(feed.neededOf(commitOf(1)), 'slot', 'without a follower')
  const follow = (extent: BlockExtent) => feed.follow({ published: () => undefined, needs: () => extent })
  follow('slot')
  t.equal(feed.neededOf(commitOf(1)), 'slot')
  const unfollow = follow('digest')
  follow('slot')
  t.equal(feed.neededOf(commitOf(1)), 'digest')
  const ofRows = feed.follow({ published: () => undefined })
  t.equal(feed.neededOf(commitOf(1)), 'rows', 'who says nothing reads all')
  ofRows()
  unfollow()
  t.equal(feed.neededOf(commitOf(1)), 'slot')
})
