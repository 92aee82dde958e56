import { setMaxListeners } from 'node:events'
import { Ledger } from './ledger.ts'
import { ResumingClient, type Habits, type Tally } from './resuming-client.ts'

/** Milliseconds that a client may take to catch up at the end, and a replay of one channel. */
const LATE_MS = 120_000
const SETTLING_AT_ONCE = 20

/** A client of a flock: its URL and its channels. */
export interface Place {
  readonly url: string
  readonly channels: readonly string[]
}

/** Counts of what a flock received until its end. */
export interface Judged {
  readonly channels: number
  /** Events of its channels, each counted once; and as received by all clients. */
  readonly events: number
  readonly heard: number
}

/** Clients that start at one cursor, so that all must receive equal events of a channel. */
export class Flock {
  readonly #places: readonly Place[]
  readonly #since: number
  readonly #tally: Tally
  readonly #ledgers = new Map<string, Ledger | null>()
  readonly #clients: readonly ResumingClient[]
  readonly #over = new AbortController()
  readonly #lives: Promise<unknown>

  constructor(places: readonly Place[], since: number, habits: Habits, tally: Tally) {
    this.#places = places
    this.#since = since
    this.#tally = tally
    setMaxListeners(0, this.#over.signal)
    for (const name of places.flatMap(({ channels }) => channels))
      if (!this.#ledgers.has(name)) this.#ledgers.set(name, name === 'pools' ? null : new Ledger(since))
    this.#clients = places.map(({ channels }) => new ResumingClient(this.#only(channels), since, tally))
    this.#lives = Promise.all(
      this.#clients.map((client, n) => client.live(places[n]!.url, habits, this.#over.signal))
    )
  }

  /**
   * Ends the flock at a cursor: each client must have all events up to it, equal to those of a replay. Faults go to the
   * tally.
   */
  async judge(until: number): Promise<Judged> {
    this.#over.abort()
    await this.#lives
    for (let i = 0; i < this.#clients.length; i += SETTLING_AT_ONCE) {
      const late = AbortSignal.timeout(LATE_MS)
      const some = this.#clients.slice(i, i + SETTLING_AT_ONCE)
      await Promise.all(some.map((client, n) => client.settle(this.#places[i + n]!.url, until, late)))
    }
    const judged = { channels: 0, events: 0, heard: 0 }
    for (const [channel, ledger] of this.#ledgers) {
      if (ledger === null) continue
      const events = ledger.upTo(until)
      judged.channels++
      judged.events += events
      judged.heard += this.#judgeClients(channel, events)
      await this.#judgeReplay(channel, ledger, events, until)
    }
    return judged
  }

  #judgeClients(channel: string, events: number): number {
    let all = 0
    for (const [n, client] of this.#clients.entries()) {
      if (!this.#places[n]!.channels.includes(channel)) continue
      const heard = client.heard(channel)
      all += heard
      if (heard < events) this.#tally.fault(`${channel}: a client has ${heard} of ${events} events`)
    }
    return all
  }

  /** Compares with a replay, which must deliver these events to a new client. */
  async #judgeReplay(channel: string, ledger: Ledger, events: number, until: number): Promise<void> {
    const late = AbortSignal.timeout(LATE_MS)
    const replayed = new ResumingClient(new Map([[channel, ledger]]), this.#since, this.#tally)
    await replayed.settle(this.#places[0]!.url, until, late)
    const heard = replayed.heard(channel)
    if (heard < events) this.#tally.fault(`${channel}: a replay has ${heard} of ${events} events`)
    // Events of the replay after the flock's last one were never sent to the flock.
    const replayedEvents = ledger.upTo(until)
    if (replayedEvents > events)
      this.#tally.fault(`${channel}: ${events} of ${replayedEvents} events were sent`)
  }

  #only(names: readonly string[]): Map<string, Ledger | null> {
    return new Map(names.map((name) => [name, this.#ledgers.get(name)!]))
  }
}
