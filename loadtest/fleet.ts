/**
 * Measures a small fleet on one machine: a process that ingests, one that delivers, two gateways, a CQL node and Redis, with
 * a busy localnet as their node. In each phase it measures the CPU time of each role, the delay from a confirmed block to its
 * first event at a client, and the time of a submission. The phases differ in what is added, so that the cost of each part
 * follows from two of them; the last phase has several times as much of everything, and the simulation of `src/capacity` is
 * held to it (`test/capacity/fleet.test.ts`).
 *
 *     node loadtest/fleet.ts [seconds a phase]
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import WebSocket from 'ws'
import { VENUE_IDS } from '../src/chain/venue-id.ts'
import { decodeBase58, encodeBase58 } from '../src/chain/base58.ts'
import { costsOf } from '../src/capacity/fleet-costs.ts'
import { openLocalnet } from '../src/localnet/localnet.ts'
import { splitCursor } from '../src/market/cursor.ts'
import { systemPorts } from '../src/ports.ts'
import { CqlCluster } from '../test/servers/cql-cluster.ts'
import { OwnRedis } from '../test/servers/redis.ts'
import { clusterEnvironment } from '../test/service/cluster.ts'
import { signedWire, toBase64, transfer, wallet } from '../test/transactions/signed.ts'
import { CpuSpan } from './cpu-span.ts'
import { figuresOf, type MeasuredProcess } from './measured-process.ts'
import { reported, writeResult } from './result.ts'
import { ADMIN_KEY, startService, WITHOUT_LIMITS } from './service-process.ts'
import { askingOf } from './stream/asking.ts'

const SECONDS = Number(process.argv[2] ?? 40)
const SLOT_MS = 400
/** Seconds until code is compiled, and a phase's clients are connected and served. */
const WARM_UP_SECONDS = 30
const SETTLE_SECONDS = 5
const CLIENTS_A_KEY = 15
const STARTED_WITHIN_MS = 300_000
/** Channels of every client: all trades of the chain, about twenty in a slot. */
const CHANNELS = VENUE_IDS.map((venue) => `venue:${venue}`)
/** A token that trades in every block; the first client of each gateway measures delays on it. */
const PROBED = 'trades:So11111111111111111111111111111111111111112'

/** Clients and submissions a second of each phase; its name says what it adds to the one before. */
const PHASES = {
  blocks: { streams: 0, sends: 0 },
  streams: { streams: 200, sends: 0 },
  transactions: { streams: 200, sends: 20 },
  all: { streams: 500, sends: 50 }
} as const
type Phase = keyof typeof PHASES

async function until(isSo: () => Promise<boolean>, what: string): Promise<void> {
  const late = performance.now() + STARTED_WITHIN_MS
  while (!(await isSo())) {
    if (performance.now() > late) throw new Error(`it never came about: ${what}`)
    await delay(250)
  }
}

function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? 0
}

const folder = await mkdtemp(join(tmpdir(), 'millrace-fleet-'))
const cluster = await CqlCluster.start({ fast: true, disposable: true })
const redis = await OwnRedis.start()
const net = await openLocalnet({
  ...{ directory: join(folder, 'chain'), host: '127.0.0.1', port: 0, slotMs: SLOT_MS },
  ...{ past: 'none', market: 'busy', seed: 'a fleet', clock: systemPorts.clock },
  onFault: (fault) => process.stderr.write(`${String(fault)}\n`)
})
const running: MeasuredProcess[] = []
const grown = new AbortController()
let growing = Promise.resolve()
try {
  const env = {
    ...clusterEnvironment(cluster, 'fleet', redis.url),
    ...WITHOUT_LIMITS,
    ...{ MILLRACE_SCYLLA_REPLICATION: '1', MILLRACE_TPU: 'off', MILLRACE_STARTUP_WAIT_SECONDS: '120' }
  }
  await net.bank.produceSlot()
  const start = async (name: string, role: string): Promise<MeasuredProcess> => {
    const flags = ['--role', role, '--source', 'rpc', '--rpc-url', net.rpcUrl]
    const service = await startService(join(folder, name), flags, { env })
    running.push(service)
    await until(async () => (await fetch(`${service.url}/ready`)).status === 200, `${name} is ready`)
    return service
  }
  const ingest = await start('ingest', 'ingest')
  const delivery = await start('delivery', 'delivery')
  const gateways = [await start('gateway1', 'gateway'), await start('gateway2', 'gateway')] as const
  const timed = {
    ...{ ingest, delivery, gateway1: gateways[0], gateway2: gateways[1] },
    cql: figuresOf(cluster.nodes[0]!.pid!),
    redis: figuresOf(redis.pid!)
  }

  const confirmedAtMs = new Map<number, number>()
  let blocks = 0
  net.bank.listen((event) => {
    if (event.kind !== 'block' || event.commitment !== 'confirmed') return
    blocks++
    confirmedAtMs.set(event.block.slot, performance.now())
  })
  let events = 0
  let delays: number[] = []
  let closed = 0
  const sockets: WebSocket[] = []
  const { newKey } = askingOf(gateways[0].url, ADMIN_KEY)
  let key = ''
  /** Connects further clients to the gateways in turn, until there are so many. */
  const connect = async (count: number): Promise<void> => {
    while (sockets.length < count) {
      const n = sockets.length
      if (n % CLIENTS_A_KEY === 0) key = await newKey()
      const { url } = gateways[n % gateways.length]!
      const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/stream?key=${key}`)
      await new Promise<void>((resolve, reject) => {
        socket.once('open', resolve)
        socket.once('error', reject)
      })
      const isProbe = n < gateways.length
      let heardSlot = 0
      socket.on('message', (bytes: Buffer) => {
        if (!bytes.subarray(0, 20).includes('"event"')) return
        events++
        if (!isProbe) return
        const { slot } = splitCursor((JSON.parse(bytes.toString()) as { cursor: number }).cursor)
        const atMs = confirmedAtMs.get(slot)
        if (slot > heardSlot && atMs !== undefined) delays.push(performance.now() - atMs)
        heardSlot = slot
      })
      socket.once('close', () => closed++)
      socket.send(JSON.stringify({ subscribe: isProbe ? [PROBED] : CHANNELS }))
      sockets.push(socket)
    }
  }

  let sends: number[] = []
  const refused: string[] = []
  const signatures: string[] = []
  const over = new AbortController()
  let sendsASecond = 0
  let lamports = 2_000_000n
  const submit = async (url: string): Promise<void> => {
    const { blockhash } = net.bank.latestBlockhash('confirmed')
    const wire = signedWire([transfer(lamports++)], { blockhash: encodeBase58(blockhash) })
    const startMs = performance.now()
    const answer = await fetch(`${url}/v1/tx/send`, {
      method: 'POST',
      headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ tx: toBase64(wire) })
    })
    const text = await answer.text()
    sends.push(performance.now() - startMs)
    if (answer.ok) signatures.push(encodeBase58(wire.subarray(1, 65)))
    else refused.push(`${answer.status} ${text}`)
  }
  const submitting = (async () => {
    const inFlight = new Set<Promise<void>>()
    for (let n = 0; !over.signal.aborted; n++) {
      await delay(sendsASecond === 0 ? 50 : 1_000 / sendsASecond)
      if (sendsASecond === 0) continue
      const sent = submit(gateways[n % gateways.length]!.url).catch(
        (error: unknown) => void refused.push(String(error))
      )
      inFlight.add(sent)
      void sent.finally(() => inFlight.delete(sent))
    }
    await Promise.all(inFlight)
  })()

  const tradesOf = async (): Promise<number> => {
    const answer = await fetch(`${ingest.url}/metrics`, { headers: { 'x-api-key': ADMIN_KEY } })
    const lines = (await answer.text())
      .split('\n')
      .filter((line) => /^millrace_events\{.*kind="trade"/.test(line))
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
  }
  /** Returns cores by role, and what was done, over a phase. */
  const measure = async (name: string, seconds: number) => {
    const tradesBefore = await tradesOf()
    const before = { blocks, events }
    delays = []
    sends = []
    const span = new CpuSpan(timed)
    await delay(seconds * 1_000)
    const cpu = span.end()
    const measured = span.seconds
    const trades = (await tradesOf()) - tradesBefore
    return reported(name, {
      seconds: measured,
      blocks_a_second: (blocks - before.blocks) / measured,
      trades_a_second: trades / measured,
      events_a_second: (events - before.events) / measured,
      sends_a_second: sends.length / measured,
      cores: {
        ...{ ingest: cpu.ingest / 1_000, delivery: cpu.delivery / 1_000 },
        gateway: (cpu.gateway1 + cpu.gateway2) / 1_000,
        ...{ cql: cpu.cql / 1_000, redis: cpu.redis / 1_000 }
      },
      event_delay_ms: { p50: percentile(delays, 0.5), p99: percentile(delays, 0.99) },
      send_ms: { p50: percentile(sends, 0.5), p99: percentile(sends, 0.99) }
    })
  }

  // Code is compiled before anything is measured.
  growing = net.run(grown.signal)
  net.bank.airdrop(wallet(1).publicKey.toBytes(), 100_000_000_000n)
  await connect(gateways.length)
  sendsASecond = 5
  await delay(WARM_UP_SECONDS * 1_000)
  sendsASecond = 0
  const phases: Partial<Record<Phase, Awaited<ReturnType<typeof measure>>>> = {}
  for (const [name, { streams, sends: rate }] of Object.entries(PHASES) as [
    Phase,
    (typeof PHASES)[Phase]
  ][]) {
    await connect(Math.max(streams, gateways.length))
    sendsASecond = rate
    await delay(SETTLE_SECONDS * 1_000)
    phases[name] = await measure(name, SECONDS)
  }
  over.abort()
  await submitting
  // All that was sent has ended before the processes are measured without work.
  await delay(WARM_UP_SECONDS * 1_000)
  const lost = signatures.filter((each) => net.bank.transaction(decodeBase58(each)) === null).length
  grown.abort()
  await growing
  const clients = sockets.length
  const closedBefore = closed
  for (const socket of sockets) socket.terminate()
  await delay(SETTLE_SECONDS * 1_000)
  const quiet = await measure('quiet', SECONDS)
  const { blocks: ofBlocks, streams, transactions } = phases as Required<typeof phases>
  const costs = costsOf({ quiet, blocks: ofBlocks, streams, transactions }, gateways.length)
  await writeResult('fleet', {
    ...{ gateways: gateways.length, clients, quiet, phases, costs },
    verified: {
      sent: signatures.length,
      not_landed: lost,
      refused: refused.slice(0, 3),
      closed: closedBefore
    }
  })
  if (refused.length > 0 || closedBefore > 0 || lost > 0) process.exitCode = 1
} finally {
  grown.abort()
  await growing
  for (const each of running.toReversed()) await each.end()
  await net.close()
  await redis.end()
  await cluster.end()
  await rm(folder, { recursive: true, force: true })
}
