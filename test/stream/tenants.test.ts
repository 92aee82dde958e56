import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import t from 'tap'
import type { WebSocket } from 'ws'
import { Replays } from '../../actors/stream/replays.ts'
import { Tenants } from '../../actors/stream/tenants.ts'
import { Caller } from '../../src/access/caller.ts'
import { RateWindow } from '../../src/access/rate-window.ts'
import { CashList } from '../../src/market/cash.ts'
import { endOfChainEvents } from '../../src/market/cursor.ts'
import { ChannelHistory } from '../../src/stream/channel-history.ts'
import { ChangeHistory } from '../../src/transactions/change-history.ts'
import { MemoryDocuments } from '../actors/webhooks/memory-documents.ts'
import type { Storage } from '../../storage/port.ts'
import { blockOf } from './blocks.ts'
import { textsOf, type Message } from './fake-pipe.ts'
import { advance, settle, virtualClock, type VirtualClock } from '../virtual-time.ts'
import { KEY, quiet, World, WorldStore } from './stream-world.ts'
import { TURNS_AT_ONCE } from '../../src/kernel/work/turns.ts'

/** Sweeps per ping. */
const SWEEPS_A_PING = 50

/** A client that answers pings, or does not. */
class FakeWs extends EventEmitter {
  readonly OPEN = 1
  readyState = 1
  pings = 0
  closedWith: number | null = null
  /** Frames that it received. */
  readonly sent: Buffer[] = []
  readonly #answers: boolean

  constructor(answers: boolean) {
    super()
    this.#answers = answers
  }

  ping(): void {
    this.pings++
    if (this.#answers) this.emit('pong')
  }

  close(code: number): void {
    this.closedWith ??= code
    this.leave()
  }

  terminate(): void {
    this.leave()
  }

  leave(): void {
    if (this.readyState === 3) return
    this.readyState = 3
    this.emit('close')
  }
}

const socket = (sent: Buffer[]) =>
  Object.assign(new EventEmitter(), {
    writableLength: 0,
    write: (bytes: Buffer) => sent.push(bytes) > 0
  }) as unknown as Socket

interface Opened {
  readonly world: World
  readonly tenants: Tenants
  readonly open: (answers?: boolean, tenant?: string) => FakeWs
  readonly clock: VirtualClock
}

function tenantsOf(): Opened {
  const world = new World(new WorldStore())
  const clock = virtualClock()
  const channels = {
    hub: world.hub,
    // Never read.
    history: new ChannelHistory({} as Storage, new CashList()),
    changes: new ChangeHistory(new MemoryDocuments(), { isShared: false, ttlMs: null }),
    horizon: world.horizon,
    replays: new Replays(TURNS_AT_ONCE),
    retry: <T>(ask: () => Promise<T>) => ask()
  }
  const tenants = new Tenants(channels, new RateWindow(10), { clock, random: () => 0.5 }, (fault) =>
    world.faults.push(fault)
  )
  let opened = 0
  return {
    world,
    tenants,
    clock,
    open(answers = true, tenant = 'acme') {
      const ws = new FakeWs(answers)
      // A key may have only few connections.
      const caller = new Caller({ ...KEY, tenant, id: `k${Math.floor(opened++ / 10)}` }, 1_000)
      tenants.open(ws as unknown as WebSocket, socket(ws.sent), caller)
      return ws
    }
  }
}

t.test('a connection is pinged once in so many sweeps, whoever comes and leaves meanwhile', async (t) => {
  const { tenants, open } = tenantsOf()
  const staying = Array.from({ length: 60 }, () => open())
  let passing: FakeWs[] = []
  for (let sweep = 0; sweep < 4 * SWEEPS_A_PING; sweep++) {
    for (const ws of passing) ws.leave()
    passing = [open(), open(), open()]
    // Earlier clients leave too.
    if (sweep % 10 === 0) staying.shift()!.leave()
    tenants.sweep()
  }
  t.equal(tenants.size, staying.length + passing.length)
  t.strictSame([...new Set(staying.map(({ pings }) => pings))], [4])
})

t.test('without connections there is no sweep, until one opens', async (t) => {
  const { tenants, open, clock } = tenantsOf()
  let sweeps = 0
  const end = new AbortController()
  const sweeping = (async () => {
    for (; !end.signal.aborted; sweeps++) {
      tenants.sweep()
      await tenants.rest(end.signal)
    }
  })()
  const sweepsIn = async (ms: number): Promise<number> => {
    const before = sweeps
    await advance(clock, ms)
    return sweeps - before
  }
  await sweepsIn(10_500)
  t.equal(await sweepsIn(30_000), 0, 'also the rate of events needs none after a while')
  const ws = open()
  await settle()
  t.equal(tenants.health.eventsPerSecond, 0)
  t.equal(await sweepsIn(10_000), 20)
  ws.leave()
  t.ok((await sweepsIn(5_000)) <= 1, 'and none again after the last has left')
  end.abort()
  await sweeping
})

t.test(
  'a client that answers no ping is closed with 4408 after the third turn, among others that leave',
  async (t) => {
    const { tenants, open } = tenantsOf()
    const leaving = Array.from({ length: 100 }, () => open())
    const silent = Array.from({ length: 20 }, () => open(false))
    for (let sweep = 0; sweep < 3 * SWEEPS_A_PING; sweep++) {
      if (sweep % 2 === 1) leaving.shift()?.leave()
      tenants.sweep()
      if (sweep === 2 * SWEEPS_A_PING - 1) t.ok(silent.every(({ closedWith }) => closedWith === null))
    }
    t.strictSame([...new Set(silent.map(({ closedWith }) => closedWith))], [4408])
    t.ok(leaving.every(({ closedWith }) => closedWith === null))
  }
)

for (const channel of ['webhooks', 'revenue'])
  t.test(
    `an event on ${channel} is heard by the connections of its tenant with the channel, and by no other tenant`,
    async (t) => {
      const { world, tenants, open } = tenantsOf()
      world.commit(blockOf(7, []))
      const [one, two, silent, stranger] = [open(), open(), open(), open(true, 'umbra')]
      for (const ws of [one, two, stranger])
        ws.emit('message', Buffer.from(JSON.stringify({ subscribe: [channel] })), false)
      await quiet()
      const data = { event: 'created', webhook_id: 1, ts_ms: 5 }
      tenants.publish({ tenant: 'acme', channel, data })
      tenants.publish({ tenant: 'nobody', channel, data })
      const events = ({ sent }: FakeWs) =>
        sent.flatMap(textsOf).flatMap((text) => {
          const message = JSON.parse(text) as Message
          return message.type === 'event' ? [message] : []
        })
      const cursor = endOfChainEvents(7)
      const event = { type: 'event', channel, data: { ...data, cursor }, cursor }
      t.strictSame([one, two, silent, stranger].map(events), [[event], [event], [], []])
    }
  )

t.test('a change of a key takes effect on its open connections at the next sweep', async (t) => {
  const { world, tenants, open } = tenantsOf()
  world.commit(blockOf(7, []))
  const ws = open()
  const rows = new Map([['k0', { ...KEY, id: 'k0' }]])
  tenants.guard({
    caller: (id) => {
      const row = rows.get(id)
      return row === undefined ? undefined : new Caller(row, 1_000)
    }
  })
  const last = () =>
    ws.sent
      .flatMap(textsOf)
      .map((text) => JSON.parse(text) as Message)
      .at(-1)
  ws.emit('message', Buffer.from(JSON.stringify({ subscribe: ['launches', 'revenue'] })), false)
  await quiet()
  tenants.sweep()
  t.match(last(), { type: 'subscribed', channels: ['launches', 'revenue'] })
  rows.set('k0', { ...KEY, id: 'k0', scopes: ['stream'] })
  tenants.sweep()
  t.match(last(), { type: 'error', code: 'insufficient_scope', channels: ['revenue'] })
  t.equal(ws.closedWith, null, 'the connection stays')
  t.equal(tenants.health.subscriptions, 1)
  ws.emit('message', Buffer.from(JSON.stringify({ subscribe: ['revenue'] })), false)
  await quiet()
  t.equal(tenants.health.subscriptions, 1, 'and the present scopes hold for further channels')
  rows.set('k0', { ...KEY, id: 'k0', scopes: ['revenue'] })
  tenants.sweep()
  t.equal(ws.closedWith, 4403)
  const [revoked, deleted] = [open(), open()]
  rows.set('k0', { ...KEY, id: 'k0', revokedAtMs: 0 })
  tenants.sweep()
  t.equal(revoked.closedWith, 4401)
  t.equal(deleted.closedWith, 4401)
})
