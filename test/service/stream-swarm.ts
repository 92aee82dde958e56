import { setTimeout as sleep } from 'node:timers/promises'
import WebSocket from 'ws'
import type { Storage } from '../../storage/port.ts'
import { CashList } from '../../src/market/cash.ts'
import { cursorAt } from '../../src/market/cursor.ts'
import { channelOf, isFault } from '../../src/stream/channel.ts'
import { ChannelHistory } from '../../src/stream/channel-history.ts'

/** A received event: its cursor, and its data to the byte. */
export interface HeardEvent {
  readonly cursor: number
  readonly data: string
}

interface Message {
  readonly type: string
  readonly code?: string
  readonly channel?: string
  readonly cursor: number
  readonly replay?: true
}

/** A client that is cut off repeatedly, and resumes after its last event. */
export class SwarmClient {
  readonly channels: readonly string[]
  readonly heard = new Map<string, HeardEvent[]>()
  readonly faults: string[] = []
  connections = 0
  replayed = 0
  live = 0
  #last: number
  #socket: WebSocket | null = null
  #isOver = false
  /** The newest message, shown if the client gets stuck. */
  #newest = ''

  constructor(channels: readonly string[], since: number) {
    this.channels = channels
    this.#last = since
    for (const channel of channels) this.heard.set(channel, [])
  }

  /** Connects, is cut off after a while, and repeats until `over`. */
  async live_(urlOf: () => string, random: () => number, over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      const socket = this.#connect(urlOf())
      const closed = new Promise((resolve) => socket.once('close', resolve))
      await Promise.race([
        sleep(300 + random() * 4_000, undefined, { signal: over }).catch(() => undefined),
        closed
      ])
      this.#isOver = true
      socket.terminate()
      await closed
      // A starting service refuses: do not retry in a busy loop.
      await sleep(random() * 200)
    }
  }

  /** Connects once more, and resolves when no event up to a cursor is missing. */
  async catchUp(urlOf: () => string, until: number): Promise<void> {
    for (;;) {
      const socket = this.#connect(urlOf())
      const isDone = await new Promise<boolean>((resolve) => {
        socket.on('message', (data: Buffer) => {
          if (!data.subarray(0, 26).includes('replay_complete')) return
          resolve((JSON.parse(data.toString()) as Message).cursor >= until)
        })
        socket.once('close', () => resolve(false))
      })
      this.#isOver = true
      socket.terminate()
      if (isDone) return
      await sleep(100)
    }
  }

  /** The client's state, in words. */
  get place(): string {
    const { readyState } = this.#socket ?? {}
    return `${this.channels.join(', ')} since ${this.#last}, socket ${readyState}, connection ${this.connections}, ${this.#newest}`
  }

  #connect(url: string): WebSocket {
    this.connections++
    this.#isOver = false
    const socket = new WebSocket(url)
    this.#socket = socket
    socket.on('error', ({ message }) => (this.#newest = message))
    socket.on('open', () => socket.send(JSON.stringify({ subscribe: this.channels, since: this.#last })))
    socket.on('message', (data: Buffer) => {
      // Messages after the cut are ignored, as if the process had ended.
      if (!this.#isOver && socket === this.#socket) this.#hear(data.toString())
    })
    return socket
  }

  #hear(text: string): void {
    const message = JSON.parse(text) as Message
    this.#newest = text.slice(0, 200)
    if (message.type === 'error' || message.code === 'events_dropped') this.faults.push(text)
    if (message.type !== 'event') return
    const { channel, cursor, replay } = message
    if (cursor <= this.#last) this.faults.push(`${channel} ${cursor} comes after ${this.#last}`)
    this.#last = cursor
    if (replay === true) this.replayed++
    else this.live++
    const data = text.slice(text.indexOf('"data":') + 7, text.lastIndexOf('},"cursor":') + 1)
    this.heard.get(channel!)!.push({ cursor, data })
  }
}

/** Returns a store's events of a channel, to the end of a slot. */
export async function storedEvents(storage: Storage, name: string, lastSlot: number): Promise<HeardEvent[]> {
  const history = new ChannelHistory(storage, new CashList())
  const channel = channelOf(name)
  if (isFault(channel)) throw new Error(channel.message)
  const until = cursorAt(lastSlot + 1, 0) - 1
  const found: HeardEvent[] = []
  for (let at = -1; at < until;) {
    const { events, to } = await history.read(channel, at, until, { rows: 500, parts: 20 })
    for (const { cursor, body } of events)
      found.push({ cursor, data: `${Buffer.from(body).toString()}${cursor}}` })
    at = to
  }
  return found
}
