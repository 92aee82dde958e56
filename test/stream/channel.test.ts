import t from 'tap'
import { VENUE_IDS } from '../../src/chain/venue-id.ts'
import {
  channelOf,
  isFault,
  isReplayed,
  PRIVATE_CHANNELS,
  streamChannelOf
} from '../../src/stream/channel.ts'

const MINT = 'So11111111111111111111111111111111111111112'

t.test('every channel of the specification is read by its name', async (t) => {
  for (const kind of ['trades', 'price', 'pool', 'wallet'] as const)
    t.match(channelOf(`${kind}:${MINT}`), { kind, name: `${kind}:${MINT}` })
  for (const venue of VENUE_IDS) t.match(channelOf(`venue:${venue}`), { kind: 'venue', venue })
  for (const kind of ['launches', 'pools', 'curves'] as const) t.same(channelOf(kind), { kind, name: kind })
})

t.test('a name that is no channel says what is wrong with it', async (t) => {
  const cases: [name: string, code: string, says: RegExp][] = [
    ['', 'unknown_channel', /there are trades:<mint>/],
    ['trades', 'unknown_channel', /there are/],
    ['launches:x', 'unknown_channel', /there are/],
    ['__proto__', 'unknown_channel', /there are/],
    ['constructor:x', 'unknown_channel', /there are/],
    ['venue:uniswap', 'unknown_channel', /venues are raydium-amm-v4, /],
    ['venue:', 'unknown_channel', /venues are/],
    ['trades:', 'invalid_address', /32 bytes in base58/],
    [`trades:${MINT}x`, 'invalid_address', /32 bytes/],
    ['wallet', 'unknown_channel', /there are trades:<mint>, .*wallet:<address>/],
    ['wallet:', 'invalid_address', /32 bytes in base58/],
    ['wallet:me', 'invalid_address', /32 bytes/],
    [`wallet:${MINT.slice(1)}`, 'invalid_address', /32 bytes/],
    [`wallet:${MINT}1`, 'invalid_address', /32 bytes/],
    [`wallet: ${MINT}`, 'invalid_address', /32 bytes/],
    [`wallet:${'1'.repeat(5_000)}`, 'invalid_address', /^"wallet:1{73}…" is not a channel/],
    [`Wallet:${MINT}`, 'unknown_channel', /there are/],
    ['pool:0OIl', 'invalid_address', /32 bytes/],
    ['x'.repeat(5_000), 'unknown_channel', /^"x{80}…"/]
  ]
  for (const [name, code, says] of cases) {
    const found = channelOf(name)
    t.ok(isFault(found), name)
    t.match(found, { code, message: says })
  }
})

t.test('a private channel is known to the stream alone, which lists it among its channels', async (t) => {
  t.same(streamChannelOf('launches'), channelOf('launches'))
  for (const name of ['webhooks', 'tx', 'revenue']) {
    t.same(streamChannelOf(name), { kind: 'private', name })
    t.match(channelOf(name), {
      code: 'unknown_channel',
      message: new RegExp(`^"${name}" is a channel of the stream only; .* curves$`)
    })
    t.match(streamChannelOf(`${name}:7`), {
      code: 'unknown_channel',
      message: /curves, webhooks, tx and revenue$/
    })
  }
})

t.test('of the private channels, only that of submissions has a past', async (t) => {
  const replayed = PRIVATE_CHANNELS.filter((name) => isReplayed({ kind: 'private', name }))
  t.same(replayed, ['tx'])
})

t.test('the case of an address counts', async (t) => {
  t.match(channelOf('wallet:FrTqvWe21yaaAwMemRVpBYT7HsDjHpyVnxndzkxrb9PY'), { kind: 'wallet' })
  t.notSame(
    channelOf('wallet:FrTqvWe21yaaAwMemRVpBYT7HsDjHpyVnxndzkxrb9PY'),
    channelOf('wallet:FrTqvWe21yaaAwMemRVpBYT7HsDjHpyVnxndzkxrb9Py')
  )
})
