import t from 'tap'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { cursorAt } from '../../src/market/cursor.ts'
import { eventFrames } from '../../src/stream/frames.ts'
import { selectedFrames } from '../../src/stream/selected-fields.ts'
import { blockOf, MINTS } from './blocks.ts'
import { textsOf, type FakePipe, type Message } from './fake-pipe.ts'
import { quiet, send, World, WorldStore } from './stream-world.ts'

const TRADES = `trades:${pubkeyToBase58(MINTS[0]!)}`
const TRADE = 0

function worldOf(): World {
  const store = new WorldStore()
  store.blocks = [blockOf(100, [TRADE, TRADE])]
  const world = new World(store)
  world.commit(blockOf(102, [TRADE, TRADE]))
  return world
}

const eventsOf = ({ messages }: FakePipe): Message[] => messages.filter(({ type }) => type === 'event')
const fieldsOf = (message: Message | undefined): string[] => Object.keys(message?.['data'] as object)

t.test('events have the fields that a subscription names, in its order, live and replayed', async (t) => {
  const world = worldOf()
  const [some, whole] = [world.connect(), world.connect()]
  send(some.connection, { subscribe: [TRADES, 'launches'], since: 0, fields: ['price', 'slot', 'signature'] })
  send(whole.connection, { subscribe: [TRADES, 'launches'], since: 0 })
  await quiet(40)
  world.commit(blockOf(103, [TRADE]))
  const [found, expected] = [eventsOf(some.pipe), eventsOf(whole.pipe)]
  t.equal(found.length, 5)
  t.ok(found[0]!.replay === true && found.at(-1)!.replay === undefined, 'some of the past, and a live one')
  t.strictSame(
    found,
    expected.map((message) => {
      const { price, slot, signature } = message['data'] as Record<string, unknown>
      return { ...message, data: { price, slot, signature } }
    }),
    'with the same cursors'
  )
  t.strictSame(fieldsOf(found[0]), ['price', 'slot', 'signature'])
  const ack = some.pipe.messages.find(({ type }) => type === 'subscribed')
  t.strictSame(ack!['fields'], ['price', 'slot', 'signature'])
})

t.test('the fields of a channel are changed, removed by null, and forgotten with the channel', async (t) => {
  const world = worldOf()
  const { connection, pipe } = world.connect()
  let slot = 102
  const next = async (message: object): Promise<string[]> => {
    send(connection, message)
    await quiet()
    world.commit(blockOf(++slot, [TRADE]))
    return fieldsOf(eventsOf(pipe).at(-1))
  }
  t.strictSame(await next({ subscribe: [TRADES], fields: ['price'] }), ['price'])
  t.strictSame(await next({ subscribe: [TRADES] }), ['price'], 'a channel that it has stays as it is')
  t.strictSame(await next({ subscribe: [TRADES], fields: ['slot', 'price'] }), ['slot', 'price'])
  t.ok((await next({ subscribe: [TRADES], fields: null })).length > 40)
  t.strictSame(await next({ subscribe: [TRADES], fields: ['price'] }), ['price'])
  send(connection, { unsubscribe: [TRADES] })
  t.ok((await next({ subscribe: [TRADES] })).length > 40, 'a new subscription is whole')
})

t.test('wrong fields are refused by name, and nothing is subscribed', async (t) => {
  const world = worldOf()
  const { connection, pipe } = world.connect()
  for (const [fields, message] of [
    [['price', 'no_such'], /"no_such".*they have .*price/],
    [['symbol'], /"symbol"/],
    [[], /must name a field/],
    [['price', 'price'], /price twice/],
    ['price', /must be a list of names/],
    [[1], /must be a list of names/],
    [{ price: 1 }, /must be a list of names/]
  ] as const) {
    send(connection, { subscribe: [TRADES], fields })
    await quiet()
    t.match(pipe.messages.at(-1), { type: 'error', code: 'invalid_fields', message, channels: [TRADES] })
  }
  t.equal(connection.subscriptions, 0)
  send(connection, { subscribe: [TRADES, 'launches'], fields: ['symbol', 'price'] })
  await quiet()
  t.match(pipe.messages.at(-1), { type: 'subscribed' }, 'a field of one of the channels')
})

t.test(
  'a choice of fields is filtered once for all readers of a channel, and retractions stay whole',
  async (t) => {
    const body = (data: object) =>
      new Uint8Array(Buffer.from(`${JSON.stringify(data).slice(0, -1)},"cursor":`))
    const retraction = { event: 'retract', of: 7, signature: 'x', slot: 1, ts_ms: 5 }
    const frames = eventFrames(
      'launches',
      [
        { cursor: cursorAt(1, 0), body: body({ event: 'create', name: 'ü"', symbol: 'S' }) },
        { cursor: cursorAt(1, 1), body: body(retraction) }
      ],
      false
    )
    const made = selectedFrames(frames, ['symbol', 'name'])
    t.equal(selectedFrames(frames, ['symbol', 'name']), made, 'the same frames for a second reader')
    t.not(selectedFrames(frames, ['name', 'symbol']), made, 'another order is another choice')
    t.strictSame(made.cursors, frames.cursors)
    const [launch, retracted] = textsOf(made.bytes)
    t.equal(
      launch,
      `{"type":"event","channel":"launches","data":{"symbol":"S","name":"ü\\""},"cursor":${cursorAt(1, 0)}}`
    )
    t.equal(retracted, textsOf(frames.bytes)[1])
  }
)
