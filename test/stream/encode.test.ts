import assert from 'node:assert/strict'
import t from 'tap'
import { encodeBase58 } from '../../src/chain/base58.ts'
import { COPY_OFFSETS, cursorAt, eventCursor } from '../../src/market/cursor.ts'
import type { EncodedEvent, LogEntry } from '../../src/market/log.ts'
import type { RowOrigin } from '../../src/market/rows.ts'
import type { BlockRows } from '../../src/market/records.ts'
import { BlockEvents } from '../../src/stream/block-events.ts'
import { encodeLog } from '../../src/stream/encode.ts'
import { channelsOf } from '../../src/stream/retractions.ts'
import { recordedChain } from '../http/recorded-chain.ts'
import { ingestAll } from '../market/memory-store.ts'
import { block, buy, curve, launch, OPTIONS, OTHER, TOKEN, trade } from '../market/world.ts'

/** Fields that the specification names, in its order. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  trade: ['venue', 'event', 'exec_in', 'exec_out', 'slot', 'ts_ms'],
  launch: ['slot', 'venue', 'event', 'base_mint', 'symbol', 'name', 'user', 'ts_ms'],
  liquidity: ['slot', 'venue', 'event', 'ts_ms'],
  curve: ['slot', 'venue', 'event', 'ts_ms'],
  pool: ['slot', 'venue', 'event', 'ts_ms']
}

const encode = (rows: BlockRows): LogEntry[] => encodeLog(rows, OPTIONS.cash)

/** Returns an event's data as a client parses it. */
const dataOf = ({ cursor, body }: EncodedEvent) =>
  JSON.parse(`${Buffer.from(body).toString('utf8')}${cursor}}`) as Record<string, unknown>

/** Returns each copy that a block must have on the channels of the log. */
function copiesOf({ slot, trades, poolEvents, launches }: BlockRows): string[] {
  const copies: string[] = []
  const add = (channel: string, kind: string, offset: number, row: RowOrigin): void => {
    const place = [encodeBase58(row.signature), row.ixIndex, row.innerIxIndex]
    copies.push([channel, row.cursor + offset, kind, ...place].join(' '))
  }
  for (const row of trades)
    if (eventCursor(row) === row.cursor) add(`venue:${row.venue}`, 'trade', COPY_OFFSETS.trade.venue, row)
  for (const row of poolEvents) {
    const { kind } = row.body
    add(`venue:${row.venue}`, kind, COPY_OFFSETS[kind].venue, row)
    if (kind === 'pool') add('pools', kind, COPY_OFFSETS.pool.pools, row)
    if (kind === 'curve') add('curves', kind, COPY_OFFSETS.curve.curves, row)
  }
  for (const row of launches) {
    if (row.slot !== slot.slot) continue
    add('launches', 'launch', COPY_OFFSETS.launch.launches, row)
    add(`venue:${row.venue}`, 'launch', COPY_OFFSETS.launch.venue, row)
  }
  return copies.sort()
}

t.test(
  'of all that was recorded each event is once on its channels, at the places of its copies',
  async (t) => {
    const { folds } = ingestAll(recordedChain(), OPTIONS)
    const counts: Record<string, number> = {}
    for (const fold of folds) {
      const entries = encode(fold)
      const found: string[] = []
      for (const { channel, slot, events } of entries) {
        assert.equal(slot, fold.slot.slot)
        assert.ok(events.length > 0, 'an empty part is none')
        let before = cursorAt(slot, 0) - 1
        for (const event of events) {
          const { cursor } = event
          assert.ok(cursor > before && cursor < cursorAt(slot + 1, 0), 'they ascend in their slot')
          before = cursor
          const data = dataOf(event)
          const kind = data['kind'] as string
          const keys = Object.keys(data)
          const named = NAMED[kind]!
          assert.deepEqual(keys.slice(0, named.length), named)
          assert.deepEqual([keys.at(-1), data['cursor']], ['cursor', cursor])
          assert.equal(data['ts_ms'], fold.slot.receivedAtMs)
          assert.ok(!keys.includes('status'), 'what has become of a launch is not of its block')
          found.push(
            [channel, cursor, kind, data['signature'], data['ix_index'], data['inner_ix_index']].join(' ')
          )
          counts[kind] = (counts[kind] ?? 0) + 1
        }
      }
      assert.equal(
        new Set(entries.map(({ channel }) => channel)).size,
        entries.length,
        'a channel has one part'
      )
      assert.deepEqual(found.sort(), copiesOf(fold))
    }
    for (const kind of Object.keys(NAMED)) t.ok(counts[kind], `${counts[kind]} copies of kind ${kind}`)
  }
)

t.test('a swap without a cash side has a row for each mint, and is once on its venue', async (t) => {
  const swap = trade({ inMint: TOKEN, outMint: OTHER, inDecimals: 6, outDecimals: 6 })
  const { folds } = ingestAll([block(5, 1_000, [swap, buy(10n ** 9n, 10n ** 6n)])], OPTIONS)
  t.equal(folds[0]!.trades.length, 3)
  const [entry, ...others] = encode(folds[0]!)
  t.strictSame(others, [])
  t.equal(entry?.channel, 'venue:pumpswap')
  t.strictSame(
    entry?.events.map((event) => [event.cursor - cursorAt(5, 0), dataOf(event)['event']]),
    [
      [COPY_OFFSETS.swap.venue, 'swap'],
      [4 + COPY_OFFSETS.trade.venue, 'buy']
    ]
  )
})

t.test('a launch is told of in its own block, and not where its status changes', async (t) => {
  const chain = [
    block(5, 1_000, [launch(), curve('create')]),
    block(6, 1_001, [buy(10n ** 9n, 10n ** 6n)]),
    block(7, 1_002, [])
  ]
  const { folds } = ingestAll(chain, OPTIONS)
  t.ok(folds[1]!.launches.length > 0, 'its status has changed')
  const channels = folds.map((fold) => encode(fold).map(({ channel, events }) => [channel, events.length]))
  t.strictSame(channels[0]!.toSorted(), [
    ['curves', 1],
    ['launches', 1],
    ['venue:pumpswap', 2]
  ])
  t.strictSame(channels.slice(1), [[['venue:pumpswap', 1]], []])
})

t.test('what is told live of a block is the same with what ingest has encoded, and without', async (t) => {
  const { folds } = ingestAll(recordedChain(), OPTIONS)
  let events = 0
  for (const fold of folds) {
    const channels = channelsOf(fold)
    const fresh = new BlockEvents(fold, OPTIONS.cash).on(channels)
    const log = encode(fold)
    const reused = new BlockEvents({ ...fold, log }, OPTIONS.cash).on(channels)
    assert.deepStrictEqual([...reused.keys()], [...fresh.keys()])
    for (const [channel, told] of fresh) {
      assert.deepStrictEqual(reused.get(channel), told, channel.name)
      events += told.length
    }
    const bodies = new Set(log.flatMap((entry) => entry.events.map(({ body }) => body)))
    for (const [channel, told] of reused)
      if (channel.kind !== 'price' && channel.kind !== 'trades')
        assert.ok(
          told.every(({ body }) => bodies.has(body)),
          'none is encoded again'
        )
  }
  t.ok(events > 900, `${events} events`)
})
