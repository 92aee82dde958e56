/**
 * Measures replay to a socket: the speed at which one client receives the past of a channel. Also measures the effect of
 * twenty simultaneous replays on the latency of clients that receive new blocks. Both kinds of channels are read from the
 * embedded store: `venue:` from the log, as it was sent, and `trades:` from rows.
 *
 *     node loadtest/stream-replay.ts [events of the past] [rounds]
 */
import { setTimeout as pause } from 'node:timers/promises'
import { cursorAt } from '../src/market/cursor.ts'
import { writeResult } from './result.ts'
import { median } from './median.ts'
import { Receiving, type Received } from './stream/receiving.ts'
import { millrace } from './stream/sides.ts'
import { channelNamed, FIRST_SLOT, OFFSETS, OTHER_TOKEN, VENUE } from './stream/trades.ts'

const BARS = { events_per_second: 200_000, live_p99: 2 }
/** Trades a block, about as many as a slot has on the busiest venue. */
const TRADES_A_BLOCK = 256
const CLIENTS_AT_ONCE = 20
const LIVE = { connections: 100, burst: 8, everyMs: 25, quietMs: 3_000 }
const CHANNELS = { venue: `venue:${VENUE}`, trades: channelNamed('trades', 0) } as const
type Channel = keyof typeof CHANNELS
/**
 * `nice` value of the replaying clients. There are fewer cores than processes, and the measured clients must not wait for
 * them.
 */
const REPLAYING_PRIORITY = 10

const events = Number(process.argv[2] ?? 100_000)
const rounds = Number(process.argv[3] ?? 3)
const blocks = Math.ceil(events / TRADES_A_BLOCK)
const server = await millrace(1_000, { past: [blocks, TRADES_A_BLOCK] })
let connections = 0
let slot = FIRST_SLOT + blocks

interface Replay extends Received {
  readonly perSecond: number
  readonly cpuMicros: number
}

/** Has clients read the last blocks of the past concurrently, each all of them. */
async function replay(channel: Channel, clients: number, ofBlocks: number): Promise<Replay> {
  const receiving = new Receiving(REPLAYING_PRIORITY)
  try {
    const all = Array.from({ length: clients }, () => ({ path: server.path(connections++), channel: 0 }))
    await receiving.connect(server.url, server.protocol, all)
    const firstSlot = FIRST_SLOT + blocks - ofBlocks
    const run = { firstSlot, burst: TRADES_A_BLOCK, offset: OFFSETS[channel] }
    await receiving.run(run, clients * ofBlocks * TRADES_A_BLOCK)
    const [cpuBefore, started] = [server.cpuMs(), performance.now()]
    await receiving.subscribe(
      all.map(() => CHANNELS[channel]),
      cursorAt(firstSlot, 0) - 1
    )
    await receiving.got()
    const ms = performance.now() - started
    const cpuMs = server.cpuMs() - cpuBefore
    const report = await receiving.report([])
    return {
      ...report,
      perSecond: (report.received / ms) * 1_000,
      cpuMicros: (cpuMs * 1_000) / report.received
    }
  } finally {
    await receiving.end()
  }
}

/** Measures the latency of live clients while `during` runs. */
async function live(receiving: Receiving, during: () => Promise<unknown>): Promise<Received> {
  const { connections, burst, everyMs } = LIVE
  await receiving.run({ firstSlot: slot, burst, offset: OFFSETS.trades }, connections * burst)
  let isOver = false
  const over = during().finally(() => (isOver = true))
  let told = 0
  while (!isOver) {
    await server.prepare([{ slot: slot++, shape: { channels: 1, burst, isOther: true } }])
    server.commit()
    told++
    await pause(everyMs)
  }
  await over
  for (let i = 0; i < told; i++) await receiving.got()
  return receiving.report(await server.committedAt())
}

async function measureLive(channel: Channel): Promise<object> {
  const receiving = new Receiving()
  try {
    const all = Array.from({ length: LIVE.connections }, () => ({
      path: server.path(connections++),
      channel: 0
    }))
    await receiving.connect(server.url, server.protocol, all)
    await receiving.subscribe(all.map(() => channelNamed('trades', OTHER_TOKEN)))
    const [quiet, busy]: [number[], number[]] = [[], []]
    const rates: number[] = []
    for (let round = 0; round <= rounds; round++) {
      const before = await live(receiving, () => pause(LIVE.quietMs))
      const meanwhile = await live(receiving, async () => {
        const { perSecond } = await replay(channel, CLIENTS_AT_ONCE, Math.ceil(blocks / 4))
        rates.push(perSecond)
      })
      // The first round is the warm-up.
      if (round === 0) continue
      quiet.push(before.p99Ms)
      busy.push(meanwhile.p99Ms)
    }
    return {
      clients: CLIENTS_AT_ONCE,
      events_per_second_of_all: Math.round(median(rates.slice(1))),
      live: LIVE,
      live_p99_ms: { quiet: median(quiet), replaying: median(busy), rounds: { quiet, replaying: busy } },
      ratio: median(busy) / median(quiet),
      reached: median(busy) / median(quiet) <= BARS.live_p99
    }
  } finally {
    await receiving.end()
  }
}

async function measureChannel(channel: Channel): Promise<object> {
  const alone: Replay[] = []
  for (let round = 0; round <= rounds; round++) alone.push(await replay(channel, 1, blocks))
  const counted = alone.slice(1)
  const perSecond = median(counted.map(({ perSecond }) => perSecond))
  const cpuMicros = median(counted.map(({ cpuMicros }) => cpuMicros))
  const one = {
    events_per_second: Math.round(perSecond),
    rounds: counted.map(({ perSecond }) => Math.round(perSecond)),
    cpu_us_an_event: cpuMicros,
    events_a_cpu_second: Math.round(1e6 / cpuMicros),
    bytes_an_event: counted[0]!.bytes / counted[0]!.received,
    reached: perSecond >= BARS.events_per_second
  }
  console.error(channel, JSON.stringify(one))
  const together = await measureLive(channel)
  console.error(channel, JSON.stringify(together))
  return { one, together }
}

try {
  const channels: Record<string, object> = {}
  for (const channel of ['venue', 'trades'] as const) channels[channel] = await measureChannel(channel)
  await writeResult('stream-replay', {
    events: blocks * TRADES_A_BLOCK,
    events_a_block: TRADES_A_BLOCK,
    rounds,
    bars: BARS,
    ...channels,
    verified_complete: true
  })
} finally {
  await server.end()
}
