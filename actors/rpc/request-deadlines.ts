import type { Clock } from '../../src/ports.ts'
import { NoUpstream } from '../../src/rpc/upstreams.ts'

/** Ticks of one deadline: a request ends at most a sixteenth of its deadline late. */
const TICKS = 16

/** The time that one request has. */
export interface RequestDeadline {
  /** Aborts at the deadline with NoUpstream, or with the client's reason when the client leaves. */
  readonly signal: AbortSignal
  /** Milliseconds left, at least 0. */
  leftMs(): number
  /** Ends the deadline. */
  close(): void
}

const NEVER = new AbortController().signal

/**
 * Returns the time of a send: its node's own limits alone, because a transaction that a node took is not to be called
 * failed.
 */
export const unlimited = (client: AbortSignal | null): RequestDeadline => ({
  signal: client ?? NEVER,
  leftMs: () => Infinity,
  close: () => undefined
})

/**
 * The deadlines of reads, all of the same length. One timer ticks for all of them while any is open, because most
 * requests end within milliseconds.
 */
export class RequestDeadlines {
  readonly #clock: Clock
  readonly #deadlineMs: number
  /** Open requests by the tick of their beginning, oldest first. */
  readonly #ticks: Set<AbortController>[] = [new Set()]
  #open = 0
  #isTicking = false

  constructor(clock: Clock, deadlineMs: number) {
    this.#clock = clock
    this.#deadlineMs = deadlineMs
  }

  open(client: AbortSignal | null): RequestDeadline {
    const end = new AbortController()
    const leave = (): void => end.abort(client!.reason)
    if (client?.aborted === true) leave()
    else client?.addEventListener('abort', leave, { once: true })
    const tick = this.#ticks.at(-1)!
    tick.add(end)
    this.#open++
    this.#tick()
    const beganAtMs = this.#clock.now()
    return {
      signal: end.signal,
      leftMs: () => Math.max(0, beganAtMs + this.#deadlineMs - this.#clock.now()),
      close: () => {
        client?.removeEventListener('abort', leave)
        if (tick.delete(end)) this.#open--
      }
    }
  }

  #tick(): void {
    if (this.#isTicking || this.#open === 0) return
    this.#isTicking = true
    this.#clock.setTimeout(() => {
      this.#isTicking = false
      this.#ticks.push(new Set())
      if (this.#ticks.length > TICKS + 1) this.#end(this.#ticks.shift()!)
      this.#tick()
    }, this.#deadlineMs / TICKS)
  }

  #end(late: Set<AbortController>): void {
    this.#open -= late.size
    const reason = new NoUpstream(
      `no node has answered within ${this.#deadlineMs} ms (MILLRACE_RPC_DEADLINE_MS)`
    )
    for (const end of late) end.abort(reason)
    late.clear()
  }
}
