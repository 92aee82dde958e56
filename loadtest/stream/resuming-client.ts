import { setTimeout as sleep } from 'node:timers/promises'
import WebSocket from 'ws'
import { eventOf, type HeardEvent } from './event-message.ts'
import type { Ledger } from './ledger.ts'

/** What clients have heard and met, together. */
export class Tally {
  live = 0
  replayed = 0
  /** Made, ended by the client, ended by the service (by code), and refused (by what was said). */
  connections = 0
  cuts = 0
  readonly closes: Record<string, number> = {}
  readonly refusals: Record<string, number> = {}
  faults = 0
  readonly firstFaults: string[] = []

  fault(text: string): void {
    this.faults++
    if (this.firstFaults.length < 20) this.firstFaults.push(text)
  }
}

/** How long a connection lasts, and how long its client is away, on average and at least. */
export interface Habits {
  readonly staysMs: number
  readonly awayMs: number
}

interface Message {
  readonly type: string
  readonly code?: string
  readonly cursor: number
}

/** A refused client waits so long. */
const REFUSED_MS = 500

/**
 * A client that leaves at random and goes on after the last event that it has. Each event has to be the one that is next
 * on its channel; of a channel without replay only their order is looked at.
 */
export class ResumingClient {
  readonly #channels: ReadonlyMap<string, Ledger | null>
  readonly #tally: Tally
  /** Events of each channel so far, and the last cursor of those without replay. */
  readonly #heard = new Map<string, number>()
  /** Channels on which something was wrong: what comes after it says nothing more. */
  readonly #wrong = new Set<string>()
  #last: number

  constructor(channels: ReadonlyMap<string, Ledger | null>, since: number, tally: Tally) {
    this.#channels = channels
    this.#last = since
    this.#tally = tally
  }

  /** Connects, stays a while, leaves, and so on until `over`. */
  async live(url: string, { staysMs, awayMs }: Habits, over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      const cut = new AbortController()
      const stay = AbortSignal.any([over, cut.signal])
      const timer = setTimeout(() => cut.abort(), staysMs * (0.2 + 1.6 * Math.random()))
      const isOpened = await this.#connected(url, stay, () => undefined)
      clearTimeout(timer)
      const away = isOpened ? awayMs * 2 * Math.random() : REFUSED_MS
      await sleep(away, undefined, { signal: over }).catch(() => undefined)
    }
  }

  /** Connects once more and resolves when nothing up to a cursor is missing, or rejects when `late` aborts. */
  async settle(url: string, until: number, late: AbortSignal): Promise<void> {
    for (;;) {
      late.throwIfAborted()
      const done = new AbortController()
      await this.#connected(url, AbortSignal.any([late, done.signal]), (cursor) => {
        if (cursor >= until) done.abort()
      })
      if (done.signal.aborted) return
      await sleep(REFUSED_MS)
    }
  }

  /** How many events of a channel it has. */
  heard(channel: string): number {
    return this.#heard.get(channel) ?? 0
  }

  /** One connection, until `end` aborts or the service ends it; says whether there was one. */
  async #connected(url: string, end: AbortSignal, caughtUp: (cursor: number) => void): Promise<boolean> {
    const socket = new WebSocket(url, { perMessageDeflate: false, skipUTF8Validation: true })
    const tally = this.#tally
    let isOpened = false
    socket.on('error', ({ message }) => {
      if (!end.aborted && !isOpened) tally.refusals[message] = (tally.refusals[message] ?? 0) + 1
    })
    socket.on('open', () => {
      isOpened = true
      tally.connections++
      socket.send(JSON.stringify({ subscribe: [...this.#channels.keys()], since: this.#last }))
    })
    socket.on('message', (data: Buffer) => {
      // What comes after the cut is not heard, as if the client had ended.
      if (end.aborted) return
      const event = eventOf(data)
      if (event !== null) return this.#hear(event)
      const message = JSON.parse(data.toString()) as Message
      if (message.type === 'replay_complete') caughtUp(message.cursor)
      else if (message.type === 'error' || (message.type === 'warning' && !isExpected(message)))
        tally.fault(data.toString())
    })
    const closed = new Promise<void>((resolve) => {
      socket.once('close', (code) => {
        if (isOpened && !end.aborted) tally.closes[code] = (tally.closes[code] ?? 0) + 1
        resolve()
      })
    })
    const leave = (): void => socket.terminate()
    end.addEventListener('abort', leave, { once: true })
    if (end.aborted) leave()
    await closed
    end.removeEventListener('abort', leave)
    if (isOpened && end.aborted) tally.cuts++
    return isOpened
  }

  #hear({ channel, cursor, isReplay, sum }: HeardEvent): void {
    if (isReplay) this.#tally.replayed++
    else this.#tally.live++
    const wrong = this.#wrongWith(channel, cursor, sum)
    if (wrong === null || this.#wrong.has(channel)) return
    this.#wrong.add(channel)
    this.#tally.fault(`${channel}: ${wrong}`)
  }

  #wrongWith(channel: string, cursor: number, sum: number): string | null {
    const ledger = this.#channels.get(channel)
    if (ledger === undefined) return 'nobody asked for it'
    const heard = this.heard(channel)
    if (ledger === null) {
      this.#heard.set(channel, cursor)
      return cursor > heard ? null : `${cursor} comes after ${heard}`
    }
    if (cursor <= this.#last) return `${cursor} comes after ${this.#last}`
    this.#last = cursor
    this.#heard.set(channel, heard + 1)
    return ledger.hold(heard, cursor, sum)
  }
}

/** `pools` is live only. */
const isExpected = ({ code }: Message): boolean =>
  code === 'replay_not_supported' || code === 'server_draining'
