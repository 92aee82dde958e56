import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { SeededRandom } from '../../loadtest/market/random.ts'
import type { Storage } from '../../storage/port.ts'
import { cursorAt } from '../../src/market/cursor.ts'
import { IS_LONG } from '../random-runs.ts'
import { slotOf, until } from './asking.ts'
import { ADMIN_KEY, type ServiceProcess } from './service-process.ts'
import { storedEvents, SwarmClient } from './stream-swarm.ts'

/** Slots of a run; the promise holds for any number. */
export const SLOTS = IS_LONG ? 2_000 : 200
const CLIENTS = 50
/** Clients per key, below the limit of connections. */
const CLIENTS_A_KEY = 10
const LISTS = [
  'launches',
  'curves',
  'venue:pumpfun',
  'venue:pumpswap',
  'venue:raydium-cpmm',
  'venue:orca-whirlpool'
]
const WSOL = 'So11111111111111111111111111111111111111112'

async function streamKey(service: ServiceProcess): Promise<string> {
  const body = JSON.stringify({ tenant: 'operator', scopes: ['stream'], rate_limit_per_minute: 100_000 })
  return until(async () => {
    const made = await fetch(`${service.url}/v1/admin/keys`, {
      method: 'POST',
      headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
      body
    })
    const text = await made.text()
    // Keys wait for the blocks before them: on a busy machine longer than the deadline of an answer.
    if (made.status === 503) return null
    if (made.status !== 201) throw new Error(`no key was made: ${made.status} ${text}`)
    return (JSON.parse(text) as { key: string }).key
  }, 'a key is made')
}

/** Returns channels of traded tokens, of pools and wallets, and of lists. */
async function channelsOf(service: ServiceProcess): Promise<string[]> {
  const ranked = await until(async () => {
    // Slow enough for the quota of the key.
    await sleep(250)
    const { body } = await service.get('/v1/trending?window=1h&limit=8')
    return body.data !== undefined && body.data.length >= 5 && body.data
  }, 'some tokens are traded')
  const mints = [WSOL, ...ranked.map(({ mint }) => String(mint))]
  const { body } = await service.get(`/v1/tokens/${WSOL}/pools?limit=4`)
  const pools = body.data.map(({ pool }) => `pool:${String(pool)}`)
  const trades = await service.get(`/v1/tokens/${WSOL}/trades?limit=50`)
  const traders = new Set(trades.body.data.map(({ trader }) => String(trader)))
  const wallets = [...traders].slice(0, 4).map((trader) => `wallet:${trader}`)
  return [...LISTS, ...mints.flatMap((mint) => [`trades:${mint}`, `price:${mint}`]), ...pools, ...wallets]
}

/**
 * Runs a swarm on some processes until their chain reaches a slot, or with null until `meanwhile` is done; `services` may
 * change meanwhile.
 */
export async function swarmUntil(
  wantedSlot: number | null,
  services: () => readonly ServiceProcess[],
  meanwhile: () => Promise<void>
): Promise<{ clients: SwarmClient[]; lastSlot: number }> {
  const random = new SeededRandom(7, 7)
  const first = services()[0]!
  const names = await channelsOf(first)
  const keys = await Promise.all(Array.from({ length: CLIENTS / CLIENTS_A_KEY }, () => streamKey(first)))
  const clients = Array.from({ length: CLIENTS }, (_, n) => {
    const picked = new Set(
      Array.from({ length: 1 + random.below(4) }, () => names[random.below(names.length)]!)
    )
    // Each channel has at least one client.
    picked.add(names[n % names.length]!)
    return new SwarmClient([...picked], 0)
  })
  const over = new AbortController()
  const urlOf = (n: number): string => {
    const now = services()
    const { url } = now[random.below(now.length)]!
    return `${url.replace('http', 'ws')}/v1/stream?key=${keys[Math.floor(n / CLIENTS_A_KEY)]!}`
  }
  const lives = clients.map((client, n) =>
    client.live_(
      () => urlOf(n),
      () => random.unit(),
      over.signal
    )
  )
  await meanwhile()
  // A chain that stands still: a replay ends within its newest slot.
  const lastSlot = wantedSlot ?? (await slotOf(services()[0]!)) - 1
  await until(async () => (await slotOf(services()[0]!)) >= lastSlot, `slot ${lastSlot}`)
  over.abort()
  await soon(Promise.all(lives), () => 'the clients are cut off')
  const end = cursorAt(lastSlot + 1, 0) - 1
  const behind = new Set(clients)
  const caughtUp = clients.map((client, n) =>
    client.catchUp(() => urlOf(n), end).then(() => behind.delete(client))
  )
  await soon(Promise.all(caughtUp), () => [...behind].map((client) => client.place).join('; '))
  return { clients, lastSlot }
}

/** Resolves when a promise does; rejects when that takes too long, with the name of the awaited event. */
async function soon(done: Promise<unknown>, what: () => string): Promise<void> {
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error(`it takes too long: ${what()}`)), 300_000).unref()
  })
  await Promise.race([done, late])
}

/** Asserts that the events of each client, over all of its connections, are those of the store. */
export async function judgeSwarm(
  t: Test,
  { clients, lastSlot }: { clients: readonly SwarmClient[]; lastSlot: number },
  storage: Storage
): Promise<void> {
  const stored = new Map<string, string>()
  let events = 0
  const end = cursorAt(lastSlot + 1, 0) - 1
  for (const client of clients) {
    t.strictSame(client.faults, [])
    for (const [channel, heard] of client.heard) {
      const known = stored.get(channel) ?? textOf(await storedEvents(storage, channel, lastSlot))
      stored.set(channel, known)
      const inTime = heard.filter(({ cursor }) => cursor <= end)
      events += inTime.length
      t.ok(textOf(inTime) === known, `${channel}: ${inTime.length} events to the byte`)
    }
  }
  const sum = (of: (client: SwarmClient) => number): number =>
    clients.reduce((all, client) => all + of(client), 0)
  const [connections, replayed, live] = [
    sum((c) => c.connections),
    sum((c) => c.replayed),
    sum((c) => c.live)
  ]
  t.comment(
    `${events} events on ${stored.size} channels, ${connections} connections, ${replayed} replayed, ${live} live`
  )
  // On a starved machine clients mostly read their past: one was seen with 443 live events.
  t.ok(connections > 3 * CLIENTS && replayed > 1_000 && live > 80 && stored.size > 15)
}

const textOf = (events: readonly { readonly cursor: number; readonly data: string }[]): string =>
  events.map(({ cursor, data }) => `${cursor} ${data}`).join('\n')
