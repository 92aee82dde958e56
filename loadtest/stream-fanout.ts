/**
 * Measures fan-out: the cost of sending committed events to many connections. Compared with plain `ws` (one `send` per
 * connection and event, of a text encoded once) and with `nats-server` over its WebSocket. Payloads and receivers are equal,
 * and rounds alternate in one run. Each receiver checks every event: none lost, repeated or out of order. `ready_frames` is the
 * floor in Node: a process that only writes one ready frame per connection and event.
 *
 * A measurement starts with a commit. Rows, log entries encoded by ingest, and the peers' texts of trades are prepared
 * before. A price tick is not in the log and is encoded at the commit; for NATS its publisher encodes it, which does not
 * count. Processor time is that of the server's process, all threads, on its own core. A block is committed when every
 * connection has received all of the previous one.
 *
 *     node loadtest/stream-fanout.ts [path of nats-server] [rounds] [connections/channels or connections/channels/burst…]
 */
import { giveServersCore, leaveServersACore } from './cores.ts'
import { TIDY } from './stream/committing.ts'
import { Receiving, type Received } from './stream/receiving.ts'
import { findNats, millrace, nats, plainWs, type Side } from './stream/sides.ts'
import { channelNamed, FIRST_SLOT, OFFSETS, type Kind } from './stream/trades.ts'
import { reported, writeResult } from './result.ts'
import { median } from './median.ts'

const [binary = findNats() ?? '', roundsText = '3', ...sizes] = process.argv.slice(2)
const rounds = Number(roundsText)
const SIZES = ['1/1', '100/1', '300/1', '1000/1', '2000/1', '5000/1', '5000/500']
const BURSTS = [1, 8, 64]
const AUDIENCES = (sizes.length > 0 ? sizes : SIZES).map((size): Audience => {
  const [connections, channels, burst] = size.split('/').map(Number) as [number, number, number?]
  return { connections, channels, bursts: burst === undefined ? BURSTS : [burst] }
})
const KINDS: readonly Kind[] = ['price', 'trades']
/** Rounds until the code is compiled; the compiler's threads would count as the server's time. */
const WARM_UP_ROUNDS = 3
/** Approximate number of deliveries a round, and the bounds of its number of blocks. */
const DELIVERIES = 200_000
const BLOCKS = { least: 2, most: 1_024 }
/** Required ratios of deliveries per second of processor time: to plain `ws` at bursts of 8 and of 1, and to NATS. */
const BARS = { plain_ws: 5, plain_ws_single: 1, nats_server: 2 }

interface Audience {
  readonly connections: number
  readonly channels: number
  readonly bursts: readonly number[]
}

interface Round extends Received {
  /** Processor time of the server per delivery, in microseconds. */
  readonly cpuMicros: number
}

/** One server and its receivers. */
class Stand {
  readonly side: Side
  readonly #receiving = new Receiving()
  #slot = FIRST_SLOT

  constructor(side: Side) {
    this.side = side
  }

  async open({ connections, channels }: Audience, kind: Kind): Promise<void> {
    const { side } = this
    const { url, protocol } = side
    const clients = Array.from({ length: connections }, (_, n) => ({
      path: side.path(n),
      channel: n % channels
    }))
    await this.#receiving.connect(url, protocol, clients)
    await this.#receiving.subscribe(clients.map(({ channel }) => channelNamed(kind, channel)))
  }

  async measure({ connections, channels }: Audience, kind: Kind, burst: number): Promise<Round> {
    const each = connections * burst
    const blocks = Math.ceil(Math.min(BLOCKS.most, Math.max(BLOCKS.least, DELIVERIES / each)))
    await this.#receiving.run({ firstSlot: this.#slot, burst, offset: OFFSETS[kind] }, each)
    const shape = { channels, burst }
    await this.side.prepare(Array.from({ length: blocks }, () => ({ slot: this.#slot++, shape })))
    const before = this.side.threadsCpuMs()
    for (let i = 0; i < blocks; i++) {
      const got = this.#receiving.got()
      this.side.commit()
      await got
    }
    const cpuMs = this.side.threadsCpuMs() - before
    const report = await this.#receiving.report(await this.side.committedAt())
    if (report.received !== blocks * each) throw new Error(`${report.received} of ${blocks * each} came`)
    return { ...report, cpuMicros: (cpuMs * 1_000) / report.received }
  }

  async close(): Promise<void> {
    await this.#receiving.end()
    await this.side.end()
  }
}

const start: Readonly<Record<string, (audience: Audience, kind: Kind) => Promise<Side>>> = {
  millrace: ({ connections }) => millrace(connections, { nodeArgs: [TIDY] }),
  plain_ws: () => plainWs(),
  ready_frames: () => plainWs('frames'),
  ...(binary === '' ? {} : { nats_server: (_audience: Audience, kind: Kind) => nats(binary, kind) })
}
if (binary === '')
  console.error(
    'NO nats-server ON THE PATH: it is left out. go install github.com/nats-io/nats-server/v2@latest'
  )

const hasCore = leaveServersACore()
if (!hasCore) console.error('THE SERVERS HAVE NO CORE OF THEIR OWN: there is one, or no taskset')

async function measureAudience(audience: Audience, kind: Kind): Promise<object> {
  const stands: Record<string, Stand> = {}
  try {
    for (const [name, side] of Object.entries(start)) {
      stands[name] = new Stand(await side(audience, kind))
      if (hasCore) giveServersCore(stands[name].side.pid)
      await stands[name].open(audience, kind)
    }
    const bursts: Record<string, object> = {}
    for (const burst of audience.bursts) {
      const results: Record<string, Round[]> = {}
      for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
        for (const [name, stand] of Object.entries(stands)) {
          const result = await stand.measure(audience, kind, burst)
          if (round >= 0) (results[name] ??= []).push(result)
        }
      }
      bursts[burst] = figures(results)
      const { connections, channels } = audience
      reported(`${kind} to ${connections} readers`, { channels, burst, ...bursts[burst] })
    }
    return { connections: audience.connections, channels: audience.channels, bursts }
  } finally {
    for (const stand of Object.values(stands)) await stand.close()
  }
}

function figures(results: Readonly<Record<string, readonly Round[]>>): object {
  const each = <T>(of: (rounds: readonly Round[]) => T): Record<string, T> =>
    Object.fromEntries(Object.entries(results).map(([name, all]) => [name, of(all)]))
  const cpu = each((all) => median(all.map(({ cpuMicros }) => cpuMicros)))
  const ratio = Object.fromEntries(
    Object.keys(cpu)
      .filter((name) => name !== 'millrace')
      .map((name) => [name, cpu[name]! / cpu.millrace!])
  )
  return {
    cpu_us_a_delivery: cpu,
    rounds: each((all) => all.map(({ cpuMicros }) => cpuMicros)),
    deliveries_a_cpu_second: each((all) => Math.round(1e6 / median(all.map(({ cpuMicros }) => cpuMicros)))),
    ratio_to: ratio,
    p50_ms: each((all) => median(all.map(({ p50Ms }) => p50Ms))),
    p99_ms: each((all) => median(all.map(({ p99Ms }) => p99Ms)))
  }
}

const kinds: Record<string, object[]> = {}
for (const kind of KINDS) {
  kinds[kind] = []
  for (const audience of AUDIENCES) kinds[kind].push(await measureAudience(audience, kind))
}
const figuresNow = {
  closed_loop: true,
  servers_have_a_core: hasCore,
  rounds,
  deliveries_a_round: DELIVERIES,
  bars: BARS,
  verified_complete: true,
  ...kinds
}
if (sizes.length > 0) process.stdout.write(`${JSON.stringify(figuresNow, null, 2)}\n`)
else await writeResult('stream-fanout', figuresNow)
