import { sleep, type Clock } from '../ports.ts'
import type { KeyDirectory } from './key-directory.ts'

/**
 * How often the store is looked at without hints, and how often at the most because of hints. A change is seen within a
 * second: the rest of it is for the reading. Chosen.
 */
export const LOOK_MS = 750
/** With hints, so many times what a look takes passes until the next: it is for hints that were lost. Chosen. */
const REST = 20
/** The longest rest with hints. Chosen. */
export const LOOK_AT_LEAST_MS = 10_000

/** How the processes of a service hear of each other's changes to keys and tenants. */
export interface KeyHints {
  /** Whether hints arrive at present. */
  readonly available: boolean
  /** Calls `heard` at each hint, and when hints begin or cease to arrive, until the returned function is called. */
  follow(heard: () => void): () => void
}

export interface Following {
  readonly clock: Clock
  /** Null where there are none. */
  readonly hints: KeyHints | null
  readonly signal: AbortSignal
  /** Shows the first fault of those that follow one another: until a look succeeds, all keys stay as they were. */
  readonly report: (error: Error) => void
}

/**
 * Keeps a directory up with what other processes change in the store, until the signal aborts; it never rejects. A hint is
 * followed at once, a second one within `LOOK_MS` after that time.
 */
export async function followKeys(
  directory: Pick<KeyDirectory, 'reload'>,
  { clock, hints, signal, report }: Following
): Promise<void> {
  let hinted = false
  let rest = new AbortController()
  const wake = (): void => rest.abort()
  const unfollow = hints?.follow(() => {
    hinted = true
    wake()
  })
  signal.addEventListener('abort', wake)
  let failing = false
  while (!signal.aborted) {
    const byHint = hinted
    hinted = false
    const startedMs = clock.now()
    await directory.reload().then(
      () => (failing = false),
      (error: Error) => {
        if (!failing) report(error)
        failing = true
      }
    )
    const tookMs = Math.max(0, clock.now() - startedMs)
    const restMs = hints?.available ? Math.min(Math.max(tookMs * REST, LOOK_MS), LOOK_AT_LEAST_MS) : LOOK_MS
    if (byHint) await sleep(clock, LOOK_MS, signal)
    rest = new AbortController()
    if (hinted || signal.aborted) continue
    await sleep(clock, byHint ? restMs - LOOK_MS : restMs, rest.signal)
  }
  signal.removeEventListener('abort', wake)
  unfollow?.()
}
