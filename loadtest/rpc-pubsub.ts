/**
 * Measures subscriptions to one account by many clients: processor time a notification, compared with a node's own pubsub, in
 * alternate rounds of one run. The node is the localnet in a process of its own, or Agave's test validator (`validator`).
 *
 * The node's time without clients is taken off, and of the validator only the threads of its RPC count. All time of our process
 * counts. `bare` is a process that does nothing but write a ready frame to each socket: the floor in Node. Each client checks that
 * slots do not go back, and all must get the same number of notifications.
 *
 *     node loadtest/rpc-pubsub.ts [localnet|validator] [clients] [rounds] [seconds]
 */
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { startMeasured, type MeasuredProcess } from './measured-process.ts'
import { writeResult } from './result.ts'
import { median } from './series.ts'

const [kind = 'localnet', clientsText = '1000', roundsText = '3', secondsText = '5'] = process.argv.slice(2)
const clients = Number(clientsText)
const rounds = Number(roundsText)
const ms = Number(secondsText) * 1_000
const ADDRESS = 'So11111111111111111111111111111111111111112'
const SLOT_MS = 100
/** Clients that connect at once; a validator takes 50 ms to answer each. */
const AT_ONCE = 50
/** Required processor time a notification, as a part of the node's own. */
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

/** Clients of one account at one address, which count and check what they hear. */
class Audience {
  readonly heard: number[] = []
  readonly #sockets: WebSocket[] = []

  async open(url: string): Promise<void> {
    for (let from = 0; from < clients; from += AT_ONCE) {
      const count = Math.min(AT_ONCE, clients - from)
      await Promise.all(Array.from({ length: count }, (_, at) => this.#join(url, from + at)))
    }
  }

  async #join(url: string, at: number): Promise<void> {
    const socket = new WebSocket(url, { perMessageDeflate: false })
    this.#sockets.push(socket)
    await once(socket, 'open')
    const params = [ADDRESS, { encoding: 'base64', commitment: 'processed' }]
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'accountSubscribe', params }))
    const [answer] = (await once(socket, 'message')) as [Buffer]
    if (!answer.includes('"result":')) throw new Error(answer.toString())
    this.heard[at] = 0
    let last = 0
    socket.on('message', (data: Buffer) => {
      const slot = Number(/"slot":(\d+)/.exec(data.toString('latin1', 0, 200))?.[1] ?? Number.NaN)
      if (!(slot >= last)) throw new Error(`slot ${slot} after ${last}`)
      last = slot
      this.heard[at]!++
    })
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.terminate()
    await sleep(500)
  }
}

/** Changes the account again and again, once a slot. */
async function drive(url: string, signal: AbortSignal): Promise<void> {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'requestAirdrop',
    params: [ADDRESS, 1_000_000]
  })
  while (!signal.aborted) {
    const answer = await fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
    await answer.text()
    await sleep(SLOT_MS)
  }
}

interface Round {
  readonly notifications: number
  readonly cpuMs: number
}

/** Measures for a while; without a URL nobody listens. */
async function measure(url: string | null, cpuMs: () => number): Promise<Round> {
  const audience = new Audience()
  if (url !== null) await audience.open(url)
  await sleep(1_000)
  const before = { cpu: cpuMs(), heard: [...audience.heard] }
  await sleep(ms)
  const cpu = cpuMs() - before.cpu
  const counts = audience.heard.map((count, at) => count - before.heard[at]!)
  await audience.close()
  const notifications = counts.reduce((sum, count) => sum + count, 0)
  if (url !== null && Math.max(...counts) - Math.min(...counts) > 2)
    throw new Error('clients heard unequally')
  return { notifications, cpuMs: cpu }
}

const node = kind === 'validator' ? await startValidator() : await startLocalnet()
const at = new URL(node.url)
const pubsubUrl = `ws://${at.hostname}:${Number(at.port) + 1}`
let ours: MeasuredProcess | null = null
let bare: MeasuredProcess | null = null
const end = new AbortController()
const driving = drive(node.url, end.signal)
try {
  ours = await startMeasured('rpc/pubsub-server.ts', [pubsubUrl])
  bare = await startMeasured('rpc/bare-server.ts', [String(SLOT_MS)])
  const [server, floor] = [ours, bare]
  const socketUrl = server.url.replace('http:', 'ws:')
  const micros: Record<'own' | 'ours' | 'bare', number[]> = { own: [], ours: [], bare: [] }
  const rss: number[] = []
  for (let round = -1; round < rounds; round++) {
    const idle = await measure(null, () => node.cpuMs())
    const own = await measure(pubsubUrl, () => node.cpuMs())
    const through = await measure(socketUrl, () => server.threadsCpuMs())
    const least = await measure(floor.url.replace('http:', 'ws:'), () => floor.threadsCpuMs())
    // The first round compiles.
    if (round < 0) continue
    rss.push(server.rssMib())
    micros.own.push(((own.cpuMs - idle.cpuMs) * 1_000) / own.notifications)
    micros.ours.push((through.cpuMs * 1_000) / through.notifications)
    micros.bare.push((least.cpuMs * 1_000) / least.notifications)
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
  end.abort()
  await driving
  await ours?.end()
  await bare?.end()
  await node.end()
}
