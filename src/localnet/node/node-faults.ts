import { nodeUnhealthy, type RpcError } from './rpc-error.ts'

/**
 * Faults that tests ask of a node, beside those of its chain (which stalls, skips and forks): it fails, answers late, calls
 * itself behind, and drops its sockets. Each counts how often it has happened.
 */
export class NodeFaults {
  readonly #failing = new Map<string, { error: RpcError; times: number }>()
  readonly #dropSockets: () => number
  readonly #fired = { errors: 0, slowAnswers: 0, unhealthy: 0, droppedSockets: 0 }
  #slowMs = 0
  #behind = 0

  constructor(dropSockets: () => number) {
    this.#dropSockets = dropSockets
  }

  get fired(): Readonly<Record<'errors' | 'slowAnswers' | 'unhealthy' | 'droppedSockets', number>> {
    return this.#fired
  }

  /** The next so many calls of a method end with this error; 0 ends it. */
  fail(method: string, error: RpcError, times = Infinity): void {
    if (times > 0) this.#failing.set(method, { error, times })
    else this.#failing.delete(method)
  }

  /** Every answer over HTTP comes so much later, until it is asked for 0. */
  answerAfter(ms: number): void {
    this.#slowMs = ms
  }

  /** The node says that it is so many slots behind, until it is asked for 0. Its answers stay as they are. */
  fallBehind(slots: number): void {
    this.#behind = slots
  }

  /** All pubsub connections end without a word. */
  dropSockets(): void {
    this.#fired.droppedSockets += this.#dropSockets()
  }

  /** Throws where a call of this method is to fail. */
  check(method: string): void {
    if (method === 'getHealth' && this.#behind > 0) {
      this.#fired.unhealthy++
      throw nodeUnhealthy(this.#behind)
    }
    const failing = this.#failing.get(method)
    if (failing === undefined) return
    if (--failing.times === 0) this.#failing.delete(method)
    this.#fired.errors++
    throw failing.error
  }

  /** How long the next answer is to wait. */
  takeDelay(): number {
    if (this.#slowMs > 0) this.#fired.slowAnswers++
    return this.#slowMs
  }
}
