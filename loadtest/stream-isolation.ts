/**
 * Measures isolation: the latency of a tenant's clients while another tenant disturbs their channel. The latter has 200
 * clients that never read, and 200 that subscribe and unsubscribe in a loop. Quiet and disturbed rounds alternate in one
 * run.
 *
 * Blocks are sent by the clock, whether or not earlier ones have arrived. A latency starts when the block is sent to the
 * server, so that a busy server shows. Each event is checked: none lost, repeated or out of order.
 *
 *     node loadtest/stream-isolation.ts [rounds] [seconds of a round]
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { splitCursor } from '../src/market/cursor.ts'
import { heldMemory, INSPECTED, inspectorOf, saidByItself } from './held-memory.ts'
import { startMeasured } from './measured-process.ts'
import { writeResult } from './result.ts'
import { median } from './median.ts'
import type { Order } from './stream/committing.ts'
import type { Disturbance, DisturbanceReport } from './stream/disturbing-clients.ts'
import { keyOf } from './stream/keys.ts'
import { storeOtherTenant } from './stream/other-tenant.ts'
import { Receiver } from './stream/receiver.ts'
import { channelNamed, cursorOf, FIRST_SLOT, monotonicMs, OFFSETS } from './stream/trades.ts'

const rounds = Number(process.argv[2] ?? 7)
const seconds = Number(process.argv[3] ?? 10)
const GOOD = { connections: 50, burst: 8, everyMs: 25 }
const FROZEN = 200
const CHURNING = 200
const BARS = { ratio: 1.2, ms: 5 }
/** Requests a minute of the disturbing tenant's keys: more than its loops make, or the default. */
const QUOTAS = { without_quota: 1_000_000_000, default_quota: 600 } as const
type Quota = keyof typeof QUOTAS
/** Seconds until the server must have dropped frozen clients: two unanswered pings last up to 75 s; the rest is margin. */
const GONE_SECONDS_MAX = 300
/** Seconds until the system's buffers for frozen clients must be full, and the interval at which that is checked. */
const FILLING_SECONDS_MAX = 60
const FILLING_STEP = 2
const MIB = 2 ** 20
const CHANNEL = channelNamed('trades', 0)

interface Health {
  readonly connections: number
  readonly dropped_total: number
}

interface Latency {
  readonly p50Ms: number
  readonly p99Ms: number
}

interface Round extends Latency {
  readonly cpuShare: number
}

async function measure(quota: Quota): Promise<object> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-isolation-'))
  // Each round, and the measurement of frozen clients alone, has its own keys.
  await storeOtherTenant(directory, (FROZEN + CHURNING) * (rounds + 2), QUOTAS[quota])
  const connections = String(GOOD.connections)
  const server = await startMeasured('stream/millrace-server.ts', [connections, directory], {
    nodeArgs: INSPECTED
  })
  const { url } = server
  const disturbing = new Disturbing(url)
  const tell = (order: Order): void => server.send(JSON.stringify(order))
  const good = new GoodTenant((slot) => {
    tell({ kind: 'prepare', blocks: [{ slot, shape: { channels: 1, burst: GOOD.burst } }] })
    tell({ kind: 'commit' })
  })
  const health = async (): Promise<Health> =>
    (await (await fetch(`${url}/v1/stream/health`)).json()) as Health
  const round = async (): Promise<Round> => {
    const before = server.cpuMs()
    const latency = await good.round(seconds)
    return { ...latency, cpuShare: (server.cpuMs() - before) / (seconds * 1000) }
  }
  /** Commits blocks until the server starts to drop the frozen clients' events. The system's socket buffers fill first. */
  const fill = async (droppedBefore: number): Promise<Latency & { readonly seconds: number }> => {
    for (let n = 1; n <= FILLING_SECONDS_MAX / FILLING_STEP; n++) {
      const latency = await good.round(FILLING_STEP)
      const { dropped_total: dropped } = await health()
      if (dropped - droppedBefore > FROZEN * GOOD.burst) return { ...latency, seconds: n * FILLING_STEP }
    }
    throw new Error('the server dropped nothing for the frozen clients: they still read')
  }

  async function frozenAlone(): Promise<object> {
    const inspector = inspectorOf(server)
    const held = async (): Promise<number> => (await heldMemory(inspector)).rss / MIB
    const before = await held()
    const { dropped_total: droppedBefore } = await health()
    const began = performance.now()
    await disturbing.begin(FROZEN, 0)
    await fill(droppedBefore)
    await good.round(FILLING_STEP)
    const full = await held()
    const { connections, dropped_total: dropped } = await health()
    const closed: Record<string, number> = {}
    for (let left = connections; left > GOOD.connections; left = (await health()).connections) {
      await good.round(1)
      const second = (performance.now() - began) / 1000
      if (left < connections) closed['first'] ??= second
      if (left <= GOOD.connections + FROZEN / 2) closed['half'] ??= second
      closed['all'] = second
      if (second > GONE_SECONDS_MAX) throw new Error(`${left} connections are left after ${second} s`)
    }
    const after = await held()
    await disturbing.end()
    return {
      held_mib: { before, full, after },
      kib_a_frozen_reader: ((full - before) * 1024) / FROZEN,
      connections_while_full: connections,
      dropped: dropped - droppedBefore,
      closed_by_the_server_after_seconds: closed
    }
  }

  try {
    await good.connect(url)
    const [quiet, filling, disturbed]: [Round[], Latency[], Round[]] = [[], [], []]
    const fired: object[] = []
    for (let n = 0; n <= rounds; n++) {
      const calm = await round()
      const { dropped_total: before } = await health()
      await disturbing.begin(FROZEN, CHURNING)
      const { seconds: full_after_seconds, ...whileFilling } = await fill(before)
      const meanwhile = await round()
      const { dropped_total: after, connections } = await health()
      const { messages, lost } = await disturbing.end()
      while ((await health()).connections > GOOD.connections) await pause(100)
      const faults = { full_after_seconds, messages, dropped: after - before, connections, lost }
      console.error(
        quota,
        JSON.stringify({ quiet: calm, filling: whileFilling, disturbed: meanwhile, ...faults })
      )
      // The first round is the warm-up.
      if (n === 0) continue
      quiet.push(calm)
      filling.push(whileFilling)
      disturbed.push(meanwhile)
      fired.push(faults)
    }
    const figures = { ...compared(quiet, disturbed), p99_ms_while_filling: p99(filling), disturbance: fired }
    return quota === 'default_quota' ? figures : { ...figures, frozen_alone: await frozenAlone() }
  } finally {
    disturbing.leave()
    await server.end()
    for (const line of saidByItself(server)) console.error(line)
    rmSync(directory, { recursive: true })
  }
}

const p99 = (all: readonly Latency[]): number => median(all.map(({ p99Ms }) => p99Ms))

function compared(quiet: readonly Round[], disturbed: readonly Round[]) {
  const [before, meanwhile] = [p99(quiet), p99(disturbed)]
  return {
    p99_ms: { quiet: before, disturbed: meanwhile },
    p50_ms: {
      quiet: median(quiet.map(({ p50Ms }) => p50Ms)),
      disturbed: median(disturbed.map(({ p50Ms }) => p50Ms))
    },
    ratio: meanwhile / before,
    difference_ms: meanwhile - before,
    reached: meanwhile / before < BARS.ratio || meanwhile - before < BARS.ms,
    server_cpu_share: {
      quiet: median(quiet.map(({ cpuShare }) => cpuShare)),
      disturbed: median(disturbed.map(({ cpuShare }) => cpuShare))
    },
    rounds: { quiet: quiet.map(({ p99Ms }) => p99Ms), disturbed: disturbed.map(({ p99Ms }) => p99Ms) }
  }
}

/** The other tenant's clients, in their own process. */
class Disturbing {
  readonly #url: string
  readonly #child = fork(join(import.meta.dirname, 'stream/disturbing-clients.ts'))
  readonly #ended = new AbortController()
  #connections = 0

  constructor(url: string) {
    this.#url = url
    this.#child.once('exit', () => this.#ended.abort(new Error('the disturbing clients have ended')))
  }

  async begin(frozen: number, churning: number): Promise<void> {
    const first = this.#connections
    this.#connections += frozen + churning
    await this.#ask({ url: this.#url, channel: CHANNEL, frozen, churning, first })
  }

  end(): Promise<DisturbanceReport> {
    return this.#ask('end')
  }

  leave(): void {
    if (this.#child.connected) this.#child.disconnect()
  }

  async #ask(order: Disturbance | 'end'): Promise<DisturbanceReport> {
    this.#ended.signal.throwIfAborted()
    const answer = once(this.#child, 'message', { signal: this.#ended.signal })
    this.#child.send(order)
    return ((await answer) as [DisturbanceReport])[0]
  }
}

/** The measured clients, in this process, and the blocks that are published to them. */
class GoodTenant {
  readonly #commit: (slot: number) => void
  #receivers: Receiver[] = []
  /** When each block was sent to the server, in milliseconds. */
  readonly #sentAt: number[] = []
  #latencies: number[] = []
  #fault: string | null = null

  constructor(commit: (slot: number) => void) {
    this.#commit = commit
  }

  async connect(url: string): Promise<void> {
    const run = { firstSlot: FIRST_SLOT, burst: GOOD.burst, offset: OFFSETS.trades }
    const fault = (text: string): void => void (this.#fault ??= text)
    this.#receivers = Array.from({ length: GOOD.connections }, () => {
      const take = (receiver: Receiver, cursor: number, nowMs: number): void => {
        const expected = cursorOf(receiver.events++, run, 0)
        if (cursor !== expected) fault(`event ${cursor} came instead of ${expected}`)
        this.#latencies.push(nowMs - this.#sentAt[splitCursor(cursor).slot - FIRST_SLOT]!)
      }
      return new Receiver('messages', 0, take, fault)
    })
    for (const [n, receiver] of this.#receivers.entries()) {
      await receiver.connect(url, `/v1/stream?key=${keyOf(n)}`)
      await receiver.subscribe(CHANNEL, null)
    }
  }

  /** Commits blocks for some seconds and resolves when all events have arrived. */
  async round(seconds: number): Promise<{ p50Ms: number; p99Ms: number }> {
    this.#latencies = []
    const blocks = (seconds * 1000) / GOOD.everyMs
    const startMs = monotonicMs()
    for (let n = 0; n < blocks; n++) {
      await pause(Math.max(0, startMs + n * GOOD.everyMs - monotonicMs()))
      const slot = FIRST_SLOT + this.#sentAt.length
      this.#sentAt.push(monotonicMs())
      this.#commit(slot)
    }
    const all = blocks * GOOD.connections * GOOD.burst
    const late = performance.now() + 30_000
    while (this.#latencies.length < all && this.#fault === null && performance.now() < late) await pause(5)
    if (this.#fault !== null) throw new Error(this.#fault)
    if (this.#latencies.length !== all) throw new Error(`${this.#latencies.length} of ${all} events came`)
    const sorted = Float64Array.from(this.#latencies).sort()
    return { p50Ms: sorted[Math.floor(all * 0.5)]!, p99Ms: sorted[Math.floor(all * 0.99)]! }
  }
}

const measured: Record<string, object> = {}
for (const quota of ['without_quota', 'default_quota'] as const) measured[quota] = await measure(quota)
await writeResult('stream-isolation', {
  rounds,
  seconds_a_round: seconds,
  good_tenant: GOOD,
  disturbing_tenant: { frozen: FROZEN, churning: CHURNING },
  bars: BARS,
  ...measured,
  verified_complete: true
})
process.exit()
