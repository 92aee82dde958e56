import { compiled } from '../../machines/compiled.ts'
import {
  FAILED_DELIVERIES_MAX,
  webhookMachine,
  type WebhookEvent,
  type WebhookState
} from '../../machines/webhook.machine.ts'
import { sleep } from '../../src/ports.ts'
import { channelOf, channelsOf, type Channel } from '../../src/stream/channel.ts'
import { Backlog, type PastRange } from '../../src/webhooks/backlog.ts'
import { bodyOf, newBatch, type SentBatch } from '../../src/webhooks/sent-batch.ts'
import type { BatchIntent, PostOutcome, Webhook } from '../../src/webhooks/webhook.ts'
import type { Stored } from '../../storage/documents.ts'
import type { AttemptLog } from './attempt-log.ts'
import type { DeliveryDeps } from './delivery-deps.ts'
import { attemptOf, eventOf, isOwnFault, labelOf, statusOf } from './post-outcome.ts'
import { DeliveryProgress } from './delivery-progress.ts'
import { EventGatherer } from './event-gatherer.ts'
import { progressAt, unionOf, type ProgressStore } from './progress-store.ts'
import type { TenantChannels } from './past-reader.ts'
import { rebuiltBatch } from './rebuilt-batch.ts'

/**
 * Milliseconds after which an acknowledged batch is recorded if no other batch follows. Longer than a batch is gathered, so
 * that a steady flow has one write for each batch.
 */
const ACK_WRITE_MS = 1_000
/** Pause before a POST that this process could not make is retried, in milliseconds. Arbitrary; it costs no attempt. */
const OWN_FAULT_MS = 1_000

const WEBHOOK_TABLE = compiled(webhookMachine)

type ActiveState = 'idle' | 'gathering' | 'recording' | 'posting' | 'waiting'

/**
 * Delivers the events of one webhook while this process has its shard.
 *
 * D1. A batch is stored before its first attempt, in the same write as the end of the batch before it. After a crash it is
 *     built again from the log, and sent with the same id and bytes. If the log has changed since, its events are sent in a
 *     new batch.
 * D2. An outage of the store delays deliveries. It uses up no attempt.
 * D3. Nothing is sent once the shard is lost, or a process with a greater token has adopted the webhook. A batch that was
 *     sent before that is in the progress which that process reads.
 */
export class WebhookDelivery {
  readonly #deps: DeliveryDeps
  readonly #store: ProgressStore
  readonly #log: AttemptLog
  readonly #channels: readonly Channel[]
  #stored: Stored<Webhook>
  #machine = WEBHOOK_TABLE.initial
  #gatherer: EventGatherer | null = null
  #progress: DeliveryProgress | null = null

  constructor(stored: Stored<Webhook>, store: ProgressStore, log: AttemptLog, deps: DeliveryDeps) {
    this.#stored = stored
    this.#store = store
    this.#log = log
    this.#deps = deps
    this.#channels = channelsOf(stored.value.channels, channelOf).channels
  }

  get stored(): Stored<Webhook> {
    return this.#stored
  }

  get state(): WebhookState {
    return this.#machine.value
  }

  /** Undelivered events in the buffer. */
  get buffered(): number {
    return this.#gatherer?.backlog.live ?? 0
  }

  /** Whether it has to read the past. */
  get isBehind(): boolean {
    return this.#gatherer?.backlog.hasPast ?? false
  }

  /** Takes over changes that do not end a run, such as new secrets. */
  accept(stored: Stored<Webhook>): void {
    this.#stored = stored
  }

  /** Begins no further POST. Returns whether one is in flight, which `run` finishes. */
  drain(): boolean {
    this.#change({ type: 'drain' })
    this.#gatherer?.wake()
    return this.state === 'draining'
  }

  /** Delivers until the webhook is deactivated or drained, or `end` aborts. Rejects on a fault. */
  async run(end: AbortSignal): Promise<void> {
    if (!this.#stored.value.active || this.#machine.status === 'done') return
    this.#change({ type: 'webhook.enabled', failures: 0 })
    try {
      let batch = await this.#resume(end)
      while (this.#is('idle') || this.#is('posting') || this.#is('waiting')) {
        batch ??= await this.#nextBatch(end)
        if (batch === null || end.aborted) break
        await this.#deliver(batch, end)
        batch = null
      }
      // The next run then repeats nothing.
      if (!end.aborted) await this.#progress!.writeIfChanged(end)
    } finally {
      this.#gatherer?.leave()
      this.#gatherer = null
    }
  }

  /** Loads the progress, and joins the hub. Returns a batch of an earlier process that is still to be sent, or null. */
  async #resume(end: AbortSignal): Promise<SentBatch | null> {
    const { hub } = this.#deps
    const stored = await this.#store.adopt(this.#stored, end)
    // From here to `join` no block can be published.
    const progress = progressAt(this.#stored.value, stored, hub.head)
    const backlog = new Backlog(progress.position, progress.hole, hub.head)
    const { batch: intent } = progress
    if (intent !== null) backlog.restore(intent)
    this.#gatherer = new EventGatherer(backlog, this.#channels, this.#deps)
    this.#log.restore(progress.attempts)
    const parts = { webhook: () => this.#stored, store: this.#store, log: this.#log, backlog }
    this.#progress = new DeliveryProgress(progress, parts, this.#deps)
    this.#gatherer.join()
    this.#change({ type: 'webhook.enabled', failures: progress.consecutiveFailures })
    if (progress !== stored) await this.#progress.write(end)
    if (progress.consecutiveFailures >= FAILED_DELIVERIES_MAX) {
      this.#change({ type: 'webhook.disabled' })
      await this.#deactivate('consecutive_failures', end)
      return null
    }
    if (intent === null) return null
    const batch = await rebuiltBatch(intent, this.#ofTenant, this.#deps, end)
    if (batch === null) {
      backlog.giveBack(hub.head)
      this.#progress.change({ batch: null })
      return null
    }
    const waitMs = Math.max(0, intent.notBeforeMs - this.#deps.clock.now())
    this.#change({ type: 'batch.restored', attempts: intent.attempts, waitMs })
    return batch
  }

  /** Waits for events, and stores them as a batch. Returns null if `end` aborts or the webhook drains. */
  async #nextBatch(end: AbortSignal): Promise<SentBatch | null> {
    const { clock, slices } = this.#deps
    const [gatherer, progress] = [this.#gatherer!, this.#progress!]
    let batch: SentBatch | null = null
    while (batch === null && !end.aborted && (this.#is('idle') || this.#is('gathering'))) {
      const range = gatherer.backlog.nextRange()
      if (range !== null) {
        await this.#readPast(range, end)
        continue
      }
      const nowMs = clock.now()
      if (nowMs >= progress.writeAtMs) {
        await progress.writeIfChanged(end)
        continue
      }
      const dueAtMs = gatherer.dueAtMs(nowMs)
      if (dueAtMs !== null && this.#is('idle')) this.#change({ type: 'events.queued' })
      if (dueAtMs !== null && nowMs >= dueAtMs) batch = await slices.run(() => this.#record(end))
      else await gatherer.wait(Math.min(dueAtMs ?? Infinity, progress.writeAtMs) - nowMs, end)
    }
    return batch
  }

  get #ofTenant(): TenantChannels {
    return { tenant: this.#stored.value.tenant, channels: this.#channels }
  }

  async #readPast(range: PastRange, end: AbortSignal): Promise<void> {
    const { horizon, past } = this.#deps
    const { backlog } = this.#gatherer!
    if (range.after < horizon()) {
      const missed = backlog.passHorizon(range, horizon())
      if (missed !== null) this.#progress!.change({ missed: unionOf(this.#progress!.value.missed, missed) })
      return
    }
    const { events, to } = await past.read(this.#ofTenant, range.after, range.until, end)
    backlog.addRead(range, events, to)
  }

  /** Takes the next batch, and stores it together with the end of the batch before it (D1). Null if no batch is due. */
  async #record(end: AbortSignal): Promise<SentBatch | null> {
    if (end.aborted || !this.#is('gathering') || this.#gatherer!.backlog.ready === 0) return null
    this.#change({ type: 'batch.due' })
    const batch = this.#take()
    await this.#progress!.write(end, { batch: batch.intent })
    this.#change({ type: 'batch.recorded' })
    return end.aborted || !this.#is('posting') ? null : batch
  }

  /** Builds the next batch. `#record` itself would hold the events while it waits. */
  #take(): SentBatch {
    const { clock, newBatchId } = this.#deps
    const taken = this.#gatherer!.take()
    const { dropped, missed } = this.#progress!.withDropped()
    return newBatch({ batchId: newBatchId(), batchTsMs: clock.now(), dropped, missed }, taken)
  }

  /** Makes the attempts of a batch, until it has ended or `end` aborts. */
  async #deliver(batch: SentBatch, end: AbortSignal): Promise<void> {
    const { clock, slices } = this.#deps
    for (;;) {
      if (this.#is('waiting')) {
        const { notBeforeMs } = this.#progress!.value.batch!
        while (this.#is('waiting') && clock.now() < notBeforeMs && !end.aborted)
          await this.#gatherer!.sleep(notBeforeMs - clock.now(), end)
        if (this.#is('waiting')) await this.#store.confirm(this.#stored, end)
        if (end.aborted || !this.#is('waiting')) return
        this.#change({ type: 'wait.elapsed' })
      }
      const startedAtMs = clock.now()
      const outcome = await slices.run(() => this.#post(batch, end))
      if (end.aborted) return
      if (isOwnFault(outcome)) {
        await sleep(clock, OWN_FAULT_MS, end)
        if (this.#is('posting')) await this.#store.confirm(this.#stored, end)
        if (end.aborted || !this.#is('posting')) return
        continue
      }
      if (await this.#settle(batch.intent, outcome, startedAtMs, end)) return
      if (!this.#is('waiting')) return
    }
  }

  /**
   * Makes an attempt. The body is made for it: it is in the processor's cache when it is signed, and no webhook waits with
   * it.
   */
  async #post(batch: SentBatch, end: AbortSignal): Promise<PostOutcome> {
    const { sender, signer, clock } = this.#deps
    const { id, tenant, url } = this.#stored.value
    const body = bodyOf(id, batch)
    const signing = { id: batch.intent.batchId, body, nowMs: clock.now() }
    const attempt = this.#machine.context.attempts + 1
    const headers = signer.headers(this.#stored.value, { ...signing, attempt })
    return sender.post(tenant, { url, headers, body }, end)
  }

  /** Records the outcome of an attempt. Resolves with whether the delivery has ended. */
  async #settle(
    intent: BatchIntent,
    outcome: PostOutcome,
    startedAtMs: number,
    end: AbortSignal
  ): Promise<boolean> {
    const { clock, metrics } = this.#deps
    const nowMs = clock.now()
    const attempt = this.#machine.context.attempts + 1
    const label = labelOf(outcome)
    metrics.posts.inc({ outcome: label })
    metrics.seconds.observe(outcome.durationMs / 1_000)
    this.#change(eventOf(outcome, label))
    const { context } = this.#machine
    // A webhook that drains leaves the attempts that follow to the next process.
    const isOver = label === '2xx' || context.attempts < attempt
    const retryAtMs = isOver ? null : nowMs + context.waitMs
    const progress = this.#progress!
    progress.change(statusOf(outcome, label, nowMs))
    this.#log.add(attemptOf({ intent, attempt, startedAtMs, retryAtMs }, outcome))
    if (retryAtMs !== null) {
      await progress.write(end, { batch: { ...intent, attempts: attempt, notBeforeMs: retryAtMs } })
      return false
    }
    if (context.reason !== null) await this.#deactivate(context.reason, end)
    this.#endBatch(intent, label === '2xx')
    if (label === '2xx') progress.writeWithin(ACK_WRITE_MS)
    else await progress.write(end)
    return true
  }

  /** Moves the position over a batch that was accepted, or whose events are dropped. */
  #endBatch(intent: BatchIntent, isAccepted: boolean): void {
    const progress = this.#progress!
    const { dropped, missed } = progress.value
    this.#gatherer!.backlog.settleBatch()
    if (isAccepted) {
      this.#deps.metrics.events.inc(intent.events)
      const isReported = missed?.from === intent.missed?.from && missed?.to === intent.missed?.to
      progress.change({ dropped: dropped - intent.dropped, missed: isReported ? null : missed })
    } else progress.countDropped(intent.events)
    progress.change({ batch: null, consecutiveFailures: this.#machine.context.failures })
  }

  /** Stores that the webhook is deactivated, unless its owner has changed it meanwhile. */
  async #deactivate(reason: NonNullable<Webhook['disabledReason']>, end: AbortSignal): Promise<void> {
    const { clock, changes } = this.#deps
    const nowMs = clock.now()
    const { version } = this.#stored
    const change = { active: false, disabledAtMs: nowMs, disabledReason: reason, updatedAtMs: nowMs }
    this.#stored = await this.#store.update(this.#stored, change, end)
    const { value } = this.#stored
    const isDone = this.#stored.version !== version && value.disabledAtMs === nowMs
    if (isDone) changes.publish(value, { event: 'deactivated', reason })
  }

  #change(event: WebhookEvent): void {
    this.#machine = WEBHOOK_TABLE.next(this.#machine, event)
  }

  #is(state: ActiveState): boolean {
    const value = this.state
    return typeof value === 'object' && value.active === state
  }
}
