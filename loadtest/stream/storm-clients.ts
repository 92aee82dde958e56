/**
 * Thousands of real clients in this process, each subscription on its own connection. Their events are compared with each
 * other. Arguments: the service's URL, an admin key, and the number of subscriptions. Messages of the parent process
 * control them.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import WebSocket from 'ws'
import { connect, type Channel } from '../../src/client/client.ts'
import { askingOf } from './asking.ts'
import { Ledger } from './ledger.ts'
import { ResumingClient, Tally } from './resuming-client.ts'

/** `storm`: the service is about to be cut off. `up`: it listens again. `end`: compare everything with replays. */
export type StormOrder = 'storm' | 'up' | 'end'

/** Sent when all subscriptions are live, at first and after each storm, and at the end. */
export interface StormReport {
  readonly storm: Storm | null
  readonly judged: Judged | null
}

/** Figures of a storm and the recovery from it. */
export interface Storm {
  /** Milliseconds from the order `up` until half of the subscriptions, and all of them, are live. */
  readonly halfLiveMs: number
  readonly allLiveMs: number
  readonly attempts: number
  /** Failed attempts that started before the service listened; and those after it, by message. */
  readonly refusedWhileDown: number
  readonly refusedAfter: Readonly<Record<string, number>>
  /** Replayed events until all subscriptions were live. */
  readonly replayed: number
  readonly upgradeMs: { readonly p50: number; readonly p99: number; readonly slowest: number }
}

export interface Judged {
  readonly channels: number
  readonly events: number
  readonly heard: number
  readonly faults: number
  readonly firstFaults: readonly string[]
}

const SUBSCRIPTIONS_A_KEY = 20
const OPENING_AT_ONCE = 100
const LATE_MS = 120_000

const [url, adminKey, sizeText] = process.argv.slice(2) as [string, string, string]
const size = Number(sizeText)
const tally = new Tally()
const ledgers = new Map<string, Ledger>()
/** Number of events that each subscription received. */
const counts = new Map<number, { readonly channel: string; heard: number }>()
const live = new Set<number>()

let lost = 0
let upAt = Infinity
let halfLiveAt = 0
let attempts = 0
let replayed = 0
let refusedWhileDown = 0
let refusedAfter: Record<string, number> = {}
let upgrades: number[] = []
let isLiveTold = true

/** A WebSocket for the client that also measures the handshake and records refusals. */
class WatchedSocket extends WebSocket {
  constructor(address: string) {
    super(address, { perMessageDeflate: false, skipUTF8Validation: true })
    const began = performance.now()
    let isOpen = false
    attempts++
    this.once('open', () => {
      isOpen = true
      upgrades.push(performance.now() - began)
    })
    this.on('error', ({ message }) => {
      if (isOpen) return
      if (began < upAt) refusedWhileDown++
      else refusedAfter[message] = (refusedAfter[message] ?? 0) + 1
    })
  }
}

const { ask, newKey, head } = askingOf(url, adminKey)

async function channels(): Promise<string[]> {
  const { data } = await ask<{ data: readonly { readonly mint: string }[] }>(
    '/v1/trending?window=1h&limit=20'
  )
  return ['launches', 'curves', ...data.flatMap(({ mint }) => [`trades:${mint}`, `price:${mint}`])]
}

/** Subscribes until the process ends. */
async function subscribe(n: number, key: string, channel: string, since: number): Promise<void> {
  const count = { channel, heard: 0 }
  counts.set(n, count)
  const client = connect({
    url,
    key,
    WebSocket: WatchedSocket,
    onNotice: ({ kind, message }) => {
      if (kind === 'disconnected' && live.delete(n)) lost++
      else if (kind === 'live') cameLive(n)
      else if (kind === 'refetching' || kind === 'slow_consumer') tally.fault(message)
    }
  })
  const ledger = ledgers.get(channel)!
  for await (const item of client.subscribe([channel as Channel], { since })) {
    if (item.kind === 'gap') tally.fault(`${channel}: ${item.reason}`)
    else {
      if (item.replay) replayed++
      const wrong = ledger.hold(count.heard++, item.cursor, crc32(JSON.stringify(item.data)))
      if (wrong !== null) tally.fault(`${channel}: ${wrong}`)
    }
  }
}

function cameLive(n: number): void {
  live.add(n)
  if (live.size * 2 >= size && halfLiveAt === 0) halfLiveAt = performance.now()
  if (live.size < size || isLiveTold || lost < size) return
  isLiveTold = true
  const sorted = upgrades.toSorted((a, b) => a - b)
  const at = (part: number): number => sorted[Math.floor((sorted.length - 1) * part)]!
  tell({
    judged: null,
    storm: {
      halfLiveMs: halfLiveAt - upAt,
      allLiveMs: performance.now() - upAt,
      attempts,
      refusedWhileDown,
      refusedAfter,
      replayed,
      upgradeMs: { p50: at(0.5), p99: at(0.99), slowest: at(1) }
    }
  })
}

/** Checks that each subscription has all events published so far, equal to those of a replay. */
async function judge(): Promise<Judged> {
  const until = await head()
  const late = performance.now() + LATE_MS
  const key = await newKey()
  const judged = { channels: 0, events: 0, heard: 0 }
  for (const [channel, ledger] of ledgers) {
    const replay = new Tally()
    // The replay has its own ledger: the other ledger's checksums are of parsed data.
    const own = new Ledger(ledger.from)
    const client = new ResumingClient(new Map([[channel, own]]), ledger.from, replay)
    await client.settle(
      `${url.replace('http', 'ws')}/v1/stream?key=${key}`,
      until,
      AbortSignal.timeout(LATE_MS)
    )
    const events = own.upTo(until)
    const readers = [...counts.values()].filter((count) => count.channel === channel)
    while (readers.some(({ heard }) => heard < events) && performance.now() < late) await pause(100)
    for (const { heard } of readers)
      if (heard < events) tally.fault(`${channel}: a client has ${heard} of ${events} events`)
    const different = own.differsFrom(ledger, events)
    if (different !== null) tally.fault(`${channel}: ${different}`)
    for (const text of replay.firstFaults) tally.fault(text)
    judged.channels++
    judged.events += events
    judged.heard += readers.reduce((sum, { heard }) => sum + heard, 0)
  }
  return { ...judged, faults: tally.faults, firstFaults: tally.firstFaults }
}

const tell = (report: StormReport): void => void process.send!(report)

function obey(order: StormOrder): void {
  switch (order) {
    case 'storm':
      ;[lost, upAt, halfLiveAt, attempts, replayed, refusedWhileDown] = [0, Infinity, 0, 0, 0, 0]
      ;[refusedAfter, upgrades, isLiveTold] = [{}, [], false]
      return
    case 'up':
      upAt = performance.now()
      halfLiveAt = 0
      return
    case 'end':
      void judge().then((judged) => tell({ storm: null, judged }))
  }
}

process.on('message', obey)
process.once('disconnect', () => process.exit())

const names = await channels()
const since = await head()
for (const name of names) ledgers.set(name, new Ledger(since))
let key = ''
for (let n = 0; n < size; n++) {
  if (n % SUBSCRIPTIONS_A_KEY === 0) key = await newKey()
  void subscribe(n, key, names[n % names.length]!, since).catch((error: unknown) =>
    tally.fault(String(error))
  )
  while (n - live.size >= OPENING_AT_ONCE) await pause(5)
}
while (live.size < size) await pause(20)
tell({ storm: null, judged: null })
