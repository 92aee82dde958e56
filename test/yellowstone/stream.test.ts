import t, { type Test } from 'tap'
import { decodeTransactions } from '../../src/chain/decode-block.ts'
import { readRpcBlock } from '../../src/chain/rpc/block.ts'
import type { Block } from '../../src/chain/transaction.ts'
import { openStreams } from '../../src/yellowstone/client.ts'
import { BLOCK_SLOT, fixtureBlock, testWithFixtures } from '../fixtures.ts'
import { encodeBlock, encodeUpdate, updateBlock } from './encode-block.ts'
import { startSource, TOKEN } from './source-under-test.ts'
import { blockMessage, CuttingProxy, StreamServer, type Subscription } from './stream-server.ts'
import { until } from '../until.ts'

async function serve(t: Test, play: (subscription: Subscription, nth: number) => unknown) {
  const server = await StreamServer.start(play)
  t.teardown(() => server.close())
  return server
}

/** A node that has every block, and records the requested slots. */
function nodeWith(answer: (slot: number) => Block | 'skipped' | null = emptyBlock) {
  const asked: number[] = []
  return {
    asked,
    fetchMissing: async (slot: number) => {
      asked.push(slot)
      return answer(slot)
    }
  }
}

function emptyBlock(slot: number): Block {
  return { slot, parentSlot: slot - 1, blockTime: 1_700_000_000 + slot, transactions: [], votes: 0 }
}

testWithFixtures(t, 'the recorded block over gRPC gives the events that it gives from JSON', async (t) => {
  const message = encodeBlock(updateBlock(fixtureBlock(), BLOCK_SLOT))
  const server = await serve(t, (subscription) => subscription.send(message))
  const source = startSource(t, { url: server.url }, null)
  const [sourced] = await source.take(1)
  const polled = readRpcBlock(fixtureBlock(), BLOCK_SLOT)
  if (polled.kind !== 'block') throw new Error(polled.kind)
  const text = (block: Pick<Block, 'transactions'>): string =>
    JSON.stringify(decodeTransactions(block.transactions), (_, each: unknown) =>
      typeof each === 'bigint' ? `${each}n` : each
    )
  t.ok(text(sourced!.block) === text(polled.block), 'the same events')
  t.ok(text(sourced!.block).length > 10_000)
  t.match(sourced, { commitment: 'confirmed', block: { slot: BLOCK_SLOT, votes: 158 } })
  const [{ request, token }] = server.subscriptions as [Subscription]
  t.equal(token, TOKEN)
  t.match(request, {
    commitment: 1,
    blocks: { blocks: { includeTransactions: true, includeAccounts: false } }
  })
  t.equal(request.fromSlot, undefined, 'an empty store begins at the newest slot')
  t.match(source.status(), { state: 'advancing', reason: null, slot: BLOCK_SLOT })
})

t.test(
  'a connection that breaks inside a block is opened again from the first slot that is not there',
  async (t) => {
    const server = await serve(t, async (subscription, nth) => {
      if (nth === 1) {
        await subscription.sendSlots(11, 12)
        await subscription.send(blockMessage(13, 12, 400_000))
      } else await subscription.sendSlots(subscription.fromSlot!, 16)
    })
    const proxy = await CuttingProxy.start(server.port, 200_000)
    t.teardown(() => proxy.close())
    const source = startSource(t, { url: proxy.url }, 10)
    t.same(await source.slots(6), [11, 12, 13, 14, 15, 16])
    t.equal(proxy.cuts, 1, 'it was cut')
    t.same(
      server.subscriptions.map(({ fromSlot }) => fromSlot),
      [10, 12]
    )
    t.equal(source.problems().length, 1, 'and that is one line')
  }
)

t.test('a stream that only pings is stalled, and its pings are answered', async (t) => {
  let pinging: NodeJS.Timeout | undefined
  const server = await serve(t, async (subscription, nth) => {
    await subscription.sendSlots(subscription.fromSlot!, nth === 1 ? 12 : 13)
    if (nth === 1) pinging = setInterval(() => void subscription.ping(), 20)
  })
  t.teardown(() => clearInterval(pinging))
  const source = startSource(t, { url: server.url, tuning: { stallMs: 1_000 } }, 10)
  t.same(await source.slots(3), [11, 12, 13])
  const [first, second] = server.subscriptions as [Subscription, Subscription]
  t.ok(first.pongs > 2, `${first.pongs} pings were answered`)
  t.ok(source.gauge('pings') > 2)
  t.equal(second.fromSlot, 12)
  t.match(source.problems()[0], /has sent no newer slot for 1000 ms/)
  await until(() => first.isOver, 'the stalled stream is closed')
})

t.test('a node whose slots are below what is stored is told of, and nothing of it comes', async (t) => {
  let sending: NodeJS.Timeout | undefined
  const server = await serve(t, (subscription) => {
    let slot = 40
    sending ??= setInterval(() => void subscription.send(blockMessage(++slot)), 20)
  })
  t.teardown(() => clearInterval(sending))
  const source = startSource(t, { url: server.url, tuning: { stallMs: 500 } }, 1_000)
  source.begin()
  await until(() => source.status()?.state === 'stalled', 'it is stalled')
  t.match(source.problems(), [/has sent no newer slot for 500 ms: it is at slot \d+, below 1000/])
  t.equal(source.gauge('blocks'), 0)
  t.ok(source.gauge('repeated') > 2, `${source.gauge('repeated')} slots came`)
})

t.test('a stream of another cluster is one line and a state, and nothing of it comes', async (t) => {
  const server = await serve(t, (subscription) => subscription.sendSlots(300, 310))
  const reason = 'is of another cluster than the stored blocks: its genesis is b, the stored one is a'
  const askNodes = async () => ({ kind: 'other', reason }) as const
  const source = startSource(t, { url: server.url, askNodes }, 100)
  source.begin()
  await until(() => source.status()?.state === 'refused', 'it is refused')
  const name = server.url.slice('http://'.length)
  t.same(source.problems(), [`${name} ${reason}; the service does not retry`])
  t.match(source.shown(), { state: 'refused', reason, nodes: [{ name, state: 'refused', reason }] })
  await source.end()
  t.equal(server.subscriptions.length, 1)
  t.equal(source.gauge('blocks') + source.gauge('held_blocks'), 0)
})

t.test('a stream that nodes cannot tell yet is waited for, and taken once they can', async (t) => {
  const server = await serve(t, (subscription) => subscription.sendSlots(101, 103))
  const reason = 'is not known to be of the cluster of what is stored: the node is away'
  let asked = 0
  const askNodes = async () =>
    ++asked > 3 ? ({ kind: 'same' } as const) : ({ kind: 'unknown', reason } as const)
  const head = async () => ({ slot: 100, blockTime: 1_700_000_100, parentSlot: 99 })
  const source = startSource(t, { url: server.url, askNodes, head }, 100)
  t.same(await source.slots(3), [101, 102, 103])
  t.equal(asked, 4)
  t.equal(server.subscriptions.length, 4)
  t.match(source.problems(), [reason], 'one line')
  t.equal(source.problems().length, 1)
})

t.test(
  'a server that gives another chain after a break is refused, by the block that came before',
  async (t) => {
    const server = await serve(t, async (subscription, nth) => {
      if (nth === 1) {
        await subscription.sendSlots(101, 103)
        subscription.fail('UNAVAILABLE', 'server is shutting down try again later')
      } else
        for (const slot of [103, 104, 105]) await subscription.send(blockMessage(slot, slot - 1, 0, 'other'))
    })
    const source = startSource(t, { url: server.url }, 100)
    t.same(await source.slots(3), [101, 102, 103])
    source.begin()
    await until(() => source.status()?.state === 'refused', 'it is refused')
    t.equal(server.subscriptions[1]?.fromSlot, 103)
    t.match(
      source.problems().at(-1),
      /another cluster than the stored blocks, or was restored.*: its block of slot 103 differs/
    )
    t.equal(source.gauge('blocks'), 3, 'nothing of the other chain is given out')
  }
)

t.test('repeated slots count for nothing, and late ones come in their place', async (t) => {
  const server = await serve(t, async (subscription) => {
    for (const slot of [11, 11, 10, 9, 13, 12, 12, 16, 14, 15, 11, 17]) {
      await subscription.send(blockMessage(slot))
    }
  })
  const source = startSource(t, { url: server.url, tuning: { graceMs: 20_000 } }, 10)
  t.same(await source.slots(7), [11, 12, 13, 14, 15, 16, 17])
  t.ok(source.gauge('repeated') >= 4, `${source.gauge('repeated')} repeated`)
  t.same(source.gaps, [])
})

t.test('slots that have no block are no gaps', async (t) => {
  const server = await serve(t, async (subscription) => {
    await subscription.send(blockMessage(13, 10))
    await subscription.send(blockMessage(17, 13))
  })
  const source = startSource(t, { url: server.url }, 10)
  t.same(await source.slots(2), [13, 17])
  t.same(source.gaps, [])
})

t.test('a block that the stream leaves out is fetched, and given out in its place', async (t) => {
  const server = await serve(t, async (subscription) => {
    for (const slot of [11, 12, 15, 16]) await subscription.send(blockMessage(slot))
  })
  const { asked, fetchMissing } = nodeWith((slot) =>
    slot === 13 ? 'skipped' : { ...emptyBlock(slot), parentSlot: 12 }
  )
  const source = startSource(t, { url: server.url, fetchMissing }, 10)
  t.same(await source.slots(5), [11, 12, 14, 15, 16])
  t.same(asked, [13, 14])
  t.equal(source.gauge('fetched'), 1)
  t.same(source.gaps, [])
})

t.test('a block that no node delivers in time is a gap, reported before the next block', async (t) => {
  const server = await serve(t, async (subscription) => {
    for (const slot of [11, 14, 15]) await subscription.send(blockMessage(slot))
  })
  const { asked, fetchMissing } = nodeWith(() => null)
  const source = startSource(t, { url: server.url, fetchMissing, tuning: { giveUpMs: 500 } }, 10)
  t.same(await source.slots(1), [11])
  t.same(source.gaps, [])
  t.same(await source.slots(1), [14])
  t.same(source.gaps, [{ from: 12, to: 13, reason: 'missing' }])
  t.ok(asked.filter((slot) => slot === 12).length > 2, 'it was asked for several times')
  t.same(await source.slots(1), [15])
  t.match(source.problems()[0], /slots 12 to 13 are abandoned/)
})

t.test('a block that cannot be read is fetched from a node', async (t) => {
  const server = await serve(t, async (subscription) => {
    await subscription.send(blockMessage(11))
    const { blockTime, ...rest } = updateBlock(
      { blockhash: 'hash-12', previousBlockhash: 'hash-11', parentSlot: 11, blockTime: 1, transactions: [] },
      12
    )
    t.ok(blockTime)
    await subscription.send(encodeUpdate({ block: rest }))
    await subscription.send(blockMessage(13))
  })
  const { asked, fetchMissing } = nodeWith()
  const source = startSource(t, { url: server.url, fetchMissing }, 10)
  t.same(await source.slots(3), [11, 12, 13])
  t.same(asked, [12])
  t.equal(source.gauge('unreadable'), 1)
  t.match(source.problems(), ["slot 12: the stream's block cannot be read: blockTime"])
})

t.test('a server whose bytes are no messages is left behind at the third time', async (t) => {
  let sent = 0
  const server = await serve(t, async (subscription, nth) => {
    if (nth > 2) return subscription.sendSlots(14, 15)
    sent++
    await subscription.send(Buffer.from([0xff, 0xff, 0xff, 0x01, 0x02]))
  })
  const { asked, fetchMissing } = nodeWith()
  const source = startSource(t, { url: server.url, fetchMissing }, 10)
  t.same(await source.slots(5), [11, 12, 13, 14, 15])
  t.equal(sent, 2, 'it sent garbage')
  t.same(
    server.subscriptions.map(({ fromSlot }) => fromSlot),
    [10, 10, null]
  )
  t.same(asked, [11, 12, 13])
  t.match(source.problems(), [/sends a message that does not follow the protocol/])
  t.equal(source.problems().length, 1, 'one line for both times')
})

t.test(
  'slots that the server no longer has are fetched, and the stream goes on from where it has them',
  async (t) => {
    const server = await serve(t, (subscription, nth) => {
      if (nth > 1) return subscription.sendSlots(subscription.fromSlot!, 30)
      subscription.fail('OUT_OF_RANGE', 'broadcast from 10 is not available, last available: 20')
    })
    const { fetchMissing } = nodeWith()
    const source = startSource(t, { url: server.url, fetchMissing }, 10)
    t.same(
      await source.slots(20),
      Array.from({ length: 20 }, (_, i) => 11 + i)
    )
    t.same(
      server.subscriptions.map(({ fromSlot }) => fromSlot),
      [10, 24]
    )
    t.equal(source.gauge('fetched'), 13)
    t.match(source.problems(), [/no longer has the slot to resume from: .*last available: 20/])
  }
)

t.test(
  'a server that prunes faster than we ask for its first slot is followed from its newest one',
  async (t) => {
    const server = await serve(t, (subscription, nth) => {
      const { fromSlot } = subscription
      if (fromSlot === null) return subscription.sendSlots(100, 101)
      const first = 20 + 10 * nth
      subscription.fail(
        'OUT_OF_RANGE',
        `broadcast from ${fromSlot} is not available, last available: ${first}`
      )
    })
    const source = startSource(t, { url: server.url }, 10)
    t.same(await source.slots(2), [100, 101])
    t.same(
      server.subscriptions.map(({ fromSlot }) => fromSlot),
      [10, 34, 44, null]
    )
    t.same(source.gaps, [{ from: 11, to: 99, reason: 'no-node' }])
  }
)

t.test('without a node to ask, slots that the server no longer has are a gap', async (t) => {
  const server = await serve(t, (subscription, nth) => {
    if (nth === 1) return subscription.fail('INTERNAL', 'from_slot is not supported')
    return subscription.sendSlots(25, 26)
  })
  const source = startSource(t, { url: server.url }, 10)
  t.same(await source.slots(2), [25, 26])
  t.same(source.gaps, [{ from: 11, to: 24, reason: 'no-node' }])
  t.same(
    server.subscriptions.map(({ fromSlot }) => fromSlot),
    [10, null]
  )
})

t.test('a server that is not yet where we are is followed from its newest slot', async (t) => {
  const server = await serve(t, (subscription, nth) => {
    if (nth === 1) return subscription.fail('INTERNAL', 'failed to get replay response')
    return subscription.sendSlots(8, 12)
  })
  const source = startSource(t, { url: server.url }, 10)
  t.same(await source.slots(2), [11, 12])
  t.same(
    server.subscriptions.map(({ fromSlot }) => fromSlot),
    [10, null]
  )
  t.match(source.problems(), [/has not reached the last ingested slot yet/])
  t.same(source.gaps, [])
})

t.test('a reader that takes nothing holds the stream back, and loses nothing when it goes on', async (t) => {
  const last = 400
  const size = 200_000
  let sent = 0
  const server = await serve(t, async (subscription) => {
    for (let slot = subscription.fromSlot!; slot <= last && !subscription.isOver; slot++) {
      sent++
      await subscription.send(blockMessage(slot, slot - 1, size))
    }
  })
  const blocksMax = 20
  const source = startSource(t, { url: server.url, tuning: { blocksMax, fullMs: 300 } }, 10)
  source.begin()
  await until(() => source.status()?.state === 'full', 'the buffer is full')
  await until(() => server.subscriptions[0]?.isOver === true, 'the stream is closed')
  t.ok(source.gauge('held_blocks') <= blocksMax, `${source.gauge('held_blocks')} held`)
  // The blocks in flight fit into the connection's windows, 16 MiB, and the server's buffers.
  t.ok(sent < 200, `${sent} of ${last - 10} were sent`)
  const slots = await source.slots(last - 10)
  t.same(
    slots,
    Array.from({ length: last - 10 }, (_, i) => 11 + i)
  )
  t.ok(source.gauge('pauses') >= 1, 'it was full')
  t.ok(server.subscriptions.length > 1)
  t.same(source.gaps, [])
})

t.test('a block of another fork is told of before it comes', async (t) => {
  const server = await serve(t, async (subscription) => {
    await subscription.sendSlots(11, 13)
    await subscription.send(blockMessage(14, 12))
    await subscription.send(blockMessage(15, 14))
  })
  const source = startSource(t, { url: server.url, commitment: 'processed' }, 10)
  t.same(await source.slots(5), [11, 12, 13, 14, 15])
  t.same(source.forks, [{ slot: 14, parentSlot: 12, head: 13 }])
  t.equal(server.subscriptions[0]?.request.commitment, 0)
})

const REFUSALS: [name: string, play: (it: Subscription) => void, says: RegExp][] = [
  [
    'a wrong token',
    (it) => it.fail('UNAUTHENTICATED', `no such token ${TOKEN}`),
    /refuses the token: no such token \*\*\*/
  ],
  [
    'a token without rights',
    (it) => it.fail('PERMISSION_DENIED', 'not you'),
    /does not allow the token to subscribe: not you/
  ],
  ['another service', (it) => it.fail('UNIMPLEMENTED', ''), /does not offer geyser\.Geyser\/Subscribe/],
  [
    'a filter that is not allowed',
    (it) => it.fail('INVALID_ARGUMENT', 'no blocks'),
    /refuses the subscription: no blocks/
  ]
]
for (const [name, play, says] of REFUSALS) {
  t.test(`${name} is one line and a state, and is not tried again`, async (t) => {
    const server = await serve(t, play)
    const source = startSource(t, { url: server.url }, 10)
    source.begin()
    await until(() => source.status()?.state === 'refused', 'it is refused')
    t.match(source.status()?.reason, says)
    t.match(source.problems(), [says])
    t.equal(source.problems().length, 1)
    t.match(source.shown(), { state: 'refused', reason: says, nodes: [{ state: 'refused', reason: says }] })
    t.equal(source.gauge('is_refused'), 1)
    await source.end()
    t.equal(server.subscriptions.length, 1, 'asked once')
    t.notMatch(JSON.stringify([source.lines, source.shown()]), TOKEN)
  })
}

t.test(
  'an address that is none, and a server without TLS, are refused; one that is away is tried again',
  async (t) => {
    const server = await serve(t, () => undefined)
    const cases: [url: string, state: string, says: RegExp][] = [
      ['nonsense', 'refused', /has no valid URL/],
      [`https://127.0.0.1:${server.port}/path-with-a-secret`, 'refused', /does not speak TLS/],
      ['http://127.0.0.1:1', 'waiting', /^127\.0\.0\.1:1 cannot be reached/],
      ['http://a.name.invalid:1', 'waiting', /cannot be resolved/]
    ]
    for (const [url, state, says] of cases) {
      const source = startSource(t, { url }, 10)
      source.begin()
      await until(() => source.problems().length > 0, `${url} is told of`)
      if (state === 'waiting') await until(() => source.status()!.attempt > 3, 'it is tried again')
      else t.equal(source.status()?.state, state)
      t.match(source.problems(), [says])
      t.equal(source.problems().length, 1, 'one line')
      t.notMatch(JSON.stringify(source.lines), 'path-with-a-secret')
      await source.end()
    }
  }
)

t.test('a server that comes back is found again, and goes on where it was', async (t) => {
  const server = await serve(t, async (subscription, nth) => {
    if (nth <= 3) subscription.fail('UNAVAILABLE', 'server is shutting down try again later')
    else await subscription.sendSlots(subscription.fromSlot!, 12)
  })
  const source = startSource(t, { url: server.url }, 10)
  t.same(await source.slots(2), [11, 12])
  t.equal(server.subscriptions.length, 4)
  t.match(source.problems(), [/ended the stream: server is shutting down/])
  t.equal(source.problems().length, 1)
  t.match(source.status(), { state: 'advancing', attempt: 0 })
})

t.test('where the native package does not load, that is one line and a state', async (t) => {
  const load = async (): Promise<never> => {
    throw new Error('Cannot find native binding.\nand much more')
  }
  const address = { url: 'http://127.0.0.1:1', token: TOKEN, commitment: 'confirmed' } as const
  const source = startSource(t, { ...address, open: openStreams(address, load) }, 10)
  source.begin()
  await until(() => source.status()?.state === 'refused', 'it is refused')
  t.match(source.problems(), [/yellowstone-grpc does not load on \w+ \w+ \(Cannot find native binding\.\)/])
  t.equal(source.problems().length, 1)
})
