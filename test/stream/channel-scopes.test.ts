import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { DEFAULT_SCOPES, SCOPES } from '../../src/access/scopes.ts'
import { VENUE_IDS } from '../../src/chain/venue-id.ts'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { cursorAt } from '../../src/market/cursor.ts'
import {
  CHANNEL_FORMS,
  isFault,
  PRIVATE_CHANNEL_SCOPES,
  scopeOfChannel,
  streamChannelOf,
  type StreamChannel
} from '../../src/stream/channel.ts'
import { Caller } from '../../src/access/caller.ts'
import { asyncApiOf } from '../../src/edge/routes/asyncapi.ts'
import { ROOT } from '../house/sources.ts'
import { blockOf, MINTS } from './blocks.ts'
import { KEY, quiet, send, World, WorldStore } from './stream-world.ts'

interface AsyncApi {
  readonly channels: { readonly stream: { readonly description: string } }
}

/** A channel of every form. */
const CHANNELS: readonly StreamChannel[] = CHANNEL_FORMS.map((form) => {
  const name = form
    .replace('<venue>', VENUE_IDS[0])
    .replace(/<(mint|pool|address)>/, pubkeyToBase58(MINTS[0]!))
  const channel = streamChannelOf(name)
  if (isFault(channel)) throw new Error(channel.message)
  return channel
})

function worldOf(): World {
  const store = new WorldStore()
  store.blocks = [blockOf(100, [0])]
  const world = new World(store)
  world.commit(blockOf(101, [0]))
  return world
}

t.test('a channel of the chain needs no scope of its own, and each channel of the tenant one', async (t) => {
  t.strictSame(
    CHANNELS.flatMap((channel) => {
      const scope = scopeOfChannel(channel)
      return scope === null ? [] : [[channel.name, scope]]
    }),
    [
      ['webhooks', 'webhooks'],
      ['tx', 'tx:send'],
      ['revenue', 'revenue']
    ]
  )
  for (const channel of CHANNELS) {
    const scope = scopeOfChannel(channel)
    if (scope !== null) t.ok(DEFAULT_SCOPES.includes(scope), `a default key has ${channel.name}`)
  }
})

t.test('the page of the stream and its AsyncAPI document state each scope', async (t) => {
  const page = readFileSync(join(ROOT, 'src/docs/stream.md'), 'utf8')
  const document: unknown = await asyncApiOf({ version: '1', sourceKind: 'rpc' })
  const { description } = (document as AsyncApi).channels.stream
  for (const [channel, scope] of Object.entries(PRIVATE_CHANNEL_SCOPES)) {
    t.match(page, new RegExp(`^\\| \`${channel}\` +\\| \`${scope}\` +\\|$`, 'm'))
    t.match(description, new RegExp(`^\\| \`${channel}\` \\| .*Needs the scope \`${scope}\` \\|$`, 'm'))
  }
})

for (const since of [undefined, cursorAt(100, 0)])
  t.test(
    `a key has a channel ${since === undefined ? 'live' : 'on replay'} with its scope, and with no other`,
    async (t) => {
      const world = worldOf()
      for (const scope of SCOPES)
        for (const channel of CHANNELS) {
          const { connection, pipe } = world.connect(1_000_000, ['stream', scope])
          send(connection, { subscribe: [channel.name], since })
          await quiet(4)
          const needed = scopeOfChannel(channel)
          const isPermitted = needed === null || needed === scope
          t.equal(connection.subscriptions, isPermitted ? 1 : 0, `${channel.name} with ${scope}`)
          const errors = pipe.messages.filter(({ type }) => type === 'error')
          if (isPermitted) t.strictSame(errors, [])
          else
            t.strictSame(errors, [
              {
                type: 'error',
                code: 'insufficient_scope',
                message: `this API key lacks the scope ${needed}, which the channel needs`,
                channels: [channel.name]
              }
            ])
          connection.closed()
        }
    }
  )

t.test(
  'channels without their scope cost no call, and the others of the message are subscribed',
  async (t) => {
    const world = worldOf()
    const { connection, pipe } = world.connect(1, ['stream'])
    send(connection, { subscribe: ['tx', 'launches', 'revenue', 'webhooks'] })
    await quiet()
    t.match(pipe.messages.at(-1), { type: 'subscribed', channels: ['launches'], added: ['launches'] })
  }
)

t.test('a key that loses a scope loses the channels that need it, and keeps the others', async (t) => {
  const world = worldOf()
  const { connection, pipe } = world.connect()
  send(connection, { subscribe: ['launches', 'tx', 'revenue', 'webhooks'] })
  await quiet()
  const before = pipe.messages.length
  connection.follow(new Caller({ ...KEY, scopes: ['stream', 'webhooks'] }, 1))
  t.strictSame(
    pipe.messages.slice(before).map(({ code, channels }) => [code, channels]),
    [
      ['insufficient_scope', ['tx']],
      ['insufficient_scope', ['revenue']]
    ]
  )
  t.match(pipe.messages.at(-1), { message: /no longer has the scope revenue/ })
  connection.publish('revenue', Buffer.from('{"cursor":'))
  t.equal(pipe.messages.length, before + 2, 'no event of a lost channel is sent')
  connection.publish('webhooks', Buffer.from('{"a":1,"cursor":'))
  t.match(pipe.messages.at(-1), { type: 'event', channel: 'webhooks' })
  t.equal(pipe.closedWith, null)
})

t.test('a scope that is lost while a subscription waits for the store is missing for it', async (t) => {
  const world = worldOf()
  const { connection, pipe } = world.connect()
  send(connection, { subscribe: ['tx', 'launches'] })
  connection.follow(new Caller({ ...KEY, scopes: ['stream'] }, 1_000))
  await quiet()
  t.match(pipe.messages.at(-1), { type: 'subscribed', channels: ['launches'] })
  t.match(pipe.messages.at(-2), { code: 'insufficient_scope', channels: ['tx'] })
})

t.test('a replay of a channel ends when the key loses its scope', async (t) => {
  const world = worldOf()
  world.store.delays = [4]
  const { connection, pipe } = world.connect()
  send(connection, { subscribe: ['tx', 'launches'], since: cursorAt(100, 0) })
  await quiet(3)
  t.equal(connection.state, 'replaying')
  connection.follow(new Caller({ ...KEY, scopes: ['stream'] }, 1_000))
  await quiet()
  t.equal(connection.subscriptions, 1)
  t.equal(world.faults.length, 0)
  t.same(pipe.messages.filter(({ type }) => type === 'replay_complete').at(-1)?.channels, ['launches'])
})
