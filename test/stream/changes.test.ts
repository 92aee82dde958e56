import fc from 'fast-check'
import t from 'tap'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { cursorAt, endOfChainEvents, tenantCursorAfter } from '../../src/market/cursor.ts'
import { changeBatches, type ChangeBatch } from '../../src/transactions/change-batch.ts'
import { Documents } from '../../storage/documents.ts'
import { randomRuns } from '../random-runs.ts'
import { blockOf, MINTS } from './blocks.ts'
import type { FakePipe } from './fake-pipe.ts'
import { quiet, send, World, WorldStore } from './stream-world.ts'
import { CHANGE } from '../transactions/submission-change.ts'

const TRADES = `trades:${pubkeyToBase58(MINTS[0]!)}`
const TRADE = 0

/** A tenant whose submissions change while blocks come. */
class ChangingWorld {
  readonly world: World
  #slot = 100
  #last: ChangeBatch | null = null
  readonly published: number[] = []

  constructor() {
    const store = new WorldStore()
    store.blocks = [blockOf(99, [TRADE])]
    this.world = new World(store)
    this.world.commit(blockOf(this.#slot, [TRADE]))
  }

  block(): void {
    this.world.commit(blockOf(++this.#slot, [TRADE]))
  }

  /** Stores changes behind the events of the newest block. */
  async change(count = 1): Promise<ChangeBatch> {
    const after = this.#last?.changes.at(-1)!.cursor ?? -1
    let cursor = after
    const changes = Array.from({ length: count }, () => {
      cursor = tenantCursorAfter(cursor, this.#slot)
      this.published.push(cursor)
      return { ...CHANGE, cursor }
    })
    const batch = { tenant: 'acme', number: (this.#last?.number ?? 0) + 1, token: 1, after, changes }
    const stored = await new Documents(this.world.documents, changeBatches(null)).insert(batch)
    if (!stored.ok) throw new Error(stored.reason)
    return (this.#last = batch)
  }
}

const eventsOf = ({ messages }: FakePipe, channel?: string) =>
  messages.filter((each) => each.type === 'event' && (channel === undefined || each['channel'] === channel))
const cursorsOf = (pipe: FakePipe, channel?: string) => eventsOf(pipe, channel).map(({ cursor }) => cursor!)

t.test(
  'missed changes are replayed behind the events of their block, then completed, then live',
  async (t) => {
    const own = new ChangingWorld()
    const { cursor: first } = (await own.change(2)).changes[0]!
    own.block()
    await own.change()
    const { connection, pipe } = own.world.connect()
    send(connection, { subscribe: [TRADES, 'tx'], since: first })
    await quiet()
    connection.hear(await own.change())
    t.same(
      pipe.messages.slice(2).map(({ type, cursor, replay }) => [type, cursor, replay]),
      [
        ['event', own.published[1], true],
        ['event', cursorAt(101, 0), true],
        ['event', own.published[2], true],
        ['replay_complete', own.published[2], undefined],
        ['event', own.published[3], undefined]
      ]
    )
    t.ok(own.published[1]! > endOfChainEvents(100) && own.published[1]! < cursorAt(101, 0))
  }
)

t.test(
  'a subscription without since begins after the newest change; what was not heard of is looked for',
  async (t) => {
    const own = new ChangingWorld()
    await own.change()
    const { connection, pipe } = own.world.connect()
    send(connection, { subscribe: ['tx'] })
    await quiet()
    t.match(pipe.messages.at(-1), { type: 'subscribed', cursor: own.published[0] })
    await own.change()
    connection.hear(await own.change())
    await quiet()
    t.same(cursorsOf(pipe), own.published.slice(1), 'the batch before the one it heard of')
    await own.change()
    connection.lookForChanges()
    await quiet()
    t.same(cursorsOf(pipe), own.published.slice(1))
    send(connection, { unsubscribe: ['tx'] })
    await quiet()
    connection.hear(await own.change())
    t.equal(cursorsOf(pipe).length, 3)
  }
)

t.test('a cursor before the horizon is warned of', async (t) => {
  const own = new ChangingWorld()
  await own.change()
  await own.world.horizon.look()
  const { connection, pipe } = own.world.connect()
  send(connection, { subscribe: ['tx'], since: 3 })
  await quiet()
  t.match(pipe.messages[2], { code: 'beyond_replay_horizon', channels: ['tx'], since: 3 })
  t.same(cursorsOf(pipe), own.published)
})

const anyStep = fc.constantFrom('block', 'change', 'changes', 'unheard', 'jump', 'reconnect', 'delay', 'turn')

t.test(
  'a client that resumes with its last cursor has every change and every trade once, in order',
  async (t) => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { maxLength: 40 }), async (steps) => {
        const own = new ChangingWorld()
        const start = cursorAt(99, 0) - 1
        let client = own.world.connect()
        send(client.connection, { subscribe: [TRADES, 'tx'], since: start })
        const heard: (readonly [string, number])[] = []
        const take = (): void => {
          for (const each of eventsOf(client.pipe)) heard.push([String(each['channel']), each.cursor!])
        }
        for (const step of steps) {
          if (step === 'block') own.block()
          if (step === 'change' || step === 'changes')
            client.connection.hear(await own.change(step === 'change' ? 1 : 3))
          if (step === 'unheard') await own.change()
          if (step === 'jump') own.world.jump([])
          if (step === 'delay') own.world.store.delays.push(2)
          if (step === 'turn') await quiet(1)
          if (step !== 'reconnect') continue
          take()
          client.connection.close(1001, 'test')
          client = own.world.connect()
          send(client.connection, { subscribe: [TRADES, 'tx'], since: heard.at(-1)?.[1] ?? start })
        }
        await quiet(30)
        client.connection.lookForChanges()
        await quiet(30)
        take()
        const cursors = heard.map(([, cursor]) => cursor)
        t.strictSame(
          cursors,
          [...new Set(cursors)].sort((a, b) => a - b)
        )
        t.strictSame(
          heard.filter(([channel]) => channel === 'tx').map(([, cursor]) => cursor),
          own.published
        )
        const trades = own.world.store.blocks.length
        t.equal(heard.filter(([channel]) => channel === TRADES).length, trades)
        t.strictSame(own.world.faults, [])
      }),
      randomRuns(60)
    )
  }
)
