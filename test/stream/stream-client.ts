import type { StreamConnection } from '../../actors/stream/connection.ts'
import { channelNamed, send, type World } from './stream-world.ts'
import type { FakePipe, Message } from './fake-pipe.ts'

interface Hole {
  readonly from: number
  readonly to: number
}

/** The events that a client has received of a channel since it subscribed. */
export interface Heard {
  readonly channel: string
  /** The subscription starts after this cursor. */
  readonly since: number
  readonly cursors: number[]
  readonly holes: Hole[]
  isOpen: boolean
}

interface Asked {
  readonly names: readonly string[]
  readonly since: number | null
}

/** A client that remembers everything received, and resumes from there when it reconnects. */
export class StreamClient {
  readonly heard: Heard[] = []
  readonly faults: string[] = []
  dropped = 0
  pipe: FakePipe
  connection: StreamConnection
  #read = 0
  #asked: Asked[] = []
  /** Number of incomplete replays of each channel. */
  #replaying = new Map<string, number>()

  constructor(world: World) {
    ;({ connection: this.connection, pipe: this.pipe } = world.connect())
  }

  subscribe(names: readonly string[], since: number | null): void {
    this.#asked.push({ names, since })
    send(this.connection, since === null ? { subscribe: names } : { subscribe: names, since })
  }

  unsubscribe(names: readonly string[]): void {
    send(this.connection, { unsubscribe: names })
  }

  /** Disconnects, and requests the missed events from another process. */
  reconnect(world: World): void {
    this.listen()
    this.connection.closed()
    const goOn = this.heard.filter(({ isOpen }) => isOpen)
    const unanswered = this.#asked
    this.#asked = []
    this.#read = 0
    this.#replaying = new Map()
    ;({ connection: this.connection, pipe: this.pipe } = world.connect())
    for (const heard of goOn) this.subscribe([heard.channel], this.#last(heard))
    for (const { names, since } of unanswered) this.subscribe(names, since)
  }

  /** Processes the messages received so far. */
  listen(): void {
    const { messages } = this.pipe
    while (this.#read < messages.length) this.#take(messages[this.#read++]!)
  }

  #last({ cursors, since }: Heard): number {
    return Math.max(since, cursors.at(-1) ?? -1)
  }

  #take(message: Message): void {
    switch (message.type) {
      case 'subscribed':
        return this.#begin(this.#asked.shift()!, message)
      case 'unsubscribed':
        for (const name of message.channels!) this.#end(name)
        return
      case 'event':
        return this.#hear(message)
      case 'warning':
        if (message.code === 'events_dropped') this.#miss(message)
        return
      case 'replay_complete':
        for (const name of message.channels!) {
          const left = (this.#replaying.get(name) ?? 0) - 1
          if (left <= 0) this.#replaying.delete(name)
          else this.#replaying.set(name, left)
        }
        return
      case 'error':
        this.faults.push(JSON.stringify(message))
    }
  }

  #begin({ names, since }: Asked, ack: Message): void {
    const goesOn = (name: string): boolean => this.#open(name) !== undefined
    for (const name of new Set(names)) {
      if (since === null && goesOn(name)) continue
      const before = this.#open(name)
      // A reconnected client resumes; any later start is another subscription.
      const isLive = since === null || channelNamed(name).kind === 'pools'
      if (before !== undefined && !isLive && since === this.#last(before)) {
        if (ack['replaying'] === true) this.#expectReplay(name)
        continue
      }
      if (before !== undefined) before.isOpen = false
      const start = isLive ? (ack.cursor ?? 0) : since
      this.heard.push({ channel: name, since: start, cursors: [], holes: [], isOpen: true })
      if (ack['replaying'] === true) this.#expectReplay(name)
    }
  }

  #expectReplay(name: string): void {
    this.#replaying.set(name, (this.#replaying.get(name) ?? 0) + 1)
  }

  #end(name: string): void {
    const heard = this.#open(name)
    if (heard === undefined) this.faults.push(`unsubscribed from ${name}, which was not subscribed`)
    else heard.isOpen = false
    this.#replaying.delete(name)
  }

  #hear({ channel, cursor, replay, data }: Message): void {
    const heard = this.#open(channel!)
    if (heard === undefined) return void this.faults.push(`an event of ${channel}, which is not subscribed`)
    if ((data as { cursor: number }).cursor !== cursor)
      this.faults.push(`data has another cursor than ${cursor}`)
    if (replay === true && !this.#replaying.has(channel!))
      this.faults.push(`${channel} ${cursor} is replayed after replay_complete`)
    const last = this.#last(heard)
    if (cursor! <= last) this.faults.push(`${channel} ${cursor} comes after ${last}`)
    heard.cursors.push(cursor!)
  }

  #miss({ channels, ...message }: Message): void {
    this.dropped += message['dropped'] as number
    const hole = { from: message['from_cursor'] as number, to: message['to_cursor'] as number }
    for (const name of channels!) this.#open(name)?.holes.push(hole)
  }

  #open(name: string): Heard | undefined {
    return this.heard.findLast(({ channel, isOpen }) => isOpen && channel === name)
  }
}
