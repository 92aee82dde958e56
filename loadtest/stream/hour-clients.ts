/**
 * The clients of `stream-hour.ts`, all in this process. One flock subscribes to lists and venues for the whole run. Other
 * flocks subscribe to tokens traded at the time, and each is judged and replaced after a while. Arguments: the service's
 * URL, an admin key, the number of clients, and the seconds that a flock of tokens lasts. The message `figures` requests the
 * counts so far; `end` judges the remaining flocks and reports.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { VENUE_IDS } from '../../src/chain/venue-id.ts'
import { askingOf } from './asking.ts'
import { Flock, type Judged, type Place } from './flock.ts'
import { Tally, type Habits } from './resuming-client.ts'

export interface ClientFigures {
  readonly kind: 'figures' | 'end'
  readonly tally: Tally
  readonly judged: Judged
  readonly flocks: number
  readonly cpuMs: number
}

const WSOL = 'So11111111111111111111111111111111111111112'
const LISTS = ['launches', 'curves', 'pools', ...VENUE_IDS.map((venue) => `venue:${venue}`)]
/** Clients per key. The limit is 20 connections, and a connection that just closed may still count. */
const CLIENTS_A_KEY = 15
const TOKEN_FLOCKS = 5
/** Share of clients that subscribe to tokens; the others subscribe to lists. */
const TOKEN_SHARE = 0.4
const CHANNELS_MAX = 3
const HABITS: Habits = { staysMs: 120_000, awayMs: 4_000 }

const [url, adminKey, clientsText, lifeText] = process.argv.slice(2) as [string, string, string, string]
const clients = Number(clientsText)
const lifeSeconds = Number(lifeText)
const ofTokens = Math.floor((clients * TOKEN_SHARE) / TOKEN_FLOCKS)
const tally = new Tally()
const judged = { channels: 0, events: 0, heard: 0 }
let flocks = 0

const { ask, newKey, head } = askingOf(url, adminKey)

/** Returns URL and channels of `count` clients; each channel has at least one client. */
async function places(count: number, channels: readonly string[]): Promise<Place[]> {
  const found: Place[] = []
  let key = ''
  for (let n = 0; n < count; n++) {
    if (n % CLIENTS_A_KEY === 0) key = await newKey()
    const picked = new Set([channels[n % channels.length]!])
    const more = Math.floor(Math.random() * CHANNELS_MAX)
    for (let i = 0; i < more; i++) picked.add(channels[Math.floor(Math.random() * channels.length)]!)
    found.push({ url: `${url.replace('http', 'ws')}/v1/stream?key=${key}`, channels: [...picked] })
  }
  return found
}

/** Returns channels of the tokens traded now, of the newest launches and of SOL's pools. */
async function tokenChannels(): Promise<string[]> {
  const list = async (path: string, field: string): Promise<string[]> => {
    const { data } = await ask<{ data: readonly Readonly<Record<string, unknown>>[] }>(path)
    return data.map((row) => String(row[field]))
  }
  const mints = [
    WSOL,
    ...(await list('/v1/trending?window=1h&limit=8', 'mint')),
    ...(await list('/v1/launches?limit=4', 'mint'))
  ]
  const pools = await list(`/v1/tokens/${WSOL}/pools?limit=4`, 'pool')
  const named = [...new Set(mints)].flatMap((mint) => [`trades:${mint}`, `price:${mint}`])
  return [...named, ...pools.map((pool) => `pool:${pool}`)]
}

const tokenFlock = async (): Promise<Flock> => {
  flocks++
  return new Flock(await places(ofTokens, await tokenChannels()), await head(), HABITS, tally)
}

async function judge(flock: Flock): Promise<void> {
  const { channels, events, heard } = await flock.judge(await head())
  judged.channels += channels
  judged.events += events
  judged.heard += heard
}

const tell = (kind: ClientFigures['kind']): void => {
  const { user, system } = process.cpuUsage()
  process.send!({ kind, tally, judged, flocks, cpuMs: (user + system) / 1000 } satisfies ClientFigures)
}

const ending = new AbortController()
process.on('message', (message) => (message === 'end' ? ending.abort() : tell('figures')))
process.once('disconnect', () => process.exit())

const lists = new Flock(await places(clients - ofTokens * TOKEN_FLOCKS, LISTS), await head(), HABITS, tally)
const tokens: Flock[] = []
while (!ending.signal.aborted) {
  tokens.push(await tokenFlock())
  await pause((lifeSeconds * 1000) / TOKEN_FLOCKS, undefined, { signal: ending.signal }).catch(
    () => undefined
  )
  if (tokens.length === TOKEN_FLOCKS && !ending.signal.aborted) await judge(tokens.shift()!)
}
for (const flock of [lists, ...tokens]) await judge(flock)
tell('end')
