import fc from 'fast-check'
import t from 'tap'
import { CommitFeed } from '../../src/kernel/feed/commit-feed.ts'
import type { Answer } from '../../src/kernel/http/answer.ts'
import { ResponseCache } from '../../src/kernel/http/response-cache.ts'
import type { RefreshTrigger } from '../../src/kernel/http/invalidation-index.ts'
import type { TokenRow } from '../../src/market/registry-rows.ts'
import { key, NOON } from '../market/world.ts'
import { virtualClock } from '../virtual-time.ts'
import { randomRuns } from '../random-runs.ts'
import { emptyCommit } from './commits.ts'

const ROUTE = { path: '/', scope: 'any-key' } as const

const OWNERS = 5
const TRIGGERS: readonly RefreshTrigger[] = ['tags', 'minute', 'block']

interface Question {
  readonly owners: readonly number[]
  readonly trigger: RefreshTrigger
  readonly follows: boolean
  readonly padding: number
}

interface Block {
  readonly owners: readonly number[]
  readonly seconds: number
  /** Whether the feed publishes it; else it is discovered by the stored head, as after a restart. */
  readonly isPublished: boolean
}

interface Step {
  /** The request to make and the block to commit; with both, the commit happens while the answer is made. */
  readonly ask: number | null
  readonly commit: Block | null
}

const block: fc.Arbitrary<Block> = fc.record({
  owners: fc.uniqueArray(fc.nat(OWNERS - 1), { maxLength: 2 }),
  seconds: fc.oneof(fc.constant(0), fc.integer({ min: -30, max: 70 })),
  isPublished: fc.integer({ min: 0, max: 9 }).map((n) => n > 0)
})
const step: fc.Arbitrary<Step> = fc.record({
  ask: fc.option(fc.nat(3), { freq: 5 }),
  commit: fc.option(block, { freq: 2 })
})
const question: fc.Arbitrary<Question> = fc.record({
  owners: fc.uniqueArray(fc.nat(OWNERS - 1), { maxLength: 3 }),
  trigger: fc.constantFrom(...TRIGGERS),
  follows: fc.boolean(),
  padding: fc.constantFrom(0, 300, 3000)
})

/** A market in which each tag has the slot of its last change, with cached answers. */
class World {
  readonly feed = new CommitFeed()
  readonly responseCache: ResponseCache
  readonly changed = Array.from({ length: OWNERS }, () => 0)
  readonly questions: readonly Question[]
  slot = 1
  time = NOON

  constructor(questions: readonly Question[], limits: { bytesMax: number; ownersMax: number }) {
    this.questions = questions
    this.feed.restore(emptyCommit(this.slot, this.time).slot)
    this.responseCache = new ResponseCache(this.feed, virtualClock(), limits)
    this.responseCache.follow()
  }

  commit({ owners, seconds, isPublished }: Block): void {
    this.slot += 1 + (this.slot % 3)
    this.time += seconds
    for (const owner of owners) this.changed[owner] = this.slot
    const tokens = owners.map((owner) => ({ mint: key(owner) }) as TokenRow)
    const commit = { ...emptyCommit(this.slot, this.time), tokens }
    if (isPublished) this.feed.publish(commit)
    else this.feed.restore(commit.slot)
  }

  expected(index: number): string {
    const { owners, trigger, follows, padding } = this.questions[index]!
    return JSON.stringify({
      owners: owners.map((owner) => this.changed[owner]),
      minute: trigger === 'minute' ? Math.floor(this.time / 60) : null,
      slot: trigger === 'block' ? this.slot : null,
      time: follows ? this.time : null,
      padding: 'x'.repeat(padding)
    })
  }

  /** Answers a question; `meanwhile` runs after its data was read and before the answer is made. */
  async answer(index: number, meanwhile: () => void): Promise<string> {
    const name = String(index)
    const kept = this.responseCache.fresh(name)
    if (kept !== null) {
      meanwhile()
      return kept.rendering.bytes.toString()
    }
    let times = 0
    const made = await this.responseCache.make(name, ROUTE, async () => {
      const answer = this.make(index)
      if (times++ === 0) meanwhile()
      return answer
    })
    return made.bytes.toString()
  }

  make(index: number): Answer<unknown> {
    const { owners, trigger, follows } = this.questions[index]!
    const read = JSON.parse(this.expected(index)) as object
    return {
      body: follows ? (headTime: number) => ({ ...read, time: headTime }) : read,
      dependsOn: owners.map(key),
      changesWith: trigger
    }
  }
}

t.test(
  'an answer that is kept is never served once a new one would differ, whatever the limits',
  async (t) => {
    let served = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(question, { minLength: 4, maxLength: 4 }),
        fc.record({
          bytesMax: fc.constantFrom(0, 30_000, 100_000),
          ownersMax: fc.constantFrom(0, 1, 3, 100)
        }),
        fc.array(step, { maxLength: 40 }),
        async (questions, limits, steps) => {
          const world = new World(questions, limits)
          for (const { ask, commit } of steps) {
            const before = ask === null ? '' : world.expected(ask)
            const meanwhile = () => void (commit === null || world.commit(commit))
            if (ask === null) meanwhile()
            else {
              const answer = await world.answer(ask, meanwhile)
              // An answer during which blocks may have been removed is made again.
              const after = commit?.isPublished === false ? world.expected(ask) : before
              if (answer !== before && answer !== after) throw new Error(`not ${before}`)
              served++
            }
            if (world.responseCache.bytes > limits.bytesMax)
              throw new Error(`${world.responseCache.bytes} bytes are kept`)
          }
        }
      ),
      randomRuns(400)
    )
    t.ok(served > 1000)
  }
)

t.test('a cached answer is served without being rendered again', async (t) => {
  const world = new World([{ owners: [0], trigger: 'tags', follows: false, padding: 0 }], {
    bytesMax: 1e6,
    ownersMax: 100
  })
  let made = 0
  const make = async () => {
    made++
    return world.make(0)
  }
  await Promise.all([world.responseCache.make('x', ROUTE, make), world.responseCache.make('x', ROUTE, make)])
  t.equal(made, 1, 'two requests at one head share one making')
  world.commit({ owners: [1], seconds: 5, isPublished: true })
  t.ok(world.responseCache.fresh('x'))
  world.commit({ owners: [0], seconds: 5, isPublished: true })
  t.equal(world.responseCache.fresh('x'), null)
})

t.test('a request after a block does not join a rendering that began before it', async (t) => {
  const world = new World([{ owners: [0], trigger: 'tags', follows: false, padding: 0 }], {
    bytesMax: 1e6,
    ownersMax: 100
  })
  let release = (): void => undefined
  const early = world.make(0)
  const slow = world.responseCache.make('x', ROUTE, async () => {
    await new Promise<void>((resolve) => (release = resolve))
    return early
  })
  world.commit({ owners: [0], seconds: 5, isPublished: true })
  const expected = world.expected(0)
  const late = await world.responseCache.make('x', ROUTE, async () => world.make(0))
  t.equal(late.bytes.toString(), expected)
  release()
  t.not((await slow).bytes.toString(), expected)
  const kept = world.responseCache.fresh('x')?.rendering.bytes.toString()
  t.ok(kept === undefined || kept === expected, 'the early answer does not come back')
})
