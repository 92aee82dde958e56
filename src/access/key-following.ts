import { sleep, type Clock } from '../ports.ts'
import type { KeyDirectory } from './key-directory.ts'

/**
 * Poll interval without notifications, and the shortest time between two polls because of them, in milliseconds. A change is
 * then seen within a second, with 250 ms left for the read.
 */
export const POLL_INTERVAL_MS = 750
/**
 * Minimum pause with notifications, in milliseconds. A poll reads all keys and tenants, and costs a process without clients more
 * than a block.
 */
export const NOTIFIED_POLL_INTERVAL_MS = 5_000
/**
 * With notifications, the pause is this many times the duration of the last poll. Polling then takes at most 5 % of the
 * time; its only purpose is to repair lost notifications.
 */
const PAUSE_FACTOR = 20
/**
 * Maximum pause with notifications, in milliseconds. A lost notification delays a revocation by up to this time.
 */
export const POLL_INTERVAL_MAX_MS = 10_000

/** Notifications by which processes announce changes of keys and tenants. */
export interface KeyHints {
  /** Whether notifications arrive at present. */
  readonly available: boolean
  /**
   * Calls `heard` at each notification, and when notifications start or stop arriving. Returns a function that
   * unsubscribes it.
   */
  subscribe(heard: () => void): () => void
}

export interface Following {
  readonly clock: Clock
  /** Null without notifications. */
  readonly hints: KeyHints | null
  readonly signal: AbortSignal
  /** Called with the first of several faults in a row. Until a poll succeeds, all keys stay as they were. */
  readonly report: (error: Error) => void
}

/**
 * Keeps a directory up to date with other processes' changes until the signal aborts; never rejects. A notification
 * triggers a poll at once. A second notification within `POLL_INTERVAL_MS` waits until that time is over.
 */
export async function followKeys(
  directory: Pick<KeyDirectory, 'reload'>,
  { clock, hints, signal, report }: Following
): Promise<void> {
  let hinted = false
  let rest = new AbortController()
  const wake = (): void => rest.abort()
  const unfollow = hints?.subscribe(() => {
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
    const restMs = hints?.available
      ? Math.min(Math.max(tookMs * PAUSE_FACTOR, NOTIFIED_POLL_INTERVAL_MS), POLL_INTERVAL_MAX_MS)
      : POLL_INTERVAL_MS
    if (byHint) await sleep(clock, POLL_INTERVAL_MS, signal)
    rest = new AbortController()
    if (hinted || signal.aborted) continue
    await sleep(clock, byHint ? restMs - POLL_INTERVAL_MS : restMs, rest.signal)
  }
  signal.removeEventListener('abort', wake)
  unfollow?.()
}
