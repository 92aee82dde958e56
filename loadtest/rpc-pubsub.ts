/**
 * Measures subscriptions to one account by many clients: CPU time a notification, compared with a node's own pubsub, in
 * alternate rounds of one run. The node is the localnet in its own process, or Agave's test validator (`validator`).
 *
 * The node's time without clients is subtracted, and only the RPC threads of the validator count. All time of our process
 * counts. `bare` is a process that only writes a ready frame to each socket: the lower bound in Node. Slots must not
 * decrease, and all clients must get notifications of equal slots.
 *
 *     node loadtest/rpc-pubsub.ts [localnet|validator] [clients] [rounds] [seconds]
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startMeasured, type MeasuredProcess } from './measured-process.ts'
import { reported, writeResult } from './result.ts'
import { Audience } from './rpc/audience.ts'
import { median } from './median.ts'

const [kind = 'localnet', clientsText = '1000', roundsText = '3', secondsText = '5'] = process.argv.slice(2)
const clients = Number(clientsText)
const rounds = Number(roundsText)
const ms = Number(secondsText) * 1_000
const ADDRESS = 'So11111111111111111111111111111111111111112'
const SLOT_MS = 100
/** Required CPU time a notification, as a fraction of the node's own. */
const BAR = 0.5

/** A node whose processor time can be read. */
interface Node {
  readonly url: string
  readonly cpuMs: () => number
  readonly end: () => Promise<void>
}

async function startLocalnet(): Promise<Node> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-rpc-pubsub-'))
  const process = await startMeasured('rpc/localnet-node.ts', [directory, String(SLOT_MS)])
  return {
    url: process.url,
    cpuMs: () => process.threadsCpuMs(),
    end: async () => {
      await process.end()
      rmSync(directory, { recursive: true, force: true })
    }
  }
}

async function startValidator(): Promise<Node> {
  const { RealValidator } = await import('../test/node/real-validator.ts')
  const validator = await RealValidator.start({ ticksPerSlot: 16 })
  const pid = validatorPid(validator.folder)
  return { url: validator.url, cpuMs: () => rpcThreadsMs(pid), end: async () => validator.server.kill() }
}

/** Returns the process that has the folder in its command line and is the validator itself. */
function validatorPid(folder: string): number {
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    const command = read(`/proc/${name}/cmdline`)
    if (command.split('\0')[0]!.endsWith('solana-test-validator') && command.includes(folder))
      return Number(name)
  }
  throw new Error('the validator is not found in /proc')
}

/** Names of the threads that count. */
const threadNames = new Set<string>()

/** Processor time of the threads that serve RPC and pubsub; names are those of agave 4.2. */
function rpcThreadsMs(pid: number): number {
  let sum = 0
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const name = read(`/proc/${pid}/task/${task}/comm`).trim()
    if (!/^solRpc(PubSub|Notif)/.test(name)) continue
    threadNames.add(name)
    sum += Number(read(`/proc/${pid}/task/${task}/schedstat`).split(' ')[0] ?? 0) / 1e6
  }
  return sum
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** Changes the account again and again, once a slot, while it is running. */
class Driver {
  readonly #url: string
  #running: Promise<void> | null = null
  #end = new AbortController()

  constructor(url: string) {
    this.#url = url
  }

  start(): void {
    this.#end = new AbortController()
    this.#running = this.#run(this.#end.signal)
  }

  async stop(): Promise<void> {
    this.#end.abort()
    await this.#running
  }

  async #run(signal: AbortSignal): Promise<void> {
    const params = [ADDRESS, 1_000_000]
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'requestAirdrop', params })
    while (!signal.aborted) {
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(this.#url, { method: 'POST', body, headers })
      await answer.text()
      await sleep(SLOT_MS)
    }
  }
}

interface Round {
  readonly notifications: number
  readonly cpuMs: number
  readonly tookMs: number
}

/** Starts and stops the changes that cause notifications. */
type Cause = Pick<Driver, 'start' | 'stop'>

/**
 * Measures the CPU time from the first notification to the last of a period; without a URL there are no clients. All clients
 * join before the first notification, and must all have received every notification when the last one has arrived.
 */
async function measure(url: string | null, cause: Cause, cpuMs: () => number): Promise<Round> {
  const audience = new Audience()
  if (url !== null) await audience.open(url, clients, ADDRESS)
  await sleep(1_000)
  const before = { cpu: cpuMs(), ms: performance.now() }
  cause.start()
  await sleep(ms)
  await cause.stop()
  if (url !== null) await audience.settled()
  const [cpu, tookMs] = [cpuMs() - before.cpu, performance.now() - before.ms]
  await audience.close()
  return { notifications: audience.heard, cpuMs: cpu, tookMs }
}

const node = kind === 'validator' ? await startValidator() : await startLocalnet()
const at = new URL(node.url)
const pubsubUrl = `ws://${at.hostname}:${Number(at.port) + 1}`
let ours: MeasuredProcess | null = null
let bare: MeasuredProcess | null = null
const driver = new Driver(node.url)
try {
  ours = await startMeasured('rpc/pubsub-server.ts', [pubsubUrl])
  bare = await startMeasured('rpc/bare-server.ts', [String(SLOT_MS)])
  const [server, floor] = [ours, bare]
  const [socketUrl, floorUrl] = [server, floor].map(({ url }) => url.replace('http:', 'ws:')) as [
    string,
    string
  ]
  const ready: Cause = {
    start: () => floor.send('start'),
    stop: async () => floor.send('stop')
  }
  const micros: Record<'own' | 'ours' | 'bare', number[]> = { own: [], ours: [], bare: [] }
  const rss: number[] = []
  for (let round = -1; round < rounds; round++) {
    const idle = await measure(null, driver, () => node.cpuMs())
    const own = await measure(pubsubUrl, driver, () => node.cpuMs())
    const through = await measure(socketUrl, driver, () => server.threadsCpuMs())
    const least = await measure(floorUrl, ready, () => floor.threadsCpuMs())
    // The first round compiles.
    if (round < 0) continue
    rss.push(server.rssMib())
    const idleMs = (idle.cpuMs * own.tookMs) / idle.tookMs
    micros.own.push(((own.cpuMs - idleMs) * 1_000) / own.notifications)
    micros.ours.push((through.cpuMs * 1_000) / through.notifications)
    micros.bare.push((least.cpuMs * 1_000) / least.notifications)
    reported('microseconds_a_notification', {
      node: micros.own.at(-1),
      ours: micros.ours.at(-1),
      bare: micros.bare.at(-1)
    })
  }
  const ratio = median(micros.ours) / median(micros.own)
  await writeResult(`rpc-pubsub-${kind}`, {
    command: `node loadtest/rpc-pubsub.ts ${kind}`,
    clients,
    seconds_a_round: ms / 1_000,
    microseconds_a_notification: { node: micros.own, ours: micros.ours, bare: micros.bare },
    ratio,
    bar: BAR,
    is_met: ratio <= BAR,
    rss_mib: rss,
    threads_of_the_node: [...threadNames].sort()
  })
} finally {
  await ours?.end()
  await bare?.end()
  await node.end()
}
