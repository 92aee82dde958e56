import t from 'tap'
import { aborted } from '../../../actors/supervision/aborted.ts'
import {
  DynamicSupervisor,
  type MemberPolicy,
  type MemberScope
} from '../../../actors/supervision/dynamic-supervisor.ts'
import { child } from '../../../actors/supervision/unit.ts'
import { supervise } from '../../../actors/supervision/supervisor.ts'
import { advance, settle, virtualClock } from '../../virtual-time.ts'

const POLICY: MemberPolicy = {
  restart: 'transient',
  intensity: { crashes: 100, periodMs: 10_000 },
  backoff: { floorMs: 100, ceilingMs: 400 },
  stableAfterMs: 1_000
}

/** A supervisor on virtual time, whose waits have no jitter. */
class World {
  readonly clock = virtualClock()
  readonly reported: string[] = []
  readonly supervisor: DynamicSupervisor

  constructor(policy: Partial<MemberPolicy> = {}, isKnown?: (fault: unknown) => boolean) {
    this.supervisor = new DynamicSupervisor(
      { ...POLICY, ...policy },
      {
        clock: this.clock,
        random: () => 1,
        report: ({ message }) => void this.reported.push(message),
        ...(isKnown !== undefined && { isKnown })
      }
    )
  }
}

/** A member that runs until it is told to end, and the times of its starts. */
class FakeMember {
  readonly starts: number[] = []
  readonly #world: World
  #crash: (fault: Error) => void = () => undefined
  #exit: () => void = () => undefined
  scope: MemberScope | null = null

  constructor(world: World) {
    this.#world = world
  }

  readonly run = (scope: MemberScope): Promise<void> => {
    this.starts.push(this.#world.clock.now())
    this.scope = scope
    return new Promise((resolve, reject) => {
      this.#exit = resolve
      this.#crash = reject
    })
  }

  async crash(message = 'broken'): Promise<void> {
    this.#crash(new Error(message))
    await settle()
  }

  async exit(): Promise<void> {
    this.#exit()
    await settle()
  }
}

t.test(
  'a member that crashes restarts alone, later after each crash, and its fault is reported',
  async (t) => {
    const world = new World()
    const [broken, sound] = [new FakeMember(world), new FakeMember(world)]
    world.supervisor.start('broken', broken.run)
    world.supervisor.start('sound', sound.run)
    for (const waitMs of [100, 200, 400, 400]) {
      const before = broken.starts.length
      await broken.crash()
      t.match(world.supervisor, { running: 1, waiting: 1 })
      await advance(world.clock, waitMs - 1)
      t.equal(broken.starts.length, before, `not before ${waitMs} ms`)
      await advance(world.clock, 1)
      t.equal(broken.starts.length, before + 1, `after ${waitMs} ms`)
    }
    t.equal(sound.starts.length, 1)
    t.match(world.supervisor, { running: 2, waiting: 0, restarts: 4 })
    t.equal(world.reported.length, 4)
    t.equal(world.reported[0], 'broken failed and is restarted: broken')
    t.equal(world.supervisor.lastError?.message, 'broken: broken')
  }
)

t.test('a member that was stable restarts after the shortest wait again', async (t) => {
  const world = new World()
  const member = new FakeMember(world)
  world.supervisor.start('it', member.run)
  await member.crash()
  await advance(world.clock, 100)
  await member.crash()
  await advance(world.clock, 200 + 1_000)
  await member.crash()
  await advance(world.clock, 100)
  t.equal(member.starts.length, 4)
})

t.test('a transient member that returns has ended; a permanent one restarts', async (t) => {
  const world = new World()
  const transient = new FakeMember(world)
  const { ended } = world.supervisor.start('it', transient.run)
  await transient.exit()
  await ended
  t.match(world.supervisor, { running: 0, waiting: 0, restarts: 0 })
  const other = new World({ restart: 'permanent' })
  const permanent = new FakeMember(other)
  other.supervisor.start('it', permanent.run)
  await permanent.exit()
  await advance(other.clock, 100)
  t.equal(permanent.starts.length, 2)
  t.same(other.reported, [], 'a return is no fault')
})

t.test('at the intensity restarts wait, and the supervisor lives on', async (t) => {
  const world = new World({ intensity: { crashes: 3, periodMs: 10_000 } })
  const members = Array.from({ length: 5 }, () => new FakeMember(world))
  members.forEach((member, at) => world.supervisor.start(String(at), member.run))
  for (const member of members) await member.crash()
  await advance(world.clock, 100)
  t.equal(world.supervisor.restarts, 3)
  t.match(world.supervisor, { running: 3, waiting: 2 })
  await advance(world.clock, 9_999)
  t.equal(world.supervisor.restarts, 3)
  await advance(world.clock, 1)
  t.equal(world.supervisor.restarts, 5)
})

t.test('a known fault restarts its member, and is not reported', async (t) => {
  const world = new World({}, (fault) => (fault as Error).message === 'the store is away')
  const member = new FakeMember(world)
  world.supervisor.start('it', member.run)
  await member.crash('the store is away')
  await advance(world.clock, 100)
  t.equal(member.starts.length, 2)
  t.same(world.reported, [])
})

t.test('a drain asks members to finish, waits for them, and restarts none', async (t) => {
  const world = new World()
  const [running, waiting, failing] = Array.from({ length: 3 }, () => new FakeMember(world))
  for (const member of [running!, waiting!, failing!]) world.supervisor.start('it', member.run)
  await waiting!.crash()
  let isDrained = false
  void world.supervisor.drain(new AbortController().signal).then(() => (isDrained = true))
  await settle()
  t.ok(running!.scope!.draining.aborted)
  t.notOk(running!.scope!.signal.aborted, 'it may finish')
  await failing!.crash()
  t.notOk(isDrained, 'one still runs')
  await running!.exit()
  t.ok(isDrained)
  await advance(world.clock, 1_000)
  t.equal(waiting!.starts.length, 1)
  t.equal(failing!.starts.length, 1)
  t.equal(world.reported.length, 1, 'a fault after the drain is not reported')
})

t.test('a kill of a drain stops the members at once', async (t) => {
  const world = new World()
  world.supervisor.start('it', async ({ signal }) => aborted(signal))
  const kill = new AbortController()
  const drained = world.supervisor.drain(kill.signal)
  await settle()
  t.equal(world.supervisor.running, 1)
  kill.abort()
  await drained
  t.equal(world.supervisor.running, 0)
})

t.test('members stand below their process in the tree, with their restarts and last fault', async (t) => {
  const world = new World()
  const member = new FakeMember(world)
  const root = child('deliveries', async ({ ready, supervises, draining, signal }) => {
    supervises('webhooks', () => world.supervisor)
    world.supervisor.start('webhook 1', member.run)
    ready()
    await aborted(draining)
    await world.supervisor.drain(signal)
  })
  await using service = supervise(root, { clock: world.clock, random: () => 1 })
  await settle()
  await member.crash()
  const [shown] = service.tree().children
  t.match(shown, {
    ...{ name: 'webhooks', kind: 'supervisor', strategy: 'simple_one_for_one', restart: 'transient' },
    state: 'backoff',
    restarts: 0,
    last_error: { message: 'webhook 1: broken' },
    gauges: { running: 0, waiting: 1 }
  })
  await advance(world.clock, 100)
  t.match(service.tree().children[0], { state: 'running', restarts: 1, gauges: { running: 1, waiting: 0 } })
  const done = service.drain()
  await settle()
  await member.exit()
  t.same(await done, { kind: 'stopped' })
})
