import { eventFrames, type Frames } from '../../src/stream/frames.ts'
import type { StreamHub } from '../../src/stream/hub.ts'
import type { EncodedEvent } from '../../src/market/log.ts'
import { encodeChange, type ChangeHistory } from '../../src/transactions/change-history.ts'
import type { ChangeBatch } from '../../src/transactions/change-batch.ts'
import type { RetryPolicy } from '../storage/retry.ts'

/** Changes of one read of the store: a quarter of a connection's queue. */
const CHANGES_READ = 500

export interface LiveChangesDeps {
  readonly tenant: string
  readonly hub: Pick<StreamHub, 'head' | 'reaches'>
  readonly history: Pick<ChangeHistory, 'read'>
  readonly retry: RetryPolicy
  /** Resolves when the connection's queue is nearly sent. */
  readonly room: () => Promise<void>
  readonly give: (frames: Frames) => void
  readonly failed: (fault: unknown) => void
}

/**
 * Sends the changes of a tenant's submissions to one connection as they come.
 *
 * C1. Each change after the first position is sent once, in cursor order, and after the events of its slot. A batch that
 *     follows the last one sent is taken as published; all others are read from the store.
 */
export class LiveChanges {
  readonly #deps: LiveChangesDeps
  readonly #end = new AbortController()
  #position: number
  #isReading = false
  /** Whether a batch may have been stored since the last read began. */
  #isBehind = false

  constructor(deps: LiveChangesDeps, after: number) {
    this.#deps = deps
    this.#position = after
    this.look()
  }

  /** The cursor of the last change that was sent, or after which it began. */
  get position(): number {
    return this.#position
  }

  /** Takes a batch that was published. */
  hear({ after, changes }: ChangeBatch): void {
    const last = changes.at(-1)!.cursor
    if (last <= this.#position || this.#end.signal.aborted) return
    const isNext = !this.#isReading && after <= this.#position && last <= this.#deps.hub.head
    if (!isNext) return this.look()
    this.#send(changes.filter(({ cursor }) => cursor > this.#position).map(encodeChange))
  }

  /** Reads changes from the store that were not announced. */
  look(): void {
    this.#isBehind = true
    if (this.#isReading) return
    this.#isReading = true
    this.#read().catch((fault: unknown) => {
      if (!this.#end.signal.aborted) this.#deps.failed(fault)
    })
  }

  end(): void {
    this.#end.abort()
  }

  async #read(): Promise<void> {
    const { tenant, hub, history, retry, room } = this.#deps
    const end = this.#end.signal
    try {
      while (this.#isBehind && !end.aborted) {
        this.#isBehind = false
        await room()
        const { events } = await retry(
          () => history.read(tenant, this.#position, Number.MAX_SAFE_INTEGER, CHANGES_READ),
          end
        )
        const [first] = events
        if (first === undefined) continue
        this.#isBehind = true
        // They follow the events of their slot.
        if (hub.head < first.cursor) await hub.reaches(first.cursor, end)
        if (!end.aborted) this.#send(events.filter(({ cursor }) => cursor <= hub.head))
      }
    } finally {
      this.#isReading = false
    }
  }

  #send(events: readonly EncodedEvent[]): void {
    if (events.length === 0) return
    this.#position = events.at(-1)!.cursor
    this.#deps.give(eventFrames('tx', events, false))
  }
}
