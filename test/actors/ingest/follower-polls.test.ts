import t from 'tap'
import { catchUp, follow } from '../../../actors/ingest/follower.ts'
import { CommitFeed } from '../../../src/kernel/feed/commit-feed.ts'
import { extentOf, setExtent, type BlockExtent } from '../../../src/market/block-extent.ts'
import type { BlockCommit, Journal, Storage } from '../../../storage/port.ts'
import { emptyBlock } from '../../../storage/test/sample-blocks.ts'
import { settle, virtualClock, type VirtualClock } from '../../virtual-time.ts'

const SECONDS = 60
/** Milliseconds from block to block. */
const SLOT_MS = 400
const PROCESSES = 20

/** Moves the clock in steps that divide every interval, because a step fires one timer of a chain. */
async function advance(clock: VirtualClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 100) {
    await settle()
    clock.increment(100)
    await settle()
  }
}

/** Processes that follow a store, and the number of their reads of its head. */
function followers(hasHints: boolean) {
  const clock = virtualClock()
  const end = new AbortController()
  const commits: ReturnType<typeof emptyBlock>[] = []
  let reads = 0
  const heard = new Set<(slot: number | null) => void>()
  const hints = {
    available: true,
    subscribe: (follower: (slot: number | null) => void) => {
      heard.add(follower)
      return () => void heard.delete(follower)
    }
  }
  const storage = {
    blocks: {
      head: async () => {
        reads++
        return commits.at(-1)?.slot ?? null
      }
    },
    history: { amendments: async () => 0 },
    journal: {
      after: async (slot: number | null) => commits.filter((each) => each.slot.slot > (slot ?? -1))
    },
    isShared: true
  } as unknown as Storage
  const metrics = { headSlot: gauge(), headTime: gauge(), lagSlots: gauge() }
  const feeds = Array.from({ length: PROCESSES }, () => new CommitFeed())
  const running = feeds.map((feed) =>
    follow({ storage, hints: hasHints ? hints : null }, { feed, metrics, clock }, end.signal)
  )
  const commit = (isLost = false): void => {
    commits.push(emptyBlock(commits.length + 1))
    if (!isLost) for (const each of heard) each(commits.length)
  }
  const stop = async (): Promise<void> => {
    end.abort()
    clock.increment(10_000)
    await Promise.all(running)
  }
  const readsIn = async (act: () => Promise<void>): Promise<number> => {
    await settle()
    const before = reads
    await act()
    return reads - before
  }
  const slot = (): number | undefined => commits.at(-1)?.slot.slot
  return { clock, feeds, hints, commit, slot, stop, readsIn }
}

const gauge = () => ({ set: () => undefined }) as never

t.test(
  'with notifications the head is read once for each block and process, and hardly while none comes',
  async (t) => {
    const world = followers(true)
    const blocks = (SECONDS * 1_000) / SLOT_MS
    const busy = await world.readsIn(async () => {
      for (let block = 0; block < blocks; block++) {
        world.commit()
        await advance(world.clock, SLOT_MS)
      }
    })
    t.equal(busy, blocks * PROCESSES)
    for (const { head } of world.feeds) t.equal(head?.slot, world.slot())
    const idle = await world.readsIn(() => advance(world.clock, SECONDS * 1_000))
    t.equal(idle, SECONDS * PROCESSES, 'one poll a second')
    await world.stop()
  }
)

t.test('a lost notification costs a second once, and without notifications the head is polled', async (t) => {
  const world = followers(true)
  await settle()
  for (const withinMs of [1_000, 200, 200]) {
    world.commit(true)
    await advance(world.clock, withinMs)
    for (const { head } of world.feeds) t.equal(head?.slot, world.slot())
  }
  world.commit()
  await settle()
  const slow = await world.readsIn(() => advance(world.clock, 10_000))
  t.equal(slow, 10 * PROCESSES, 'a notification that arrives ends the fast polls')
  await world.stop()

  const polling = followers(false)
  const reads = await polling.readsIn(() => advance(polling.clock, 10_000))
  t.equal(reads, 50 * PROCESSES)
  await polling.stop()

  const cut = followers(true)
  cut.hints.available = false
  await advance(cut.clock, 2_000)
  const whileCut = await cut.readsIn(() => advance(cut.clock, 10_000))
  t.equal(whileCut, 50 * PROCESSES, 'notifications that do not arrive do not slow the polls')
  await cut.stop()
})

t.test('of each block as much is read as followers need when it is published', async (t) => {
  const reads: string[] = []
  let wanted: BlockExtent = 'slot'
  const feed = new CommitFeed()
  const heard: string[] = []
  feed.follow({
    published: (commit) => void heard.push(`${commit.slot.slot} ${extentOf(commit)}`),
    needs: (commit) => (wanted === 'rows' && extentOf(commit) === 'slot' ? 'digest' : wanted)
  })
  const blocks = [1, 2, 3, 4].map((slot) => {
    const block = emptyBlock(slot)
    setExtent(block, 'slot')
    return block
  })
  const journal = {
    after: async (slot: number | null) => blocks.filter((each) => each.slot.slot > (slot ?? -1)).slice(0, 1),
    read: async (block: BlockCommit, extent: BlockExtent) => {
      reads.push(`${block.slot.slot} ${extent}`)
      setExtent(block, extent)
      // A client comes while a block is read.
      if (block === blocks[2]) wanted = 'rows'
    }
  } as Journal
  const history = { amendments: async () => 0 } as unknown as Storage['history']
  const upTo = (at: number) =>
    catchUp({ journal, history }, feed, blocks[at]!.slot, new AbortController().signal)
  await upTo(0)
  wanted = 'digest'
  await upTo(2)
  await upTo(3)
  const slots = blocks.map(({ slot }) => slot.slot)
  t.strictSame(reads, [
    ...[`${slots[1]} digest`, `${slots[2]} digest`, `${slots[2]} rows`],
    ...[`${slots[3]} digest`, `${slots[3]} rows`]
  ])
  t.strictSame(heard, [`${slots[0]} slot`, `${slots[1]} digest`, `${slots[2]} rows`, `${slots[3]} rows`])
})

t.test('a block that cannot be read is not published, and is read again by the next poll', async (t) => {
  const feed = new CommitFeed()
  const heard: number[] = []
  feed.follow({ published: ({ slot }) => void heard.push(slot.slot) })
  const block = emptyBlock(1)
  setExtent(block, 'slot')
  let isAway = true
  const journal: Journal = {
    after: async () => [block],
    read: async (_, extent) => {
      if (isAway) throw new Error('the store does not answer')
      setExtent(block, extent)
    }
  }
  const history = { amendments: async () => 0 } as unknown as Storage['history']
  const { signal } = new AbortController()
  await t.rejects(catchUp({ journal, history }, feed, block.slot, signal), /does not answer/)
  t.strictSame([feed.head, heard], [null, []])
  isAway = false
  await catchUp({ journal, history }, feed, block.slot, signal)
  t.strictSame([feed.head, heard], [block.slot, [block.slot.slot]])
})
