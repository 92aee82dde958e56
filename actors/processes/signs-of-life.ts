import type { Clock } from '../../src/ports.ts'

/** Interval of the messages by which a process shows that its event loop runs, and of the looks for them, in milliseconds. */
export const LIFE_INTERVAL_MS = 1_000
/** Looks in succession without a message, after which a process hangs: no work takes so long, nor does a machine short of CPU. */
const SILENT_LOOKS_MAX = 20

/**
 * Watches for the messages of a process. Looks are counted, and not the time: whoever was suspended with the process has not
 * looked either.
 */
export class SignsOfLife {
  readonly #clock: Clock
  readonly #onSilence: () => void
  #silentLooks = 0
  #timer: unknown

  /** Calls `onSilence` once the process hangs. */
  constructor(clock: Clock, onSilence: () => void) {
    this.#clock = clock
    this.#onSilence = onSilence
  }

  /** Begins to look, once. */
  begin(): void {
    if (this.#timer === undefined) this.#look()
  }

  /** The process has sent a message; it no longer helps one that hangs. */
  heard(): void {
    if (this.hungSeconds === null) this.#silentLooks = 0
  }

  /** Seconds for which the process was silent until it counted as hanging; null if it does not hang. */
  get hungSeconds(): number | null {
    return this.#silentLooks < SILENT_LOOKS_MAX ? null : (SILENT_LOOKS_MAX * LIFE_INTERVAL_MS) / 1_000
  }

  end(): void {
    this.#clock.clearTimeout(this.#timer)
  }

  #look(): void {
    this.#timer = this.#clock.setTimeout(() => {
      if (++this.#silentLooks < SILENT_LOOKS_MAX) this.#look()
      else this.#onSilence()
    }, LIFE_INTERVAL_MS)
  }
}
