import type { Clock, Random } from '../../src/ports.ts'
import type { StreamHub } from '../../src/stream/hub.ts'
import type { WebhookMetrics } from '../../src/webhooks/metrics.ts'
import type { Backlog } from '../../src/webhooks/backlog.ts'
import type { WebhookChanges } from '../../src/webhooks/changes.ts'
import type { Webhook, WebhookProgress } from '../../src/webhooks/webhook.ts'
import type { Stored } from '../../storage/documents.ts'
import type { AttemptLog } from './attempt-log.ts'
import type { ProgressStore } from './progress-store.ts'

/**
 * Interval of recording the position of a webhook without events, in milliseconds, plus up to a fifth at random. After a
 * crash little of a quiet log is read again, and a thousand idle webhooks make 30 writes a second.
 */
const IDLE_WRITE_MS = 30_000

/** The webhook, its store, and the sources of its progress. */
export interface ProgressParts {
  readonly webhook: () => Stored<Webhook>
  readonly store: ProgressStore
  readonly log: AttemptLog
  readonly backlog: Backlog
}

export interface DeliveryProgressDeps {
  readonly hub: Pick<StreamHub, 'head'>
  readonly clock: Clock
  readonly random: Random
  readonly metrics: Pick<WebhookMetrics, 'dropped'>
  readonly changes: Pick<WebhookChanges, 'dropped'>
}

/** The progress of one webhook as it is in memory, with the position of its backlog, and the time of its next write. */
export class DeliveryProgress {
  readonly #parts: ProgressParts
  readonly #deps: DeliveryProgressDeps
  #value: WebhookProgress
  #writeAtMs: number
  /** Whether the store does not have the end of the last batch. */
  #isUnwritten = false

  constructor(value: WebhookProgress, parts: ProgressParts, deps: DeliveryProgressDeps) {
    this.#value = value
    this.#parts = parts
    this.#deps = deps
    this.#writeAtMs = this.#nextWriteMs()
  }

  /** The progress, without events that the backlog has dropped since the last write. */
  get value(): WebhookProgress {
    return this.#value
  }

  /** Time of the next write, if there is no earlier one. */
  get writeAtMs(): number {
    return this.#writeAtMs
  }

  change(change: Partial<WebhookProgress>): void {
    this.#value = { ...this.#value, ...change }
  }

  /** Counts the events that the backlog has dropped, and returns the progress with them. */
  withDropped(): WebhookProgress {
    this.countDropped(this.#parts.backlog.takeDropped())
    return this.#value
  }

  countDropped(count: number): void {
    if (count === 0) return
    const { metrics, changes } = this.#deps
    metrics.dropped.inc(count)
    changes.dropped(this.#parts.webhook().value, count)
    const { dropped, droppedTotal } = this.#value
    this.change({ dropped: dropped + count, droppedTotal: droppedTotal + count })
  }

  /** Schedules a write of a batch's end in some milliseconds, unless another write comes first. */
  writeWithin(ms: number): void {
    this.#isUnwritten = true
    this.#writeAtMs = Math.min(this.#writeAtMs, this.#deps.clock.now() + ms)
  }

  /** Changes the progress, and writes it. Rejects when `end` aborts, also because another process has the shard. */
  async write(end: AbortSignal, change: Partial<WebhookProgress> = {}): Promise<void> {
    const { backlog, log, store, webhook } = this.#parts
    this.withDropped()
    backlog.settle(this.#deps.hub.head)
    const { position, hole } = backlog
    this.change({ ...change, position, hole })
    this.#written()
    // The log has the attempts, so their text is not held here, too.
    await store.write(webhook(), { ...this.#value, attempts: log.text, buffered: backlog.live }, end)
  }

  /** Writes the progress if it has changed since the last write. */
  async writeIfChanged(end: AbortSignal): Promise<void> {
    const { backlog } = this.#parts
    backlog.settle(this.#deps.hub.head)
    if (this.#isUnwritten || backlog.position > this.#value.position) await this.write(end)
    else this.#written()
  }

  #written(): void {
    this.#isUnwritten = false
    this.#writeAtMs = this.#nextWriteMs()
  }

  #nextWriteMs(): number {
    const { clock, random } = this.#deps
    return clock.now() + IDLE_WRITE_MS * (1 + random() / 5)
  }
}
