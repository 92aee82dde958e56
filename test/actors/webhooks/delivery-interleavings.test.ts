import fc from 'fast-check'
import t from 'tap'
import { endOfEvents } from '../../../src/market/cursor.ts'
import { randomRuns } from '../../random-runs.ts'
import { blockOf, VENUES } from '../../stream/blocks.ts'
import { channelNamed } from '../../stream/stream-world.ts'
import { settle } from '../../virtual-time.ts'
import { DeliveryWorld, type Answer, type Received } from './delivery-world.ts'

const SCHEDULES = 200
const CHANNELS = VENUES.map((venue) => `venue:${venue}`)

const anySpecs = fc.array(fc.nat(69), { maxLength: 40 })
const anyAnswer: fc.Arbitrary<Answer> = fc.constantFrom(200, 204, 500, 429, 'timeout', 'connection_reset')

/** A step of a schedule. */
const anyStep = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant('commit' as const), events: anySpecs }) },
  {
    weight: 5,
    arbitrary: fc.record({ type: fc.constant('pass' as const), ms: fc.constantFrom(100, 500, 5_000, 30_000) })
  },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('answer' as const), answer: anyAnswer }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('kill' as const) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('drain' as const) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('rotate' as const) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('jump' as const), events: anySpecs }) },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('outage' as const), ms: fc.constantFrom(300, 3_000) })
  }
)
type Step = typeof anyStep extends fc.Arbitrary<infer S> ? S : never

async function turns(count = 14): Promise<void> {
  for (let turn = 0; turn < count; turn++) await settle()
}

/** Plays a schedule against one webhook. Returns the faults, and the number of dropped events. */
async function play(steps: readonly Step[]): Promise<{ faults: string[]; dropped: number }> {
  const world = new DeliveryWorld()
  world.receiver.answers = [null]
  world.start(await world.create({ channels: CHANNELS, since: 0 }))
  await turns()
  let slot = 0
  const accepted = new Map<string, Received>()
  let answered = 0
  /** Answers the POST in flight; a repeat of an accepted batch is accepted. */
  const answer = async (given: Answer): Promise<void> => {
    const post = world.receiver.received.at(-1)
    if (post === undefined || answered === world.receiver.received.length) return
    answered = world.receiver.received.length
    const isAccepted = accepted.has(post.body.batch_id) || given === 200 || given === 204
    if (isAccepted && !accepted.has(post.body.batch_id)) accepted.set(post.body.batch_id, post)
    post.answer(isAccepted ? 200 : given)
    await turns()
  }
  const pass = async (ms: number): Promise<void> => {
    const length = ms >= 5_000 ? 5_000 : 500
    for (let left = ms; left > 0; left -= length) {
      world.clock.increment(Math.min(length, left))
      await turns(6)
    }
  }
  for (const step of steps) {
    switch (step.type) {
      case 'commit':
        world.stream.commit(blockOf(++slot, step.events))
        break
      case 'jump':
        world.stream.jump([blockOf((slot += 2), step.events)])
        break
      case 'pass':
        await pass(step.ms)
        break
      case 'answer':
        await answer(step.answer)
        break
      case 'kill':
        await world.kill()
        answered = world.receiver.received.length
        world.start(await world.stored())
        break
      case 'drain':
        if (world.delivery!.drain()) await answer(200)
        await turns()
        await world.kill()
        answered = world.receiver.received.length
        world.start(await world.stored())
        break
      case 'rotate': {
        const stored = await world.stored()
        const outcome = await world.documents.update(stored, { ...stored.value, updatedAtMs: slot })
        if (outcome.ok) world.delivery!.accept(outcome.stored)
        break
      }
      case 'outage':
        world.store.isAway = true
        await pass(step.ms)
        world.store.isAway = false
        break
    }
    await turns()
  }
  // Longer than the waits for attempts and for a write of the position.
  for (let n = 0; n < 40; n++) {
    await pass(5_000)
    await answer(200)
  }
  const progress = (await world.progress())!
  const stored = CHANNELS.flatMap((name) => world.chain.eventsOf(channelNamed(name), 0, endOfEvents(slot)))
  const batches = [...accepted.values()]
  const heard = batches.flatMap(({ body }) => body.events.map(({ data }) => data.cursor))
  const told = batches.reduce((sum, { body }) => sum + (body.dropped ?? 0), 0)
  const faults: string[] = world.faults.map(String)
  if (heard.some((cursor, n) => n > 0 && cursor <= heard[n - 1]!)) faults.push('twice, or out of order')
  if (stored.length - new Set(heard).size !== progress.droppedTotal)
    faults.push(
      `${stored.length} stored, ${heard.length} delivered, ${progress.droppedTotal} counted as dropped`
    )
  if (told + progress.dropped !== progress.droppedTotal)
    faults.push(`${told} told, ${progress.dropped} to be told, ${progress.droppedTotal} dropped`)
  const texts = new Map<string, string>()
  for (const { text, body } of world.receiver.received) {
    if ((texts.get(body.batch_id) ?? text) !== text) faults.push(`${body.batch_id} has come with other bytes`)
    texts.set(body.batch_id, text)
    if (body.events.length > 64) faults.push(`${body.events.length} events in a batch`)
  }
  await world.kill()
  return { faults, dropped: progress.droppedTotal }
}

t.test(
  'in any interleaving a receiver has every event, but those counted as dropped, in order',
  async (t) => {
    let dropped = 0
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { maxLength: 30 }), async (steps) => {
        const { faults, dropped: own } = await play(steps)
        dropped += own
        if (faults.length > 0) throw new Error(faults.join('\n'))
      }),
      randomRuns(SCHEDULES)
    )
    t.comment(`${dropped} events were dropped`)
  }
)
