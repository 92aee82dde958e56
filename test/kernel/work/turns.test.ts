import t from 'tap'
import { Turns } from '../../../src/kernel/work/turns.ts'
import { advance, settle, virtualClock } from '../../virtual-time.ts'
import { ERRORS } from '../../../src/kernel/errors.ts'

/** Turns in virtual time. Each turn of the event loop begins at most one waiting piece. */
function turnsIn() {
  const clock = virtualClock()
  let loops = 0
  const turns = new Turns({
    clock,
    elapsedMs: () => clock.now(),
    afterSockets: (run) =>
      setImmediate(() => {
        loops++
        run()
      })
  })
  return { clock, turns, loops: () => loops }
}

/** Work that ends when the test ends it. */
function held<T>(value: T) {
  const end = Promise.withResolvers<T>()
  let isRunning = false
  return {
    run: () => {
      isRunning = true
      return end.promise
    },
    end: () => end.resolve(value),
    isRunning: () => isRunning
  }
}

t.test('work begins at once while there are places, and another tenant finds one', async (t) => {
  const { turns, loops } = turnsIn()
  const greedy = Array.from({ length: 100 }, (_, at) => held(at))
  const answers = greedy.map(({ run }) => turns.run('greedy', run))
  t.equal(greedy.filter(({ isRunning }) => isRunning()).length, 6)
  t.equal(turns.waiting, 94)
  t.equal(turns.running, 6)
  t.equal(turns.tenants, 1)
  for (let loop = 0; loop < 20; loop++) await settle()
  t.ok(loops() <= 2, 'while none can begin, the event loop is left alone')
  const other = held('other')
  const answer = turns.run('other', other.run)
  await settle()
  await settle()
  t.ok(other.isRunning(), 'it waits for no piece of the greedy tenant')
  other.end()
  t.equal(await answer, 'other')
  for (const each of greedy) each.end()
  t.strictSame(await Promise.all(answers), [...answers.keys()])
  t.equal(turns.waiting, 0)
})

t.test('waiting pieces begin for a millisecond in a turn of the event loop', async (t) => {
  const { clock, turns, loops } = turnsIn()
  const began: number[] = []
  const work = (): void => {
    began.push(loops())
    if (began.length % 2 === 0) clock.increment(1)
  }
  await Promise.all(Array.from({ length: 50 }, () => turns.run('a', work)))
  t.equal(began.filter((at) => at === 0).length, 6, 'as many as there are places')
  const later = Object.values(
    Object.groupBy(
      began.filter((at) => at > 0),
      String
    )
  )
  t.strictSame(
    later.map((each) => each?.length),
    Array.from({ length: 22 }, () => 2)
  )
})

t.test(
  'of a burst of short pieces some milliseconds begin at once, and the rest in later turns',
  async (t) => {
    const { clock, turns, loops } = turnsIn()
    const began: number[] = []
    const all: Promise<void>[] = []
    // Each piece ends before the next one is requested, so that it always finds a place.
    for (let at = 0; at < 20; at++)
      all.push(
        turns.run('a', () => {
          began.push(loops())
          clock.increment(1)
        })
      )
    const atOnce = began.length
    t.equal(atOnce, 3, 'those of the first two milliseconds')
    await Promise.all(all)
    t.equal(began.length, 20)
    t.equal(began.filter((loop) => loop === 0).length, atOnce)
  }
)

t.test('short work that ends at once keeps further work waiting only by its time', async (t) => {
  const { clock, turns } = turnsIn()
  let sent = 0
  for (; sent < 100 && turns.isFree('a'); sent++) turns.runNow('a', () => undefined)
  t.equal(sent, 100, 'many pieces that take no time')
  await settle()
  sent = 0
  for (; sent < 100 && turns.isFree('a'); sent++) turns.runNow('a', () => void clock.increment(1))
  t.equal(sent, 3, 'those of the first two milliseconds')
  t.equal(turns.running, 0)
  t.throws(() =>
    turns.runNow('a', () => {
      throw new Error('no')
    })
  )
  t.equal(turns.running, 0, 'work that fails gives its place back')
})

t.test('work that fails gives its place back', async (t) => {
  const { turns } = turnsIn()
  const fail = () => {
    throw new Error('no')
  }
  const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => turns.run('a', fail)))
  t.ok(outcomes.every(({ status }) => status === 'rejected'))
  t.equal(await turns.run('a', () => 1), 1)
})

t.test(
  'work of a client that left is not begun, and work that waits for ten seconds is refused',
  async (t) => {
    const { clock, turns } = turnsIn()
    const running = Array.from({ length: 6 }, (_, at) => held(at))
    for (const { run } of running) void turns.run('a', run)
    const left = new AbortController()
    const [gone, late] = [held('gone'), held('late')]
    const outcomes = Promise.allSettled([
      turns.run('a', gone.run, { signal: left.signal }),
      turns.run('a', late.run, { signal: new AbortController().signal }),
      turns.run('a', gone.run, { signal: AbortSignal.abort(new Error('before')) })
    ])
    left.abort(new Error('the client has left'))
    await settle()
    t.equal(turns.waiting, 1)
    await advance(clock, 10_000)
    t.match(await outcomes, [
      { reason: { message: 'the client has left' } },
      { reason: { name: 'ServiceError', kind: ERRORS.DEADLINE_EXCEEDED, message: /send fewer at once/ } },
      { reason: { message: 'before' } }
    ])
    for (const each of running) each.end()
    await settle()
    t.notOk(gone.isRunning() || late.isRunning())
  }
)

t.test(
  'work in several turns lets others run between them, and comes before work that has not begun',
  async (t) => {
    const { clock, turns } = turnsIn()
    const ran: string[] = []
    const sliced = (name: string) => (): Promise<void> =>
      turns.run('a', async (turn) => {
        for (let slice = 1; slice <= 3; slice++) {
          if (slice > 1) await turn.again()
          ran.push(`${name}${slice}`)
          clock.increment(1)
        }
      })
    const answers = Array.from({ length: 8 }, (_, at) => sliced(`s${at}.`)())
    answers.push(turns.run('b', () => void ran.push('other')))
    await Promise.all(answers)
    t.equal(ran.length, 25)
    t.ok(ran.indexOf('other') < 10, 'another tenant waits for no answer of the first one')
    t.ok(
      ran.indexOf('s7.1') > ran.indexOf('s0.3'),
      'an answer that has begun is finished before another begins'
    )
    t.equal(turns.waiting, 0)
    t.ok(turns.isFree('a'))
  }
)

t.test(
  'work that ends while it waits for a turn, or after its place was given back, leaves no place taken',
  async (t) => {
    const { clock, turns } = turnsIn()
    const deadline = new AbortController()
    const read = held('row')
    const steps: string[] = []
    const abandoned = turns.run('a', async (turn) => {
      const reading = read.run().then(async () => {
        steps.push('read')
        await turn.again(deadline.signal)
        steps.push('again')
      })
      reading.catch(() => steps.push('refused'))
      return 'late'
    })
    t.equal(await abandoned, 'late')
    deadline.abort(new Error('the deadline'))
    read.end()
    await settle()
    t.strictSame(steps, ['read', 'refused'])
    const running = Array.from({ length: 6 }, () => held('x'))
    const both = turns.run('a', (turn) => Promise.all([turn.again(), turn.again()]))
    const refused = turns.run('a', (turn) => turn.again(AbortSignal.timeout(0)))
    refused.catch(() => undefined)
    await both
    await refused.catch(() => undefined)
    const answers = running.map(({ run }) => turns.run('a', run))
    await settle()
    t.equal(running.filter(({ isRunning }) => isRunning()).length, 6, 'all six places are free again')
    const late = t.rejects(
      turns.run('a', () => 'late'),
      { name: 'ServiceError', kind: ERRORS.DEADLINE_EXCEEDED }
    )
    await advance(clock, 10_000)
    await late
    for (const each of running) each.end()
    await Promise.all(answers)
  }
)
