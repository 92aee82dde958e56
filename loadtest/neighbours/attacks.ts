import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { WebSocket } from 'ws'
import type { Target } from './target.ts'

/** A way in which a tenant can use the service so much that others might feel it. */
export interface Attack {
  readonly name: string
  /** Loops that run at a time. */
  readonly together: number
  /** Whether it reads or writes the store. */
  readonly usesStore: boolean
  /** Does the attack's work once, again and again, and resolves with an outcome that is counted: a status, or a word. */
  readonly once: (target: Target, loop: number) => Promise<number | string>
}

export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
const SOL = 'So11111111111111111111111111111111111111112'
const OF_SOL = [{ memcmp: { offset: 0, bytes: SOL } }]

const call = (id: number, method: string, params: readonly unknown[]): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })
const scan = (id: number, filters: readonly unknown[] = []): string =>
  call(id, 'getProgramAccounts', [TOKEN_PROGRAM, { encoding: 'base64', filters }])
const batchOf = (size: number, element: (id: number) => string): string =>
  `[${Array.from({ length: size }, (_, id) => element(id)).join(',')}]`

const scans = batchOf(100, (id) => scan(id, OF_SOL))
const deep = '['.repeat(240 * 1024)
const long = call(1, 'getBalance', ['x'.repeat(255 * 1024)])
const rpc = (body: string) => (target: Target) => target.send('POST', '/v1/rpc', body)
const rest = (path: string) => (target: Target) => target.send('GET', path)
const nth = <T>(list: readonly T[], at: number): T => list[at % list.length]!
let asked = 0

/** Attacks by requests that are answered one after another. */
const REQUESTS: readonly Attack[] = [
  { name: 'three batches of 100 getProgramAccounts', together: 3, usesStore: true, once: rpc(scans) },
  { name: 'six getProgramAccounts of all accounts', together: 6, usesStore: true, once: rpc(scan(1)) },
  {
    name: 'scans of program accounts by REST',
    together: 20,
    usesStore: true,
    once: rest(`/v1/programs/${TOKEN_PROGRAM}/accounts?limit=1000&memcmp=1:${SOL}`)
  },
  { name: '240 KiB of opening brackets', together: 10, usesStore: false, once: rpc(deep) },
  { name: 'bodies of 255 KiB', together: 10, usesStore: false, once: rpc(long) },
  {
    name: 'pages of 1,000 trades',
    together: 100,
    usesStore: true,
    once: rest(`/v1/tokens/${SOL}/trades?limit=1000`)
  },
  {
    name: 'pages at deep offsets, each another',
    together: 100,
    usesStore: true,
    once: (target) =>
      target.send('GET', `/v1/tokens/${SOL}/trades?limit=1000&offset=${9_000 - (asked++ % 1_000)}`)
  },
  {
    name: 'wallet pages',
    together: 50,
    usesStore: true,
    once: (target) =>
      target.send('GET', `/v1/wallets/${nth(target.figures.wallets, asked++)}/trades?limit=1000`)
  },
  {
    name: 'holders of all mints',
    together: 50,
    usesStore: true,
    once: (target) => target.send('GET', `/v1/tokens/${nth(target.figures.mints, asked++)}/holders?limit=100`)
  },
  {
    name: 'batches of 20 getBlock',
    together: 10,
    usesStore: false,
    once: (target) =>
      target.send(
        'POST',
        '/v1/rpc',
        batchOf(20, (id) =>
          call(id, 'getBlock', [
            target.figures.newestSlot - (asked++ % 100),
            { maxSupportedTransactionVersion: 0 }
          ])
        )
      )
  },
  { name: 'searches', together: 50, usesStore: false, once: rest('/v1/search?q=so&limit=20') },
  { name: 'rankings', together: 50, usesStore: false, once: rest('/v1/trending?limit=100') },
  {
    name: 'watches posted in parallel',
    together: 20,
    usesStore: true,
    once: (target) =>
      target.send(
        'POST',
        '/v1/revenue/accounts',
        JSON.stringify({ address: nth(target.figures.wallets, asked++) })
      )
  }
]

/** Opens a socket for some work, and ends it afterwards. Resolves with the outcome of the work. */
async function onSocket<Outcome>(
  target: Target,
  path: string,
  work: (socket: WebSocket) => Promise<Outcome>
): Promise<Outcome> {
  const socket = await target.open(path)
  const outcome = await work(socket)
  socket.terminate()
  return outcome
}

const walletChannels = ({ figures: { wallets } }: Target, count: number): string[] =>
  wallets.slice(0, count).map((wallet) => `wallet:${wallet}`)

/** Attacks by sockets. */
const SOCKETS: readonly Attack[] = [
  {
    name: '15 streams that replay 49 wallets in a loop',
    together: 15,
    usesStore: true,
    once: (target) =>
      onSocket(target, '/v1/stream', (socket) => {
        const since = target.figures.oldestCursor
        socket.send(JSON.stringify({ subscribe: walletChannels(target, 49), since }))
        return replayed(socket)
      })
  },
  {
    name: '20 replays that are not read',
    together: 20,
    usesStore: true,
    once: (target) =>
      onSocket(target, '/v1/stream', (socket) => {
        const since = target.figures.oldestCursor
        socket.send(JSON.stringify({ subscribe: [`trades:${SOL}`], since }))
        socket.pause()
        return delay(1_000, 'unread', { signal: target.signal })
      })
  },
  {
    name: 'streams that subscribe and unsubscribe 50 wallets in a loop',
    together: 15,
    usesStore: true,
    once: (target) =>
      onSocket(target, '/v1/stream', (socket) => {
        const channels = walletChannels(target, 50)
        // As many messages as a connection may send at once.
        for (let sent = 0; sent < 50; sent++) {
          socket.send(JSON.stringify({ subscribe: channels }))
          socket.send(JSON.stringify({ unsubscribe: channels }))
        }
        return delay(2_000, 'done', { signal: target.signal })
      })
  },
  {
    name: '2,700 accountSubscribe',
    together: 3,
    usesStore: false,
    once: (target) =>
      onSocket(target, '/v1/rpc/ws', (socket) => {
        const { wallets } = target.figures
        for (let id = 0; id < 900; id++) socket.send(call(id, 'accountSubscribe', [nth(wallets, id)]))
        return delay(2_000, 'done', { signal: target.signal })
      })
  },
  {
    name: '300 sockets with 20 pipelined pages of 1,000 trades, never read',
    together: 300,
    usesStore: true,
    async once({ host, key, signal }) {
      const { hostname, port } = new URL(`http://${host}`)
      const socket = connect({ host: hostname, port: Number(port) }).on('error', () => undefined)
      const request = `GET /v1/tokens/${SOL}/trades?limit=1000 HTTP/1.1\r\nhost: ${host}\r\nx-api-key: ${key}\r\n\r\n`
      socket.write(request.repeat(20))
      await delay(60_000, undefined, { signal }).catch(() => undefined)
      socket.destroy()
      return 'unread'
    }
  }
]

export const ATTACKS: readonly Attack[] = [...REQUESTS, ...SOCKETS]

/** Resolves with `replayed` when a replay is complete, or with the code of the error or of the close that ended it. */
function replayed(socket: WebSocket): Promise<string> {
  return new Promise((resolve) => {
    socket.on('close', (code) => resolve(`closed ${code}`))
    socket.on('message', (bytes: Buffer) => {
      const text = bytes.subarray(0, 200).toString()
      if (text.includes('"replay_complete"')) resolve('replayed')
      if (text.includes('"rate_limited"')) resolve('rate_limited')
    })
  })
}

/** Runs an attack until its target's signal aborts. Returns the number of times each outcome came. */
export async function attack({ together, once }: Attack, target: Target): Promise<Record<string, number>> {
  const outcomes: Record<string, number> = {}
  const loop = async (at: number): Promise<void> => {
    while (!target.signal.aborted) {
      const outcome = await once(target, at).catch(() => 'failed')
      if (target.signal.aborted) return
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
      // A loop of refusals must not keep the core of the measured clients, nor that of a CQL server beside them.
      if (outcome === 'failed' || (target.sparesCore && String(outcome) === '429')) await delay(20)
    }
  }
  await Promise.all(Array.from({ length: together }, (_, at) => loop(at)))
  return outcomes
}
