import type { Clock } from '../../src/ports.ts'

/** Interval of the heartbeats of a process, which show that its event loop runs, and of the checks for them, in milliseconds. */
export const HEARTBEAT_INTERVAL_MS = 1_000
/**
 * Checks in succession without a message, after which a process hangs: no work holds a loop for so long, nor does a machine that
 * is short of CPU time.
 */
const MISSED_MAX = 20

/**
 * Watches for the heartbeats of a process. Checks are counted, and not the time: a parent that was suspended with the process has
 * not checked either.
 */
export class Heartbeats {
  readonly #clock: Clock
  readonly #onHang: () => void
  #missed = 0
  #timer: unknown

  /** Calls `onHang` once the process hangs. */
  constructor(clock: Clock, onHang: () => void) {
    this.#clock = clock
    this.#onHang = onHang
  }

  /** Begins to check, once. */
  begin(): void {
    if (this.#timer === undefined) this.#check()
  }

  /** The process has sent a message, of any kind. One that hangs stays given up. */
  heard(): void {
    if (this.hungSeconds === null) this.#missed = 0
  }

  /** Seconds for which the process was silent until it counted as hanging; null if it does not hang. */
  get hungSeconds(): number | null {
    return this.#missed < MISSED_MAX ? null : (MISSED_MAX * HEARTBEAT_INTERVAL_MS) / 1_000
  }

  end(): void {
    this.#clock.clearTimeout(this.#timer)
  }

  #check(): void {
    this.#timer = this.#clock.setTimeout(() => {
      if (++this.#missed < MISSED_MAX) this.#check()
      else this.#onHang()
    }, HEARTBEAT_INTERVAL_MS)
  }
}
