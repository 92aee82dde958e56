/** Share of the measured rate that a node gets after refusing requests. Below half, most of the rate would stay unused. */
const LOWERED_SHARE = 0.7
/** Time in which the lost rate is restored, in equal steps. */
const RECOVERY_MS = 60_000
/** A learned rate is forgotten at this multiple of the rate at which the node refused requests. */
const FORGOTTEN_TIMES = 2
/** The lowest learned rate. A node with a lower limit is protected by the pauses that it requests. */
const LEARNED_MIN = 5
/** Refusals within this time have one cause: their requests were sent before the rate was lowered. */
const ONE_CAUSE_MS = 1_000
/** Minimum time over which the sent rate is measured. */
const MEASURED_MS = 1_000

/** The state of a node's budget. Rates are costs a second. */
export interface NodeBudgetState {
  /** The operator's limit; null if not configured. */
  readonly limit: number | null
  /** The limit learned from refusals; null if unknown. */
  readonly learned: number | null
  /** The cost that may be sent now; null if unlimited. Negative after a request that cost more than the rest. */
  readonly left: number | null
}

/**
 * The costs that one node may be sent: a token bucket that holds the rate of one second. A request that costs more
 * than the bucket holds needs a full bucket, and leaves a debt.
 *
 * A refusal (HTTP 429) lowers the rate below the one that was sent. The rate then rises evenly until the node refuses
 * again.
 */
export class NodeBudget {
  readonly #limit: number
  #learned = Infinity
  /** Growth of the learned rate, per millisecond. */
  #growth = 0
  #forgottenAt = Infinity
  #loweredAtMs = -Infinity
  /** The lower of both rates; Infinity if unlimited. */
  #rate: number
  #left: number
  #refilledAtMs: number
  /** Costs since the start, and at the beginning of the two latest measurements. */
  #spent = 0
  #marks: readonly [Mark, Mark]

  /** `limit` is in costs a second; null for no limit. */
  constructor(limit: number | null, nowMs: number) {
    this.#limit = limit ?? Infinity
    this.#rate = this.#limit
    this.#left = this.#rate
    this.#refilledAtMs = nowMs
    const mark = { spent: 0, atMs: nowMs }
    this.#marks = [mark, mark]
  }

  /** Returns whether a request may be sent now. */
  admits(cost: number, nowMs: number): boolean {
    if (this.#rate === Infinity) return true
    this.#refill(nowMs)
    return this.#left >= Math.min(cost, this.#rate)
  }

  /** Costs that may be sent in a second; Infinity if unlimited. */
  get rate(): number {
    return this.#rate
  }

  /** Milliseconds until a request may be sent; 0 if it may be sent now. */
  waitMs(cost: number, nowMs: number): number {
    if (this.admits(cost, nowMs)) return 0
    return ((Math.min(cost, this.#rate) - this.#left) / this.#rate) * 1_000
  }

  /** Records that a request is sent, whether it was admitted or not. */
  spend(cost: number, nowMs: number): void {
    this.#spent += cost
    if (this.#rate === Infinity) return
    this.#refill(nowMs)
    this.#left -= cost
  }

  /** Begins a measurement of the rate that is sent. Called with each probe. */
  measure(nowMs: number): void {
    const [, latest] = this.#marks
    if (nowMs - latest.atMs >= MEASURED_MS) this.#marks = [latest, { spent: this.#spent, atMs: nowMs }]
  }

  /** Records that the node refused a request because of its rate. */
  refused(nowMs: number): void {
    if (nowMs - this.#loweredAtMs < ONE_CAUSE_MS) return
    this.#loweredAtMs = nowMs
    const sentSince = ({ spent, atMs }: Mark): number =>
      ((this.#spent - spent) / Math.max(nowMs - atMs, MEASURED_MS)) * 1_000
    const sent = Math.min(this.#rate, Math.max(...this.#marks.map(sentSince)))
    this.#learned = Math.max(LEARNED_MIN, sent * LOWERED_SHARE)
    this.#growth = Math.max(sent - this.#learned, LEARNED_MIN * (1 - LOWERED_SHARE)) / RECOVERY_MS
    this.#forgottenAt = Math.max(sent, LEARNED_MIN) * FORGOTTEN_TIMES
    this.#rate = Math.min(this.#limit, this.#learned)
    this.#left = Math.min(this.#left, 0)
    this.#refilledAtMs = nowMs
  }

  state(nowMs: number): NodeBudgetState {
    if (this.#rate !== Infinity) this.#refill(nowMs)
    const stated = (value: number): number | null => (value === Infinity ? null : value)
    return { limit: stated(this.#limit), learned: stated(this.#learned), left: stated(this.#left) }
  }

  /** Adds the budget for the time since the last call, at the rate of the beginning of that time. */
  #refill(nowMs: number): void {
    const elapsedMs = nowMs - this.#refilledAtMs
    if (elapsedMs <= 0) return
    this.#refilledAtMs = nowMs
    this.#left = Math.min(this.#rate, this.#left + (this.#rate * elapsedMs) / 1_000)
    if (this.#learned === Infinity) return
    this.#learned += this.#growth * elapsedMs
    if (this.#learned >= Math.min(this.#forgottenAt, this.#limit)) this.#learned = Infinity
    this.#rate = Math.min(this.#limit, this.#learned)
    if (this.#rate === Infinity) this.#left = Infinity
  }
}

/** The costs spent up to a time. */
interface Mark {
  readonly spent: number
  readonly atMs: number
}
