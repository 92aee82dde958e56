/**
 * Measures the replay of many channels to one connection, from a store on one CQL node: trades, prices and pools of twelve
 * tokens and their venue, 37 channels in all. Measured once undisturbed, and once with a client that disconnects repeatedly
 * and resumes after its last event.
 *
 *     node loadtest/scylla-replay.ts [blocks of the past] [rounds]
 */
import WebSocket from 'ws'
import { cursorAt } from '../src/market/cursor.ts'
import { CqlCluster } from '../test/servers/cql-cluster.ts'
import { figuresOf } from './measured-process.ts'
import { writeResult } from './result.ts'
import { median } from './series.ts'
import { eventOf } from './stream/event-message.ts'
import { millrace } from './stream/sides.ts'
import { channelNamed, FIRST_SLOT, poolChannelOf, tradesOf, VENUE } from './stream/trades.ts'

const BAR_PER_SECOND = 20_000
const TOKENS = 12
/**
 * Trades of a token in a block. The n-th token trades in every n-th block: activity of a market's tokens varies as much.
 */
const TRADES = 4
const CUT_AFTER_MS = 1_000
const blocks = Number(process.argv[2] ?? 1_000)
const rounds = Number(process.argv[3] ?? 3)
/** Each trade is published on four kinds of channels. */
const events =
  4 *
  Array.from({ length: blocks }, (_, i) => FIRST_SLOT + i)
    .map((slot) => tradesOf(slot, { channels: TOKENS, burst: TRADES, isUneven: true }).length)
    .reduce((sum, length) => sum + length, 0)
const tokens = Array.from({ length: TOKENS }, (_, n) => n)
const CHANNELS = [
  `venue:${VENUE}`,
  ...tokens.flatMap((n) => [channelNamed('trades', n), channelNamed('price', n), poolChannelOf(n)])
]
const cluster = await CqlCluster.start({ fast: true })
const server = await millrace(100, { past: [blocks, TRADES, TOKENS], cqlPort: cluster.port })
const node = figuresOf(cluster.nodes[0]!.pid!)
let connections = 0

/** Reads after a cursor until `most` events arrived or the time is over. Returns their number and the last cursor. */
function read(since: number, most: number, cutAfterMs: number): Promise<{ got: number; last: number }> {
  return new Promise((resolve, reject) => {
    const url = server.url.replace('http', 'ws') + server.path(connections++ % 100)
    const socket = new WebSocket(url, { perMessageDeflate: false })
    let [got, last] = [0, since]
    const timer = cutAfterMs === 0 ? undefined : setTimeout(() => socket.terminate(), cutAfterMs)
    socket.on('open', () => socket.send(JSON.stringify({ subscribe: CHANNELS, since })))
    socket.on('message', (message: Buffer) => {
      const event = eventOf(message)
      if (event === null) return
      if (event.cursor <= last) reject(new Error(`${event.cursor} comes after ${last}`))
      last = event.cursor
      if (++got === most) socket.terminate()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clearTimeout(timer)
      resolve({ got, last })
    })
  })
}

async function replay(cutAfterMs: number) {
  const [cpu, nodeCpu, started] = [server.cpuMs(), node.cpuMs(), performance.now()]
  let [got, last, cuts] = [0, cursorAt(FIRST_SLOT, 0) - 1, -1]
  for (; got < events; cuts++) {
    const part = await read(last, events - got, cutAfterMs)
    got += part.got
    last = part.last
  }
  const seconds = (performance.now() - started) / 1_000
  const figures = {
    events_per_second: events / seconds,
    cuts,
    cpu_us_an_event: ((server.cpuMs() - cpu) * 1_000) / events,
    node_cpu_us_an_event: ((node.cpuMs() - nodeCpu) * 1_000) / events
  }
  console.error(JSON.stringify(figures))
  return figures
}

try {
  const measured: Record<string, unknown> = {}
  for (const [name, cutAfterMs] of [
    ['undisturbed', 0],
    ['cut_off', CUT_AFTER_MS]
  ] as const) {
    const all = []
    for (let round = 0; round <= rounds; round++) all.push(await replay(cutAfterMs))
    // The first round is the warm-up.
    const perSecond = median(all.slice(1).map(({ events_per_second }) => events_per_second))
    measured[name] = {
      events_per_second: perSecond,
      reached: perSecond >= BAR_PER_SECOND,
      rounds: all.slice(1)
    }
  }
  await writeResult('scylla-replay', {
    channels: CHANNELS.length,
    events,
    cut_after_ms: CUT_AFTER_MS,
    bar: { events_per_second: BAR_PER_SECOND },
    ...measured
  })
} finally {
  await server.end()
  await cluster.end()
}
