import type { Test } from 'tap'
import { StreamConnection } from '../../../actors/stream/connection.ts'
import { Horizon } from '../../../actors/stream/horizon.ts'
import { Replays } from '../../../actors/stream/replays.ts'
import { Caller } from '../../../src/access/caller.ts'
import { RateWindow } from '../../../src/access/rate-window.ts'
import { WorkBudget } from '../../../src/access/work-budget.ts'
import { WorkWindow } from '../../../src/access/work-window.ts'
import { VENUE_IDS } from '../../../src/chain/venue-id.ts'
import type { CommitFeed } from '../../../src/kernel/feed/commit-feed.ts'
import type { CashList } from '../../../src/market/cash.ts'
import type { EncodedEvent } from '../../../src/market/log.ts'
import type { Clock } from '../../../src/ports.ts'
import { ChannelHistory } from '../../../src/stream/channel-history.ts'
import { ChangeHistory } from '../../../src/transactions/change-history.ts'
import { StreamHub } from '../../../src/stream/hub.ts'
import { BUFFER } from '../../../src/stream/outbox.ts'
import type { Storage } from '../../../storage/port.ts'
import { FakePipe } from '../../stream/fake-pipe.ts'
import { channelNamed, KEY } from '../../stream/stream-world.ts'
import { TURNS_AT_ONCE } from '../../../src/kernel/work/turns.ts'

const CHANNELS = ['launches', 'curves', ...VENUE_IDS.map((venue) => `venue:${venue}`)]
const LIMITS = { rows: 10_000, parts: 10_000 }

/** A client of the stream that receives blocks and removes retracted events. */
export class ForkListener {
  readonly #heard = new Map<string, Set<number>>(CHANNELS.map((name) => [name, new Set()]))
  readonly #history: ChannelHistory
  readonly #pipe = new FakePipe()
  readonly #faults: unknown[] = []
  #end = -1
  #read = 0
  struck = 0

  constructor(feed: CommitFeed, storage: Storage, cash: CashList, clock: Clock) {
    const report = (fault: unknown): void => void this.#faults.push(fault)
    const hub = new StreamHub(feed, cash, report)
    hub.follow()
    this.#history = new ChannelHistory(storage, cash)
    const connection = new StreamConnection(this.#pipe, new Caller(KEY, 1_000), {
      hub,
      history: this.#history,
      changes: new ChangeHistory(storage.documents, { isShared: false, ttlMs: null }),
      horizon: new Horizon(storage.blocks, null),
      limits: new RateWindow(10),
      budget: new WorkBudget(new WorkWindow(10)),
      room: BUFFER,
      clock,
      replays: new Replays(TURNS_AT_ONCE),
      retry: (ask) => ask(),
      report
    })
    connection.open()
    const text = JSON.stringify({ subscribe: CHANNELS })
    connection.receive(text, text.length)
  }

  /** Compares the store, up to a cursor, with the events that were received and not retracted. */
  async assertHeard(t: Test, until: number): Promise<void> {
    const stored = new Map<string, number[]>()
    for (const name of CHANNELS) {
      const events: EncodedEvent[] = []
      for (let from = -1; from < until;) {
        const stretch = await this.#history.read(channelNamed(name), from, until, LIMITS)
        events.push(...stretch.events)
        from = stretch.to
      }
      const left = events.filter(({ body }) => !Buffer.from(body).includes('"event":"retract"'))
      stored.set(
        name,
        left.map(({ cursor }) => cursor)
      )
    }
    const last = Math.max(...Array.from(stored.values(), (cursors) => cursors.at(-1) ?? -1))
    for (this.#listen(); this.#end < last; this.#listen()) await new Promise(setImmediate)
    t.strictSame(this.#faults, [])
    for (const [name, cursors] of stored)
      t.strictSame([...this.#heard.get(name)!], cursors, `${cursors.length} events on ${name}`)
  }

  #listen(): void {
    const { messages } = this.#pipe
    for (const { type, channel, cursor, data } of messages.slice(this.#read)) {
      this.#read++
      if (type !== 'event') continue
      const heard = this.#heard.get(channel!)!
      const { event, of } = data as { event: string; of?: number }
      if (event !== 'retract') heard.add(cursor!)
      else if (heard.delete(of!)) this.struck++
      else this.#faults.push(`${of} is retracted on ${channel} and was not published`)
      this.#end = Math.max(this.#end, cursor!)
    }
  }
}
