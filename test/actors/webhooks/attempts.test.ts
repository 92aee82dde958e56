import fc from 'fast-check'
import t from 'tap'
import { AttemptLog } from '../../../actors/webhooks/attempt-log.ts'
import {
  ATTEMPT_HISTORY,
  ATTEMPT_PAGE,
  ATTEMPTS_A_PAGE,
  ATTEMPTS_MAX,
  deleteAttempts,
  listAttempts,
  storeAttempts
} from '../../../src/webhooks/attempts.ts'
import { WEBHOOK, type DeliveryAttempt, type Webhook } from '../../../src/webhooks/webhook.ts'
import { progressAt } from '../../../actors/webhooks/progress-store.ts'
import { Documents, type Stored } from '../../../storage/documents.ts'
import { History } from '../../../storage/histories.ts'
import { randomRuns } from '../../random-runs.ts'
import { settle } from '../../virtual-time.ts'
import { sampleWebhook } from '../../webhooks/stored-webhook.ts'
import { MemoryDocuments } from './memory-documents.ts'
import { tenantShard } from '../../../src/access/tenant-shard.ts'

const DAY_MS = 86_400_000

/** An attempt that started at a time; each time has its own batch. */
const attemptAt = (startedAtMs: number, batchId = `batch-${startedAtMs}`): DeliveryAttempt => ({
  batchId,
  attempt: 1,
  statusCode: 200,
  error: null,
  events: 1,
  dropped: 0,
  startedAtMs,
  durationMs: 1,
  nextRetryAtMs: null
})

/** A stored webhook with its log of attempts. */
class LogWorld {
  readonly store = new MemoryDocuments()
  readonly faults: unknown[] = []
  readonly log = new AttemptLog(this.store, sampleWebhook(), (fault) => this.faults.push(fault))
  readonly #documents = new Documents(this.store, WEBHOOK)
  stored!: Stored<Webhook>

  static async make(): Promise<LogWorld> {
    const world = new LogWorld()
    const outcome = await world.#documents.insert(sampleWebhook())
    if (!outcome.ok) throw new Error(outcome.reason)
    world.stored = outcome.stored
    return world
  }

  /** Adds attempts as a delivery does: those that are in no page are written together with the progress. */
  async add(attempts: readonly DeliveryAttempt[]): Promise<void> {
    for (const attempt of attempts) {
      this.log.add(attempt)
      await this.write()
      await settle()
    }
    await this.write()
  }

  write(): Promise<void> {
    const progress = progressAt(this.stored.value, null, 0)
    return this.#documents.putHot(this.stored, 1, { ...progress, attempts: this.log.text })
  }

  /** Reads all pages of the list. */
  async list(limit: number, nowMs: number): Promise<number[]> {
    const starts: number[] = []
    for (let after: string | null = null; ;) {
      const page = await listAttempts(this.store, this.stored, { after, limit, nowMs })
      if (page.attempts.length > limit) throw new Error('a page is longer than its limit')
      starts.push(...page.attempts.map(({ startedAtMs }) => startedAtMs))
      after = page.next
      if (after === null) return starts
    }
  }

  async pages(): Promise<number> {
    return (await new History(this.store, ATTEMPT_HISTORY).newest(JSON.stringify(['acme', 7]), 1_000)).length
  }
}

const range = (from: number, count: number): number[] => Array.from({ length: count }, (_, n) => from + n)
const newestFirst = (starts: readonly number[]): number[] => starts.toSorted((a, b) => b - a)

t.test(
  'the list of attempts over stored pages and recent ones is newest first, each attempt once',
  async (t) => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(150),
        fc.nat(3),
        fc.integer({ min: 1, max: 60 }),
        async (count, tests, limit) => {
          const world = await LogWorld.make()
          const starts = range(1_000, count)
          await world.add(starts.map((each) => attemptAt(each)))
          const others = range(1_000 + count, tests)
          for (const each of others) await storeAttempts(world.store, 'acme', 7, [attemptAt(each)])
          t.same(await world.list(limit, 2_000), newestFirst([...starts, ...others]))
          t.ok(world.log.recent.length < ATTEMPTS_A_PAGE)
        }
      ),
      randomRuns(30)
    )
  }
)

t.test('an attempt that is in a page and beside the progress is listed once', async (t) => {
  const world = await LogWorld.make()
  const attempts = range(1, ATTEMPTS_A_PAGE).map((each) => attemptAt(each))
  await world.add(attempts.slice(0, -1))
  world.log.add(attempts.at(-1)!)
  await world.write()
  await settle()
  t.equal(await world.pages(), 1)
  t.same(await world.list(10, 100), newestFirst(range(1, ATTEMPTS_A_PAGE)))
})

t.test('attempts that move into a page while a list is read are in it', async (t) => {
  const world = await LogWorld.make()
  const attempts = range(1, ATTEMPTS_A_PAGE).map((each) => attemptAt(each))
  await world.add(attempts.slice(0, -1))
  const { store } = world
  const fenced = store.fenced.bind(store)
  // The slower of the two reads sees the store after the move, the faster one before it.
  store.fenced = async (documents) => {
    await settle()
    if (world.log.recent.length > 0) await world.add(attempts.slice(-1))
    return fenced(documents)
  }
  const listed = await listAttempts(store, world.stored, { limit: 100, nowMs: 100 })
  t.equal(listed.attempts.length, ATTEMPTS_A_PAGE)
})

t.test('a list that is read on while attempts are added repeats none and skips none', async (t) => {
  const world = await LogWorld.make()
  await world.add(range(1, 90).map((each) => attemptAt(each)))
  const first = await listAttempts(world.store, world.stored, { limit: 40, nowMs: 500 })
  await world.add(range(91, 40).map((each) => attemptAt(each)))
  const { next: after } = first
  const second = await listAttempts(world.store, world.stored, { after, limit: 100, nowMs: 500 })
  const starts = [...first.attempts, ...second.attempts].map(({ startedAtMs }) => startedAtMs)
  t.same(starts, newestFirst(range(1, 90)))
  t.equal(second.next, null)
})

t.test('attempts of one millisecond are listed once each over pages of one', async (t) => {
  const world = await LogWorld.make()
  const batches = ['c', 'a', 'd', 'b']
  await world.add(batches.map((batchId) => attemptAt(5, batchId)))
  t.same(await world.list(1, 100), [5, 5, 5, 5])
})

t.test('the newest 1,000 attempts of seven days are listed', async (t) => {
  const world = await LogWorld.make()
  const nowMs = 10 * DAY_MS
  await world.add([attemptAt(nowMs - 7 * DAY_MS), attemptAt(nowMs - 7 * DAY_MS + 1)])
  t.same(await world.list(100, nowMs), [nowMs - 7 * DAY_MS + 1])
  const starts = range(nowMs - 5_000, 1_300)
  await world.add(starts.map((each) => attemptAt(each)))
  t.same(await world.list(100, nowMs), newestFirst(starts).slice(0, ATTEMPTS_MAX))
  t.ok((await world.pages()) <= ATTEMPTS_MAX / ATTEMPTS_A_PAGE + 9, 'older pages are deleted')
})

t.test('pages of single test events do not push out the attempts of deliveries', async (t) => {
  const world = await LogWorld.make()
  const starts = range(1_000, 640)
  await world.add(starts.map((each) => attemptAt(each)))
  const tests = range(2_000, 40)
  for (const each of tests) await storeAttempts(world.store, 'acme', 7, [attemptAt(each)])
  await deleteAttempts(world.store, 'acme', 7)
  t.same(await world.list(200, 3_000), newestFirst([...starts, ...tests]))
})

t.test('a webhook that is deleted leaves no page', async (t) => {
  const world = await LogWorld.make()
  await world.add(range(1, 100).map((each) => attemptAt(each)))
  t.equal(await world.pages(), 3)
  await deleteAttempts(world.store, 'acme', 7, 0)
  t.equal(await world.pages(), 0)
})

t.test('pages of an earlier version are listed with later ones, and are deleted with them', async (t) => {
  const world = await LogWorld.make()
  const earlier = new Documents(world.store, ATTEMPT_PAGE)
  const attempts = range(1, 3).map((each) => attemptAt(each))
  await earlier.insert({ tenant: 'acme', id: 7, endMs: 3, batchId: 'batch-3', attempts })
  await world.add(range(4, 40).map((each) => attemptAt(each)))
  t.same(await world.list(9, 100), newestFirst(range(1, 43)))
  await deleteAttempts(world.store, 'acme', 7, 10)
  t.same((await earlier.list(tenantShard('acme'), { limit: 9 })).documents, [], 'ten later ones are left')
  t.equal(await world.pages(), 1)
})

t.test('an outage loses no attempt up to 64, and the next attempt stores them', async (t) => {
  const world = await LogWorld.make()
  world.store.isAway = true
  for (const each of range(1, 60)) {
    world.log.add(attemptAt(each))
    await settle()
  }
  t.equal(world.log.recent.length, 60)
  world.store.isAway = false
  await world.add([attemptAt(61)])
  t.same(await world.list(100, 100), newestFirst(range(1, 61)))
  t.same(world.faults, [])
})

t.test('a process that takes over goes on with the attempts beside the progress', async (t) => {
  const world = await LogWorld.make()
  await world.add(range(1, 20).map((each) => attemptAt(each)))
  const next = await LogWorld.make()
  next.log.restore(world.log.recent)
  await next.add(range(21, 20).map((each) => attemptAt(each)))
  t.same(await next.list(100, 100), newestFirst(range(1, 40)))
})
