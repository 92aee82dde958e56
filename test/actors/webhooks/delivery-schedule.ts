import fc from 'fast-check'
import { pubkeyToBase58 } from '../../../src/chain/pubkey.ts'
import { blockOf, VENUES, WALLETS } from '../../stream/blocks.ts'
import { channelNamed } from '../../stream/stream-world.ts'
import { settle } from '../../virtual-time.ts'
import { DeliveryModel, isSuccess, sinceOf } from './delivery-model.ts'
import { DeliveryWorld, type Answer, type Received } from './delivery-world.ts'

const CHANNELS = [...VENUES.map((venue) => `venue:${venue}`), `wallet:${pubkeyToBase58(WALLETS[0]!)}`]

const anySpecs = fc.array(fc.nat(69), { maxLength: 40 })
const anyAnswer: fc.Arbitrary<Answer> = fc.constantFrom(
  ...([200, 204, 500, 500, 429, 'timeout', 'connection_reset', 410, 'too_many_posts'] as const)
)
const anyWait = fc.constantFrom(100, 500, 5_000, 30_000)
const anySince = fc.option(fc.nat(1_000))

/** A step of a schedule. */
const anyStep = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant('commit' as const), events: anySpecs }) },
  { weight: 8, arbitrary: fc.record({ type: fc.constant('flow' as const), events: anySpecs }) },
  { weight: 5, arbitrary: fc.record({ type: fc.constant('pass' as const), ms: anyWait }) },
  { weight: 6, arbitrary: fc.record({ type: fc.constant('answer' as const), answer: anyAnswer }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('refuse' as const), answer: anyAnswer }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('kill' as const), answer: fc.option(anyAnswer) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('drain' as const), answer: anyAnswer }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('rotate' as const) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('delete' as const) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('enable' as const), since: anySince }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('revive' as const), events: anySpecs }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('jump' as const), events: anySpecs }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('fork' as const),
      lost: fc.integer({ min: 1, max: 3 }),
      events: anySpecs,
      isKilled: fc.boolean()
    })
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('takeover' as const),
      answer: fc.option(anyAnswer),
      events: anySpecs,
      ms: fc.constantFrom(2_000, 40_000)
    })
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('outage' as const), ms: fc.constantFrom(300, 3_000) })
  }
)
export type Step = typeof anyStep extends fc.Arbitrary<infer S> ? S : never
export const anySchedule = fc.array(anyStep, { maxLength: 40 })

/** Counts over all schedules, so that a test can check that they reach the cases that it covers. */
export interface Reached {
  dropped: number
  missed: number
  rebuilt: number
  outranked: number
  repeated: number
}

async function turns(count = 14): Promise<void> {
  for (let turn = 0; turn < count; turn++) await settle()
}

/** A schedule that runs against one webhook at a time, next to its model. */
export class Play {
  readonly #world = new DeliveryWorld()
  readonly #reached: Reached
  readonly #faults: string[] = []
  #model = new DeliveryModel(this.#world.id)
  #slot = 0
  /** Number of POSTs that the model has seen. */
  #seen = 0
  #open: Received | null = null

  constructor(reached: Reached) {
    this.#reached = reached
  }

  /** Returns the faults. */
  async run(steps: readonly Step[]): Promise<string[]> {
    const world = this.#world
    world.receiver.answers = [null]
    this.#start(await world.create({ channels: CHANNELS, since: 0 }))
    await this.#turns()
    for (const step of steps) {
      await this.#step(step)
      await this.#turns()
    }
    if (this.#model.isGone) await this.#enable(null)
    // Longer than the waits for attempts and for a write of the position.
    for (let n = 0; n < 40; n++) {
      await this.#pass(5_000)
      await this.#answer(200)
    }
    const stored = CHANNELS.flatMap((name) => world.chain.eventsOf(channelNamed(name), 0, Infinity))
    const progress = (await world.progress())!
    const cursors = stored.map(({ cursor }) => cursor)
    const faults = this.#model.judge(cursors, progress)
    this.#reached.dropped += this.#model.droppedTotal
    this.#reached.rebuilt += this.#model.rebuilt
    await world.kill()
    return [...this.#faults, ...world.faults.map(String), ...faults]
  }

  async #step(step: Step): Promise<void> {
    const world = this.#world
    switch (step.type) {
      case 'commit':
        return world.stream.commit(blockOf(++this.#slot, step.events))
      case 'jump':
        return world.stream.jump([blockOf((this.#slot += 2), step.events)])
      case 'flow':
        world.stream.commit(blockOf(++this.#slot, step.events))
        return this.#pass(500)
      case 'pass':
        return this.#pass(step.ms)
      case 'answer':
        return this.#answer(step.answer)
      case 'refuse':
        for (const ms of [0, 5_000, 30_000]) {
          await this.#pass(ms)
          await this.#answer(step.answer)
        }
        return
      case 'kill':
        if (step.answer !== null) await this.#answer(step.answer)
        return this.#restart()
      case 'drain':
        if (world.delivery!.drain()) await this.#answer(step.answer)
        await this.#turns()
        return this.#restart()
      case 'rotate': {
        this.#model.secret = `secret-${this.#slot}`
        const sealed = Buffer.from(this.#model.secret)
        return world.delivery!.accept(await world.change({ secrets: [{ sealed, expiresAtMs: null }] }))
      }
      case 'delete':
        await world.kill()
        this.#open = null
        this.#faults.push(...this.#model.faults)
        this.#reached.dropped += this.#model.droppedTotal
        this.#model = new DeliveryModel(world.id + 1)
        return this.#start(await world.replace({ channels: CHANNELS, since: 0 }))
      case 'enable':
        return this.#enable(step.since === null ? null : sinceOf(step.since, this.#slot))
      case 'revive':
        await this.#answer(410)
        world.stream.commit(blockOf(++this.#slot, step.events))
        await this.#turns()
        return this.#model.isGone ? this.#enable(null) : undefined
      case 'fork':
        return this.#fork(step)
      case 'takeover':
        return this.#takeOver(step)
      case 'outage':
        world.store.isAway = true
        await this.#pass(step.ms)
        world.store.isAway = false
    }
  }

  #start(stored: Parameters<DeliveryWorld['start']>[0]): void {
    this.#world.start(stored)
    this.#model.restarted(this.#world.token)
  }

  async #restart(): Promise<void> {
    await this.#world.kill()
    this.#open = null
    this.#start(await this.#world.stored())
  }

  async #enable(since: number | null): Promise<void> {
    const world = this.#world
    const { value } = await world.stored()
    if (value.active && since === null) return
    const activation = value.activation + 1
    await world.kill()
    this.#open = null
    this.#model.enabled(since)
    this.#start(
      await world.change({ active: true, disabledAtMs: null, disabledReason: null, activation, since })
    )
  }

  async #fork({ lost, events, isKilled }: Extract<Step, { type: 'fork' }>): Promise<void> {
    const { chain } = this.#world
    if (chain.blocks.length === 0) return
    this.#slot++
    this.#model.forked()
    this.#world.stream.rollBack(lost, this.#slot)
    await this.#turns()
    if (isKilled) await this.#restart()
    this.#world.stream.commit(blockOf(this.#slot, events))
  }

  /** Another process takes the webhook over while the first has a POST in flight, and continues. */
  async #takeOver({ answer, events, ms }: Extract<Step, { type: 'takeover' }>): Promise<void> {
    const world = this.#world
    const inFlight = this.#open
    const { claim } = world
    const old = await world.takeOver()
    this.#model.restarted(world.token)
    await this.#turns()
    const block = blockOf(++this.#slot, events)
    world.stream.commit(block)
    old.stream.feed.publish(block)
    if (inFlight !== null && answer !== null) await this.#answerTo(inFlight, answer)
    for (let left = ms; left > 0; left -= 500) await this.#pass(500)
    if (claim.lost.aborted) this.#reached.outranked++
    await old.end()
  }

  /** Answers the POST in flight of the newest process, if there is one. */
  async #answer(given: Answer): Promise<void> {
    if (this.#open !== null) await this.#answerTo(this.#open, given)
  }

  async #answerTo(post: Received, given: Answer): Promise<void> {
    const answer = this.#model.answerTo(post, given)
    if (this.#open === post) this.#open = null
    this.#model.answered(post, answer)
    if (isSuccess(answer) && post.body.missed !== undefined) this.#reached.missed++
    post.answer(answer)
    await this.#turns()
  }

  async #pass(ms: number): Promise<void> {
    const length = ms >= 5_000 ? 5_000 : 500
    for (let left = ms; left > 0; left -= length) {
      this.#world.clock.increment(Math.min(length, left))
      await this.#turns(6)
    }
  }

  /** Lets everything settle, and shows new POSTs to the model. */
  async #turns(count?: number): Promise<void> {
    await turns(count)
    for (const post of this.#world.receiver.received.slice(this.#seen)) {
      this.#seen++
      if (this.#model.accepted.has(post.body.batch_id)) this.#reached.repeated++
      this.#model.posted(post)
      if (post.token === this.#world.token) this.#open = post
    }
  }
}
