import type { TransactionEvent } from '../../machines/transaction.machine.ts'
import type { Clock } from '../../src/ports.ts'
import type { TransactionMetrics } from '../../src/transactions/metrics.ts'
import type { RevocableTurn } from '../../src/transactions/fair-queue.ts'
import type { BlockSightings } from '../../src/transactions/ports.ts'
import { REBROADCAST_MS, routesOf, type Route } from '../../src/transactions/submission.ts'
import { isOutage } from '../storage/retry.ts'
import type { ProgressWriter } from './progress-writer.ts'
import { SendGrid } from './send-grid.ts'
import type { TrackedTransaction } from './tracked-transaction.ts'
import { TransactionSender, type TransactionSenderDeps } from './transaction-sender.ts'

export interface SendLoopDeps extends TransactionSenderDeps {
  readonly clock: Clock
  readonly metrics: TransactionMetrics
  readonly sightings: Pick<BlockSightings, 'newest'>
  readonly writer: Pick<ProgressWriter, 'add' | 'claim' | 'confirmed'>
  /** Applies an event of a transaction. */
  readonly apply: (transaction: TrackedTransaction, event: TransactionEvent) => void
  /** Called with a fault of one transaction. */
  readonly fail: (transaction: TrackedTransaction, fault: unknown) => void
  /** Called with a fault of several, which are sent at their next instants. */
  readonly report: (fault: unknown) => void
}

/**
 * Sends tracked transactions at the instants of their grid.
 *
 * S1. One send of a transaction by each of its routes is in flight. While another process may have its shard, it follows a
 *     read that shows no greater token.
 * S2. A route that a request adds is used at once, and then at the instants of the others. That happens once for each route.
 */
export class SendLoop {
  readonly #deps: SendLoopDeps
  readonly #grid: SendGrid<TrackedTransaction>
  readonly #sender: TransactionSender
  readonly #end: AbortSignal
  /** Routes that this process has tried to send a transaction by. Its next sends wait behind the first ones of others. */
  readonly #tried = new WeakMap<TrackedTransaction, Set<Route>>()

  /** Sends in flight are abandoned when `end` aborts. */
  constructor(deps: SendLoopDeps, end: AbortSignal) {
    this.#deps = deps
    this.#grid = new SendGrid(deps.clock, (due, nowMs) => this.#fire(due, nowMs))
    this.#sender = new TransactionSender(deps)
    this.#end = end
  }

  get inFlight(): number {
    return this.#sender.inFlight
  }

  /** Puts a transaction on the grid, and sends it now if its first instant has come. */
  begin(transaction: TrackedTransaction, nowMs: number): void {
    const isDue = transaction.dueAtMs <= nowMs
    if (isDue) transaction.dueAtMs = transaction.instantAfter(nowMs)
    this.#grid.add(transaction)
    if (isDue) this.#fire([transaction], nowMs)
  }

  /** Puts a transaction whose state has changed on the grid, or takes it off. */
  adjust(transaction: TrackedTransaction, nowMs: number): void {
    if (!transaction.isLooping(nowMs)) this.#grid.delete(transaction)
    else if (!transaction.isDropped && !this.#grid.has(transaction)) {
      transaction.dueAtMs = transaction.instantAfter(nowMs)
      this.#grid.add(transaction)
    }
  }

  /**
   * Applies a repeated request: puts a transaction whose sends start again on the grid, and sends it now by the routes that
   * the request added.
   */
  repeat(transaction: TrackedTransaction, added: readonly Route[], nowMs: number): void {
    this.adjust(transaction, nowMs)
    if (!transaction.isLooping(nowMs) || !this.#isSendable(transaction)) return
    // Otherwise the new route waits for the next instant.
    const { claim, isUnclaimed, isConfirming } = transaction
    if (claim.held && !isUnclaimed && !isConfirming) this.#send(transaction, added, nowMs)
  }

  delete(transaction: TrackedTransaction): void {
    this.#grid.delete(transaction)
  }

  /** Stops the timer. */
  end(): void {
    this.#grid.end()
  }

  /** Sends the due transactions that are still to be sent. */
  #fire(due: readonly TrackedTransaction[], nowMs: number): void {
    const { metrics } = this.#deps
    const unsure: TrackedTransaction[] = []
    for (const each of due) {
      if (!this.#isSendable(each)) continue
      if (!each.isLooping(nowMs)) this.#grid.delete(each)
      else {
        const routes = this.#idleRoutes(each)
        if (routes.length === 0) continue
        if (each.context.sends > 0)
          metrics.lateness.observe((nowMs - each.instantAfter(nowMs) + REBROADCAST_MS) / 1_000)
        if (each.claim.held && !each.isUnclaimed) this.#send(each, routes, nowMs)
        else unsure.push(each)
      }
    }
    if (unsure.length > 0) void this.#sendConfirmed(unsure, nowMs)
  }

  /** Sends after a read that shows that no other process has the shard. While the store is unavailable nothing is sent. */
  async #sendConfirmed(unsure: readonly TrackedTransaction[], atMs: number): Promise<void> {
    for (const each of unsure) each.isConfirming = true
    let confirmed: readonly TrackedTransaction[] = []
    try {
      // A first send is seen by a later owner only if its token was stored before.
      await Promise.all(
        unsure
          .filter((each) => each.isUnclaimed || each.context.sends === 0)
          .map((each) => this.#deps.writer.claim(each))
      )
      confirmed = await this.#deps.writer.confirmed(unsure)
    } catch (fault) {
      if (!isOutage(fault)) this.#deps.report(fault)
    } finally {
      for (const each of unsure) each.isConfirming = false
    }
    for (const each of confirmed)
      if (this.#isSendable(each) && each.isLooping(atMs)) this.#send(each, this.#idleRoutes(each), atMs)
  }

  #isSendable({ isOver, isDropped, claim }: TrackedTransaction): boolean {
    return !isOver && !isDropped && !claim.lost.aborted
  }

  /** Returns the routes of a transaction without a send in flight. The others are counted as left out. */
  #idleRoutes({ value, sendingBy, isConfirming }: TrackedTransaction): readonly Route[] {
    const routes = routesOf(value)
    const isBusy = (route: Route): boolean => isConfirming || sendingBy.includes(route)
    for (const route of routes) if (isBusy(route)) this.#deps.metrics.sends.inc({ route, outcome: 'limited' })
    return routes.filter((route) => !isBusy(route))
  }

  #send(transaction: TrackedTransaction, routes: readonly Route[], atMs: number): void {
    for (const route of routes) void this.#sendBy(transaction, route, atMs)
  }

  #turnOf(transaction: TrackedTransaction, route: Route): RevocableTurn {
    const { context, value } = transaction
    const wasSent = this.#tried.get(transaction)?.has(route) ?? (context.sends > 0 && route === value.route)
    return {
      tenant: value.tenant,
      rank: wasSent ? 'resend' : 'first',
      // It may have landed or expired while it waited.
      begin: () => this.#isSendable(transaction) && transaction.isLooping(this.#deps.clock.now())
    }
  }

  #noteTried(transaction: TrackedTransaction, route: Route): void {
    const tried = this.#tried.get(transaction)
    if (tried === undefined) this.#tried.set(transaction, new Set([route]))
    else tried.add(route)
  }

  async #sendBy(transaction: TrackedTransaction, route: Route, atMs: number): Promise<void> {
    transaction.sendingBy = [...transaction.sendingBy, route]
    try {
      const slot = this.#deps.sightings.newest?.slot ?? null
      const { value } = transaction
      const sent = route === value.route ? value : { ...value, route }
      const outcome = await this.#sender.send(sent, this.#end, this.#turnOf(transaction, route))
      if (outcome !== 'deferred') this.#noteTried(transaction, route)
      if (outcome !== null && outcome !== 'deferred')
        this.#deps.apply(transaction, { type: 'send.made', atMs, slot, leaders: outcome.leaders })
      else if (transaction.context.sends === 0 && this.#isSendable(transaction))
        this.#deps.writer.add(transaction)
    } catch (fault) {
      this.#deps.fail(transaction, fault)
    } finally {
      transaction.sendingBy = transaction.sendingBy.filter((each) => each !== route)
    }
  }
}
