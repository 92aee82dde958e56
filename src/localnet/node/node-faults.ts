import { nodeUnhealthy, type RpcError } from './rpc-error.ts'

/**
 * Faults that tests request of a node, in addition to those of its chain (which stalls, skips and forks): errors,
 * late answers, an unhealthy state and dropped sockets. Counts how often each has happened.
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

  /** Fails the next `times` calls of a method with an error; 0 stops it. */
  fail(method: string, error: RpcError, times = Infinity): void {
    if (times > 0) this.#failing.set(method, { error, times })
    else this.#failing.delete(method)
  }

  /** Delays every HTTP answer; 0 stops it. */
  answerAfter(ms: number): void {
    this.#slowMs = ms
  }

  /** Reports the node as `slots` behind; 0 stops it. Its answers do not change. */
  fallBehind(slots: number): void {
    this.#behind = slots
  }

  /** Drops all pubsub connections without a close frame. */
  dropSockets(): void {
    this.#fired.droppedSockets += this.#dropSockets()
  }

  /** Throws if a call of this method must fail. */
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

  /** Returns the delay of the next answer in milliseconds. */
  takeDelay(): number {
    if (this.#slowMs > 0) this.#fired.slowAnswers++
    return this.#slowMs
  }
}
