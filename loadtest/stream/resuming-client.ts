import { setTimeout as sleep } from 'node:timers/promises'
import WebSocket from 'ws'
import { eventOf, type HeardEvent } from './event-message.ts'
import type { Ledger } from './ledger.ts'

/** Counts of all clients together. */
export class Tally {
  live = 0
  replayed = 0
  /** Connections opened, closed by the client, closed by the service (by code), and refused (by message). */
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

/** Average and minimum milliseconds that a connection lasts, and that its client stays disconnected. */
export interface Habits {
  readonly staysMs: number
  readonly awayMs: number
}

interface Message {
  readonly type: string
  readonly code?: string
  readonly cursor: number
}

/** Milliseconds that a refused client waits. */
const REFUSED_MS = 500

/**
 * A client that disconnects at random and resumes after its last event. Each event must be the next one of its channel; for
 * a channel without replay only the order is checked.
 */
export class ResumingClient {
  readonly #channels: ReadonlyMap<string, Ledger | null>
  readonly #tally: Tally
  /** Number of events of each channel; for channels without replay, the last cursor. */
  readonly #heard = new Map<string, number>()
  /** Channels with a fault, whose later faults are not reported. */
  readonly #wrong = new Set<string>()
  #last: number

  constructor(channels: ReadonlyMap<string, Ledger | null>, since: number, tally: Tally) {
    this.#channels = channels
    this.#last = since
    this.#tally = tally
  }

  /** Connects, stays a while, disconnects, and repeats until `over` aborts. */
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

  /** Connects once more and resolves when no event up to a cursor is missing. Rejects when `late` aborts. */
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

  /** Returns the number of events that the client has of a channel. */
  heard(channel: string): number {
    return this.#heard.get(channel) ?? 0
  }

  /** Holds one connection until `end` aborts or the service closes it. Returns whether it was opened. */
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
      // Events after the disconnect are ignored, as if the client had ended.
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

/** `pools` has no replay. */
const isExpected = ({ code }: Message): boolean =>
  code === 'replay_not_supported' || code === 'server_draining'
