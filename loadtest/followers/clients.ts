/**
 * The stream clients of `followers.ts`, all in this process, as one flock: each must receive every event of its channels
 * once and in order, and the same events as a replay has. Arguments: the service's URL, an admin key, the number of clients,
 * and the mints that they subscribe to, comma-separated. Every venue has a client too. Sends a message once all are
 * connected, one with the counts so far at the message `figures`, and one with the judgement at the message `end`.
 */
import { VENUE_IDS } from '../../src/chain/venue-id.ts'
import { askingOf } from '../stream/asking.ts'
import { Flock, type Judged, type Place } from '../stream/flock.ts'
import { Tally, type Habits } from '../stream/resuming-client.ts'

export interface FlockFigures {
  readonly tally: Tally
  readonly judged: Judged | null
}

/** Clients per key. The limit is 20 connections, and a connection that just closed may still count. */
const CLIENTS_A_KEY = 15
/** Every client stays for the whole run. */
const HABITS: Habits = { staysMs: 100 * 3_600_000, awayMs: 1 }
const CONNECTED_WITHIN_MS = 600_000

const [url, adminKey, clientsText, mints] = process.argv.slice(2) as [string, string, string, string]
const clients = Number(clientsText)
const tally = new Tally()
const { newKey, head } = askingOf(url, adminKey)

const channels = [
  ...['launches', 'curves', ...VENUE_IDS.map((venue) => `venue:${venue}`)],
  ...mints.split(',').map((mint) => `trades:${mint}`)
]
const places: Place[] = []
let key = ''
for (let n = 0; n < clients; n++) {
  if (n % CLIENTS_A_KEY === 0) key = await newKey()
  places.push({
    url: `${url.replace('http', 'ws')}/v1/stream?key=${key}`,
    channels: [channels[n % channels.length]!]
  })
}
const flock = new Flock(places, await head(), HABITS, tally)
const late = performance.now() + CONNECTED_WITHIN_MS
while (tally.connections < clients && performance.now() < late)
  await new Promise((done) => setTimeout(done, 100))
if (tally.connections < clients) throw new Error(`${tally.connections} of ${clients} clients are connected`)
process.on('message', (message) => void answer(message))
process.once('disconnect', () => process.exit())
process.send!('connected')

async function answer(message: unknown): Promise<void> {
  const judged = message === 'end' ? await flock.judge(await head()) : null
  process.send!({ tally, judged } satisfies FlockFigures)
}
