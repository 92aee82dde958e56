import { setMaxListeners } from 'node:events'
import t from 'tap'
import WebSocket from 'ws'
import { openRaw, textFrame } from '../../loadtest/stream/raw-socket.ts'
import { MESSAGES_A_SECOND } from '../../actors/stream/message-rate.ts'
import { VENUE_IDS } from '../../src/chain/venue-id.ts'
import { faultsOf, until } from './asking.ts'
import { startBusyLocalnetProcess } from './localnet-process.ts'
import { ADMIN_KEY, type ServiceProcess } from './service-process.ts'
import { ownDirectory } from '../own-directory.ts'

/** Maximum number of connections of a key. */
const FROZEN = 20
const CHURNING = 20
const WSOL = 'So11111111111111111111111111111111111111112'
const CHANNELS = [
  `trades:${WSOL}`,
  `price:${WSOL}`,
  'launches',
  'curves',
  ...VENUE_IDS.map((id) => `venue:${id}`)
]
/** The answer repeats the unknown name, so that unread answers soon fill the system's buffers. */
const PADDING = textFrame({ subscribe: ['x'.repeat(15_000)] })
const PADDING_MS = 55
/** Fewer messages than the service lets a client leave unread. */
const PADDINGS_MAX = 900
/** Interval of two messages, at the rate at which they are read. */
const CHURN_MS = 2_000 / MESSAGES_A_SECOND

interface Message {
  readonly type: string
  readonly channel?: string
  readonly cursor: number
  readonly data: object
}

/** A client that reads everything. */
class Reader {
  readonly socket: WebSocket
  readonly heard: { readonly cursor: number; readonly text: string }[] = []
  /** Messages other than events, and the cursor at which the newest replay was complete. */
  readonly others: string[] = []
  completeAt = -1

  constructor(url: string, since: number) {
    this.socket = new WebSocket(url)
    this.socket.on('error', () => undefined)
    this.socket.on('open', () => this.socket.send(JSON.stringify({ subscribe: CHANNELS, since })))
    this.socket.on('message', (data: Buffer) => {
      const { type, channel, cursor, data: of } = JSON.parse(data.toString()) as Message
      if (type === 'event') this.heard.push({ cursor, text: `${channel} ${cursor} ${JSON.stringify(of)}` })
      else this.others.push(type)
      if (type === 'replay_complete') this.completeAt = cursor
    })
  }

  upTo(cursor: number): string[] {
    return this.heard.filter((event) => event.cursor <= cursor).map(({ text }) => text)
  }
}

async function streamKey(service: ServiceProcess, tenant: string): Promise<string> {
  const admin = (path: string, body: object): Promise<Response> =>
    fetch(`${service.url}/v1/admin/${path}`, {
      method: 'POST',
      headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
      body: JSON.stringify(body)
    })
  await admin('tenants', { name: tenant })
  const key = { tenant, scopes: ['stream'], rate_limit_per_minute: 100_000 }
  // Blocks every 40 ms may leave no time for it within its deadline.
  const made = await until(async () => {
    const answer = await admin('keys', key)
    return answer.status === 503 ? null : answer
  }, 'a key is made')
  if (made.status !== 201) throw new Error(`no key was made: ${made.status} ${await made.text()}`)
  return ((await made.json()) as { key: string }).key
}

/** Opens clients that subscribe to everything and never read, not even answers, until `over`. */
async function freeze(service: ServiceProcess, key: string, over: AbortSignal): Promise<void> {
  for (let n = 0; n < FROZEN; n++) {
    const socket = await openRaw(service.url, `/v1/stream?key=${key}`)
    socket.pause().on('error', () => undefined)
    socket.write(textFrame({ subscribe: CHANNELS }))
    let paddings = 0
    const padding = setInterval(() => paddings++ < PADDINGS_MAX && socket.write(PADDING), PADDING_MS)
    over.addEventListener('abort', () => {
      clearInterval(padding)
      socket.destroy()
    })
  }
}

/** Opens clients that subscribe and unsubscribe in a loop until `over`. Returns the number of answers to each. */
function churn(url: string, over: AbortSignal): number[] {
  const channels = CHANNELS.slice(0, 2)
  const answers = Array.from({ length: CHURNING }, () => 0)
  for (const n of answers.keys()) {
    const socket = new WebSocket(url)
    socket.on('error', () => undefined)
    socket.on('message', (data: Buffer) => {
      if (data.includes('"type":"unsubscribed"')) answers[n]!++
    })
    const loop = setInterval(() => {
      if (socket.readyState !== WebSocket.OPEN) return
      socket.send(JSON.stringify({ subscribe: channels }))
      socket.send(JSON.stringify({ unsubscribe: channels }))
    }, CHURN_MS)
    over.addEventListener('abort', () => {
      clearInterval(loop)
      socket.terminate()
    })
  }
  return answers
}

t.test(
  'a tenant whose clients read nothing or subscribe in a loop loses events, and another hears each of the same channels once, in order',
  async (t) => {
    const service = await startBusyLocalnetProcess(t, ownDirectory(t), ['--localnet-slot-ms', '40'])
    const streamOf = (key: string): string => `${service.url.replace('http', 'ws')}/v1/stream?key=${key}`
    const health = async () => (await service.get('/v1/stream/health', null)).body as unknown as Health
    const since = await until(async () => (await health()).head?.cursor ?? null, 'there is a block')

    const ofGood = streamOf(await streamKey(service, 'good'))
    const good = new Reader(ofGood, since)
    await until(async () => good.completeAt >= since, 'it is live')
    const over = new AbortController()
    setMaxListeners(0, over.signal)
    t.teardown(() => over.abort())
    await freeze(service, await streamKey(service, 'bad'), over.signal)
    const answers = churn(streamOf(await streamKey(service, 'bad')), over.signal)
    const { dropped_total: dropped, connections } = await until(async () => {
      const now = await health()
      const isLong = good.upTo(now.head!.cursor).length > 500
      return isLong && now.dropped_total > 1_000 && answers.every((count) => count > 10) && now
    }, 'clients that read nothing lose events, while others loop')
    t.equal(connections, 1 + FROZEN + CHURNING, 'all of them are there still')
    t.comment(`${dropped} events were dropped, ${good.heard.length} heard`)

    const end = (await health()).head!.cursor
    await until(async () => (good.heard.at(-1)?.cursor ?? 0) > end, 'the good client has all up to there')
    over.abort()
    const replay = new Reader(ofGood, since)
    await until(async () => replay.completeAt >= end, 'a replay has all up to there')
    replay.socket.terminate()
    const cursors = good.heard.map(({ cursor }) => cursor)
    t.strictSame(
      cursors,
      [...new Set(cursors)].toSorted((a, b) => a - b),
      'once and in order'
    )
    t.ok(good.upTo(end).length > 500, `${good.upTo(end).length} events`)
    t.strictSame(good.upTo(end), replay.upTo(end), 'what a replay has')
    t.strictSame(good.others, ['hello', 'subscribed', 'replay_complete'], 'it was told of nothing else')
    good.socket.terminate()

    t.match(await service.end('SIGTERM'), { code: 0 })
    t.strictSame(faultsOf(service), [])
  }
)

interface Health {
  readonly head: { readonly cursor: number } | null
  readonly connections: number
  readonly dropped_total: number
}
