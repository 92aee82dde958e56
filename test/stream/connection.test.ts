import { WorkBudget } from '../../src/access/work-budget.ts'
import { WORK_PRICES } from '../../src/kernel/work/work-units.ts'
import t from 'tap'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { encodeBase58 } from '../../src/chain/base58.ts'
import { cursorAt, endOfChainEvents, endOfEvents, walletCursor } from '../../src/market/cursor.ts'
import { key } from '../market/world.ts'
import { INVALID_MESSAGES_MAX } from '../../actors/stream/connection.ts'
import { MESSAGE_BYTES_MAX } from '../../src/stream/message-bound.ts'
import { blockOf, MINTS, WALLETS } from './blocks.ts'
import type { FakePipe, Message } from './fake-pipe.ts'
import { quiet, send, World, WorldStore } from './stream-world.ts'

const TRADES = `trades:${pubkeyToBase58(MINTS[0]!)}`
const WALLET = `wallet:${pubkeyToBase58(WALLETS[0]!)}`
const HEAD = endOfChainEvents(102)
/** A trade of the first mint, and an event of a pool that is no trade. */
const [TRADE, OTHER] = [0, 1]

/** A process that has published one block since its start. */
function worldOf(): World {
  const store = new WorldStore()
  store.blocks = [blockOf(100, [TRADE, TRADE]), blockOf(101, [OTHER])]
  const world = new World(store)
  world.commit(blockOf(102, [TRADE, TRADE]))
  return world
}

const said = ({ messages }: FakePipe) => messages.slice(1)
const events = ({ messages }: FakePipe): (number | undefined)[] =>
  messages.filter(({ type }) => type === 'event').map(({ cursor }) => cursor)
const last = ({ messages }: FakePipe): Message => messages.at(-1)!

t.test('a client that connects is greeted with where the stream is', async (t) => {
  const world = worldOf()
  world.nowMs = 5
  await world.horizon.look()
  const { connection, pipe } = world.connect()
  t.equal(connection.state, 'live')
  const horizon = { cursor: cursorAt(100, 0) - 1, ts_ms: 1_700_000_100_000, slot: 100 }
  const limits = { channels: 50, buffer: 2_000 }
  const expected = {
    type: 'hello',
    tenant: 'acme',
    channels: [],
    cursor: HEAD,
    horizon,
    limits,
    server_time_ms: 5,
    protocol: 1
  }
  t.equal(JSON.stringify(pipe.messages), JSON.stringify([expected]))
})

t.test('a subscription without since is told blocks as they come', async (t) => {
  const world = worldOf()
  const { connection, pipe } = world.connect()
  send(connection, { subscribe: [TRADES, 'venue:raydium-amm-v4'] })
  await quiet()
  const channels = [TRADES, 'venue:raydium-amm-v4']
  const ack = { type: 'subscribed', channels, added: channels, replaying: false, cursor: HEAD }
  t.equal(JSON.stringify(last(pipe)), JSON.stringify(ack))
  world.commit(blockOf(103, [TRADE]))
  t.same(events(pipe), [cursorAt(103, 0), cursorAt(103, 3)], 'both copies, in cursor order')
  t.same(Object.keys(last(pipe)), ['type', 'channel', 'data', 'cursor'])
  t.same(Object.keys(last(pipe)['data'] as object).slice(0, 6), [
    'venue',
    'event',
    'exec_in',
    'exec_out',
    'slot',
    'ts_ms'
  ])
  t.same(pipe.writes.at(-1), 1, 'in one write')
})

t.test('blocks that are published together reach a client by one write, in cursor order', async (t) => {
  const world = worldOf()
  const [one, other] = [world.connect(), world.connect()]
  send(one.connection, { subscribe: [TRADES, 'venue:raydium-amm-v4'] })
  send(other.connection, { subscribe: ['venue:raydium-amm-v4'] })
  await quiet()
  const before = [one, other].map(({ pipe }) => pipe.writes.length)
  world.commitAll([blockOf(103, [TRADE]), blockOf(104, [OTHER]), blockOf(105, [TRADE])])
  t.same(
    events(one.pipe),
    [cursorAt(103, 0), cursorAt(103, 3), cursorAt(105, 0), cursorAt(105, 3)],
    'nothing waits'
  )
  t.same(events(other.pipe), [cursorAt(103, 3), cursorAt(105, 3)])
  t.same(
    [one, other].map(({ pipe }, at) => pipe.writes.slice(before[at])),
    [[1], [1]]
  )
})

t.test(
  'a channel that fails among blocks published together is read again from the first of them',
  async (t) => {
    const world = worldOf()
    const { connection, pipe } = world.connect()
    send(connection, { subscribe: [TRADES] })
    await quiet()
    const broken = blockOf(104, [TRADE])
    const row = broken.trades[0]!
    Object.defineProperty(row, 'inAmount', {
      get() {
        Object.defineProperty(row, 'inAmount', { value: 1n })
        throw new Error('a row that cannot be read at first')
      }
    })
    world.commitAll([blockOf(103, [TRADE]), broken, blockOf(105, [TRADE])])
    await quiet()
    world.commit(blockOf(106, [TRADE]))
    t.match(world.faults, [/cannot be read at first/])
    t.same(
      events(pipe),
      [103, 104, 105, 106].map((slot) => cursorAt(slot, 0))
    )
  }
)

t.test('a trade of a wallet is told on its channel, behind all other events of the block', async (t) => {
  const world = worldOf()
  const { connection, pipe } = world.connect()
  send(connection, { subscribe: [WALLET, TRADES] })
  await quiet()
  // The third is of another wallet, with an equal mint.
  world.commit(blockOf(103, [TRADE, TRADE, 8]))
  const told = pipe.messages.filter(({ type }) => type === 'event')
  t.strictSame(
    told.map(({ channel, cursor }) => [channel, cursor]),
    [
      [TRADES, cursorAt(103, 0)],
      [TRADES, cursorAt(103, 4)],
      [TRADES, cursorAt(103, 8)],
      [WALLET, walletCursor(cursorAt(103, 0))],
      [WALLET, walletCursor(cursorAt(103, 4))]
    ]
  )
  const data = told.map(({ data }) => data as { readonly cursor: number })
  t.strictSame(data[3], { ...data[0], cursor: walletCursor(data[0]!.cursor) }, 'with the same data')
  t.equal(pipe.writes.at(-1), 1, 'in one write')
})

t.test(
  'a subscription with since is replayed exclusively of it, flagged, completed once, then live',
  async (t) => {
    const world = worldOf()
    const { connection, pipe } = world.connect()
    send(connection, { subscribe: [TRADES], since: cursorAt(100, 0) })
    t.equal(connection.state, 'live')
    await quiet()
    world.commit(blockOf(103, [TRADE]))
    const shown = said(pipe).map(({ type, cursor, replay }) => [type, cursor, replay])
    t.same(shown, [
      ['subscribed', HEAD, undefined],
      ['event', cursorAt(100, 4), true],
      ['event', cursorAt(102, 0), true],
      ['event', cursorAt(102, 4), true],
      ['replay_complete', HEAD, undefined],
      ['event', cursorAt(103, 0), undefined]
    ])
    t.same(pipe.messages[1]!['replaying'], true)
    t.same(pipe.messages[5]!.channels, [TRADES])
  }
)

t.test('since is taken as a number or its decimal text; what is neither subscribes nothing', async (t) => {
  const world = worldOf()
  const { connection, pipe } = world.connect()
  send(connection, { subscribe: [TRADES], since: String(cursorAt(102, 0)) })
  await quiet()
  t.same(events(pipe), [cursorAt(102, 4)])
  for (const since of ['x', -1, 1.5, {}, true, '99999999999999999999']) {
    send(connection, { subscribe: ['launches'], since })
    await quiet()
    t.match(last(pipe), { type: 'error', code: 'invalid_cursor', channels: ['launches'] })
  }
  t.equal(connection.subscriptions, 1)
})

t.test('a cursor ahead of the head is warned of, and no event up to it is sent', async (t) => {
  const world = worldOf()
  const { connection, pipe } = world.connect()
  send(connection, { subscribe: [TRADES], since: cursorAt(104, 0) })
  await quiet()
  t.same(
    said(pipe).map(({ type, code }) => code ?? type),
    ['subscribed', 'cursor_ahead_of_head', 'replay_complete']
  )
  world.commit(blockOf(103, [TRADE]))
  world.commit(blockOf(104, [TRADE, TRADE]))
  await quiet()
  t.same(events(pipe), [cursorAt(104, 4)])
  t.equal(last(pipe).replay, undefined)
})

t.test(
  'a cursor is waited for up to 120 s of slots ahead; with a later one the channels are live',
  async (t) => {
    for (const [slots, expected] of [
      [300, []],
      [301, [cursorAt(103, 0)]]
    ] as const) {
      const world = worldOf()
      const { connection, pipe } = world.connect()
      const since = endOfEvents(102 + slots)
      send(connection, { subscribe: [TRADES], since })
      await quiet()
      t.match(said(pipe), [
        { type: 'subscribed', since },
        {
          code: 'cursor_ahead_of_head',
          channels: [TRADES],
          since,
          cursor: HEAD,
          after: slots === 300 ? since : HEAD
        },
        { type: 'replay_complete', cursor: HEAD }
      ])
      world.commit(blockOf(103, [TRADE]))
      await quiet()
      t.strictSame(events(pipe), expected)
      t.not(last(pipe).replay, true)
    }
  }
)

t.test('a cursor far ahead of a store without blocks subscribes from its first block on', async (t) => {
  const world = new World(new WorldStore())
  const { connection, pipe } = world.connect()
  send(connection, { subscribe: [TRADES], since: cursorAt(1_000, 0) })
  await quiet()
  world.commit(blockOf(100, [TRADE]))
  await quiet()
  t.strictSame(events(pipe), [cursorAt(100, 0)])
})

t.test(
  'a cursor before the horizon is warned of before the first event, and the replay begins there',
  async (t) => {
    const world = worldOf()
    await world.horizon.look()
    const { connection, pipe } = world.connect()
    send(connection, { subscribe: [TRADES], since: 7 })
    await quiet()
    t.match(pipe.messages[2], {
      type: 'warning',
      code: 'beyond_replay_horizon',
      channels: [TRADES],
      since: 7,
      horizon: cursorAt(100, 0) - 1
    })
    t.equal(events(pipe).length, 4)
  }
)

t.test('pools are live only: a since is warned of', async (t) => {
  const world = worldOf()
  const { connection, pipe } = world.connect()
  send(connection, { subscribe: ['pools'], since: 0 })
  await quiet()
  t.same(
    said(pipe).map(({ type, code }) => code ?? type),
    ['subscribed', 'replay_not_supported', 'replay_complete']
  )
  world.commit(blockOf(103, [OTHER]))
  t.same(events(pipe), [cursorAt(103, 2)])
})

for (const own of ['webhooks', 'revenue'])
  t.test(
    `the private channel ${own} is live only: a since is warned of, and it goes on when blocks are missed`,
    async (t) => {
      const world = worldOf()
      const { connection, pipe } = world.connect()
      const body = Buffer.from('{"cursor":')
      connection.publish(own, body)
      send(connection, { subscribe: [own, 'curves'], since: HEAD })
      await quiet()
      t.match(said(pipe), [
        { type: 'subscribed', added: [own, 'curves'], replaying: true },
        { code: 'replay_not_supported', channels: [own] },
        { type: 'replay_complete', channels: ['curves'] }
      ])
      world.jump([blockOf(103, [TRADE])])
      await quiet()
      connection.publish(own, body)
      connection.publish(own, body)
      const cursor = endOfChainEvents(103)
      t.same(events(pipe), [cursor, cursor])
      t.same(last(pipe), { type: 'event', channel: own, data: { cursor }, cursor })
      send(connection, { unsubscribe: [own] })
      await quiet()
      connection.publish(own, body)
      t.match(last(pipe), { type: 'unsubscribed', channels: [own] })
      t.equal(connection.subscriptions, 1)
    }
  )

t.test('names that are none are named in errors, and the others are subscribed', async (t) => {
  const world = worldOf()
  const { connection, pipe } = world.connect()
  send(connection, { subscribe: ['launches', 'x', 'y:z', 'trades:0', 'launches'] })
  await quiet()
  const [unknown, address, ack] = said(pipe)
  t.match(unknown, { type: 'error', code: 'unknown_channel', channels: ['x', 'y:z'] })
  t.match(address, { type: 'error', code: 'invalid_address', channels: ['trades:0'] })
  t.match(ack, { channels: ['launches'], added: ['launches'] })
})

t.test('the 51st channel is refused, and the 50 stay', async (t) => {
  const world = worldOf()
  const { connection, pipe } = world.connect()
  const names = Array.from({ length: 51 }, (_, n) => `trades:${pubkeyToBase58(key(n + 100))}`)
  send(connection, { subscribe: names })
  await quiet()
  t.match(said(pipe)[0], { type: 'error', code: 'channel_limit', channels: [names[50]] })
  t.equal((last(pipe).channels as string[]).length, 50)
  send(connection, { subscribe: [names[0]!, names[50]!] })
  await quiet()
  t.match(last(pipe), { type: 'subscribed', added: [] })
  send(connection, { unsubscribe: [names[0]!, 'nothing', names[0]!] })
  await quiet()
  t.same(last(pipe), { type: 'unsubscribed', channels: [names[0]] })
  send(connection, { subscribe: [names[50]!] })
  await quiet()
  t.match(last(pipe), { type: 'subscribed', added: [names[50]] })
})

t.test(
  'a replay is charged by event, waits for the next units, and new channels are refused meanwhile',
  async (t) => {
    const world = worldOf()
    const { connection, pipe } = world.connect(1_000, undefined, 4)
    const caller = connection.caller
    send(connection, { subscribe: ['curves'] })
    await quiet()
    const budget = new WorkBudget(world.limits.work)
    t.equal(budget.look(caller, world.nowMs).left, 4 - WORK_PRICES.call, 'a channel costs a call')
    send(connection, { subscribe: [TRADES], since: cursorAt(100, 0) })
    await quiet()
    t.equal(said(pipe).filter(({ type }) => type === 'event').length, 0, 'the replay waits')
    send(connection, { subscribe: ['pools'] })
    await quiet()
    const refused = said(pipe).find(({ code }) => code === 'rate_limited')
    t.match(refused, { type: 'error', channels: ['pools'] })
    for (let minutes = 0; minutes < 10 && last(pipe).type !== 'replay_complete'; minutes++) {
      world.nowMs += 60_000
      for (const wake of world.timers.splice(0)) wake()
      await quiet()
    }
    t.equal(said(pipe).filter(({ type }) => type === 'event').length, 3)
    t.equal(last(pipe).type, 'replay_complete')
    t.ok(budget.look(caller, world.nowMs).left < 4, 'its events cost work')
  }
)

t.test('a channel costs a call of the quota; what is too much is refused by name', async (t) => {
  const world = worldOf()
  const { connection, pipe } = world.connect(2)
  send(connection, { subscribe: ['launches', 'curves', 'pools'] })
  await quiet()
  t.match(said(pipe)[0], { type: 'error', code: 'rate_limited', channels: ['pools'] })
  t.same(last(pipe).channels, ['launches', 'curves'])
})

t.test('an invalid message is answered with an error that describes valid ones', async (t) => {
  const world = worldOf()
  const { connection, pipe } = world.connect()
  const wrong = [
    'nope',
    '[]',
    'null',
    '['.repeat(65),
    '{}',
    '{"subscribe":[]}',
    '{"subscribe":"launches"}',
    '{"subscribe":[1]}',
    '{"ping":1}'
  ]
  for (const text of wrong) {
    send(connection, text)
    await quiet(2)
    t.match(last(pipe), { type: 'error', code: 'invalid_json', message: /subscribe/ }, text)
  }
  connection.receive(null, 3)
  await quiet(2)
  t.match(last(pipe), { code: 'invalid_json', message: /binary/ })
  send(connection, { ping: true, more: 'is ignored' })
  await quiet(2)
  t.same(last(pipe), { type: 'pong' })
  t.equal(pipe.closedWith, null)
})

t.test(
  'a hundred invalid messages in a row close with 4400, and a valid one starts the count again',
  async (t) => {
    const world = worldOf()
    const { connection, pipe } = world.connect()
    let sent = 0
    const sendInvalid = async (count: number): Promise<void> => {
      for (let n = 0; n < count; n++) {
        // Ten a second, below the rate limit.
        world.nowMs += 100
        if (sent++ % 2 === 0) send(connection, '{')
        else connection.receive(null, 3)
        await quiet(2)
      }
    }
    await sendInvalid(INVALID_MESSAGES_MAX - 1)
    world.nowMs += 100
    send(connection, { subscribe: ['unknown'] })
    await quiet(2)
    t.match(last(pipe), { code: 'unknown_channel' })
    await sendInvalid(INVALID_MESSAGES_MAX - 1)
    t.equal(pipe.closedWith, null)
    await sendInvalid(1)
    t.match(last(pipe), { type: 'error', code: 'invalid_json' }, 'the last one is answered too')
    t.equal(pipe.closedWith, 4400)
  }
)

t.test('a message is read up to its bound; a longer one is refused and closes with 1009', async (t) => {
  const world = worldOf()
  const { connection, pipe } = world.connect()
  const messageOf = (size: number): string => {
    const short = JSON.stringify({ ping: true, more: '' })
    return JSON.stringify({ ping: true, more: 'x'.repeat(size - short.length) })
  }
  for (const size of [4_097, 16 * 1024 + 1, MESSAGE_BYTES_MAX]) {
    send(connection, messageOf(size))
    await quiet(2)
    t.same(last(pipe), { type: 'pong' }, `${size} bytes`)
  }
  send(connection, messageOf(MESSAGE_BYTES_MAX + 1))
  await quiet(2)
  t.match(last(pipe), { code: 'message_too_large', message: /65536 bytes at most; this one has 65537/ })
  t.equal(pipe.closedWith, 1009)
})

t.test('a flood of messages is answered once a second, and far too many close with 4429', async (t) => {
  const world = worldOf()
  const { connection, pipe } = world.connect()
  for (let n = 0; n < 300; n++) send(connection, { ping: true })
  await quiet()
  t.equal(said(pipe).filter(({ type }) => type === 'pong').length, 100)
  t.equal(said(pipe).filter(({ code }) => code === 'rate_limited').length, 1)
  world.nowMs = 1_000
  send(connection, { ping: true })
  await quiet()
  t.same(last(pipe), { type: 'pong' })
  for (let n = 0; n < 1_000; n++) send(connection, { ping: true })
  t.equal(pipe.closedWith, 4429)
})

t.test(
  'a client that reads nothing is owed no more than its room, is told of the hole, and can fill it',
  async (t) => {
    const world = worldOf()
    world.room = { events: 8, bytes: 2 ** 20 }
    const { connection, pipe } = world.connect()
    send(connection, { subscribe: [TRADES] })
    await quiet()
    pipe.isReading = false
    for (let slot = 103; slot < 123; slot++) world.commit(blockOf(slot, [TRADE]))
    t.equal(connection.state, 'overflowing')
    t.equal(connection.owed, 8)
    pipe.isReading = true
    pipe.read()
    connection.drained()
    t.equal(connection.state, 'live')
    const hole = pipe.messages.find(({ code }) => code === 'events_dropped')!
    t.match(hole, {
      dropped: 12,
      from_cursor: cursorAt(104, 0) - 1,
      to_cursor: cursorAt(115, 0),
      channels: [TRADES]
    })
    const [before, after] = [pipe.messages.indexOf(hole) - 1, pipe.messages.indexOf(hole) + 1]
    t.same(
      [pipe.messages[before]!.cursor, pipe.messages[after]!.cursor],
      [cursorAt(103, 0), cursorAt(116, 0)]
    )
    const heard = pipe.messages.length
    send(connection, { subscribe: [TRADES], since: hole['from_cursor'] })
    await quiet()
    const filled = pipe.messages.slice(heard).filter(({ type }) => type === 'event')
    t.same(
      filled.map(({ cursor }) => cursor),
      Array.from({ length: 19 }, (_, n) => cursorAt(104 + n, 0))
    )
  }
)

t.test('a replay waits for a client that reads slowly, and holds little meanwhile', async (t) => {
  const store = new WorldStore()
  store.blocks = Array.from({ length: 3_000 }, (_, n) => blockOf(100 + n, [TRADE]))
  const world = new World(store)
  const { connection, pipe } = world.connect()
  pipe.isReading = false
  send(connection, { subscribe: [TRADES], since: 0 })
  await quiet(50)
  t.equal(connection.state, 'replaying')
  t.ok(store.reads <= 2, `${store.reads} reads`)
  t.ok(connection.owed <= 600)
  while (connection.state === 'replaying') {
    pipe.read()
    connection.drained()
    await quiet(2)
  }
  t.equal(events(pipe).length, 3_000)
  t.notOk(pipe.messages.some(({ code }) => code === 'events_dropped'))
})

t.test('a client that does not answer pings is closed with 4408', async (t) => {
  const { connection, pipe } = worldOf().connect()
  connection.ping()
  connection.ponged()
  for (let n = 0; n < 2; n++) connection.ping()
  t.equal(pipe.closedWith, null)
  connection.ping()
  t.equal(pipe.closedWith, 4408)
  t.equal(pipe.pings, 3)
})

t.test('a drain says when to come back, and closes with 1001', async (t) => {
  const world = worldOf()
  const { connection, pipe } = world.connect()
  send(connection, { subscribe: [TRADES] })
  await quiet()
  connection.drain(1_234)
  t.equal(connection.state, 'draining')
  t.match(last(pipe), { type: 'warning', code: 'server_draining', retry_after_ms: 1_234 })
  t.equal(pipe.closedWith, 1001)
  world.commit(blockOf(103, [TRADE]))
  t.equal(world.hub.channels, 0)
  connection.closed()
  t.equal(connection.state, 'closed')
})

t.test('a replay that fails closes its connection with 1011, and no other', async (t) => {
  const world = worldOf()
  const [one, other] = [world.connect(), world.connect()]
  const { read } = world.store
  Object.assign(world.store, { read: () => Promise.reject(new Error('disk on fire')) })
  send(one.connection, { subscribe: [TRADES], since: 0 })
  send(other.connection, { subscribe: [TRADES] })
  await quiet()
  t.equal(one.pipe.closedWith, 1011)
  t.match(world.faults, [/disk on fire/])
  Object.assign(world.store, { read })
  world.commit(blockOf(103, [TRADE]))
  t.same(events(other.pipe), [cursorAt(103, 0)])
})

t.test('a connection that fails is closed with 1011, and the others of its channel are told', async (t) => {
  const world = worldOf()
  const [one, other] = [world.connect(), world.connect()]
  for (const { connection } of [one, other]) send(connection, { subscribe: [TRADES] })
  await quiet()
  Object.assign(one.pipe, {
    write: () => {
      throw new Error('a socket that cannot be written to')
    }
  })
  world.commit(blockOf(103, [TRADE]))
  t.equal(one.pipe.closedWith, 1011)
  t.match(world.faults, [/cannot be written to/])
  t.same(events(other.pipe), [cursorAt(103, 0)])
  t.equal(other.pipe.closedWith, null)
})

t.test('a client that sends and reads nothing is closed before its answers are many', async (t) => {
  const world = worldOf()
  const { connection, pipe } = world.connect()
  pipe.isReading = false
  for (let n = 0; n < 1_200 && pipe.closedWith === null; n++) {
    world.nowMs = n * 1_000
    send(connection, { ping: true })
    await quiet(1)
  }
  t.equal(pipe.closedWith, 4408)
})

t.test('a channel that fails is given up, read again from the store, and no other notices', async (t) => {
  const world = worldOf()
  const { connection, pipe } = world.connect()
  send(connection, { subscribe: [TRADES, 'pools'] })
  await quiet()
  const broken = blockOf(103, [TRADE, OTHER])
  const row = broken.trades[0]!
  Object.defineProperty(row, 'inAmount', {
    get() {
      Object.defineProperty(row, 'inAmount', { value: 1n })
      throw new Error('a row that cannot be read at first')
    }
  })
  world.commit(broken)
  await quiet()
  world.commit(blockOf(104, [TRADE]))
  t.match(world.faults, [/cannot be read at first/])
  t.same(events(pipe), [cursorAt(103, 0), cursorAt(103, 6), cursorAt(104, 0)])
})

t.test(
  'a fork that is lost is taken back before the next block, on every channel, the newest first',
  async (t) => {
    const world = worldOf()
    const { connection, pipe } = world.connect()
    send(connection, { subscribe: [TRADES, 'venue:raydium-amm-v4', WALLET] })
    await quiet()
    world.commit(blockOf(103, [TRADE]))
    world.rollBack(1, 105)
    await quiet()
    t.equal(events(pipe).length, 3, 'nothing is said before there is a block to go on with')
    world.commit(blockOf(105, [TRADE]))
    await quiet()
    const retracted = pipe.messages.filter(({ data }) => (data as { event?: string })?.event === 'retract')
    t.strictSame(
      retracted.map(({ channel, data, cursor }) => [channel, data, cursor]),
      [
        [WALLET, walletCursor(cursorAt(103, 0)), 0],
        ['venue:raydium-amm-v4', cursorAt(103, 3), 1],
        // The copies on two other channels are between.
        [TRADES, cursorAt(103, 0), 4]
      ].map(([channel, of, place]) => {
        const cursor = endOfEvents(104) + 1 + Number(place)
        const signature = encodeBase58(new Uint8Array(64))
        return [channel, { event: 'retract', of, signature, slot: 103, ts_ms: 103, cursor }, cursor]
      })
    )
    t.same(events(pipe).slice(-3), [cursorAt(105, 0), cursorAt(105, 3), walletCursor(cursorAt(105, 0))])
  }
)

t.test('whoever was told of a lost fork by a process that has ended is told by the next one', async (t) => {
  for (const isBetween of [false, true]) {
    const world = worldOf()
    world.commit(blockOf(103, [TRADE]))
    const since = cursorAt(103, 0)
    world.rollBack(1, 105)
    if (!isBetween) world.commit(blockOf(105, [TRADE]))
    const next = new World(world.store)
    const { connection, pipe } = next.connect()
    send(connection, { subscribe: [TRADES], since })
    await quiet()
    if (isBetween) next.commit(blockOf(105, [TRADE]))
    await quiet()
    const [first, second] = pipe.messages.filter(({ type }) => type === 'event')
    t.match(
      first,
      { data: { event: 'retract', of: since } },
      isBetween ? 'before the next block' : 'after it'
    )
    t.equal(second?.cursor, cursorAt(105, 0))
  }
})
