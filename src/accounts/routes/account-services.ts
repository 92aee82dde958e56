import type { Clock } from '../../ports.ts'
import { ACCOUNTS_ANSWER_MS, ACCOUNTS_WAIT_MS } from '../../kernel/time-limits.ts'

/** Deadline in milliseconds of an answer that needs the node: the reads end before it. */
export const NODE_DEADLINE_MS = ACCOUNTS_ANSWER_MS
/** TTL in milliseconds of an answer from accounts: the stated age is in whole seconds. */
export const ANSWER_MS = 1_000

/** Returns a function that returns the milliseconds for which an answer that begins now may still wait for the node. */
export function nodeTime(clock: Pick<Clock, 'now'>): () => number {
  const untilMs = clock.now() + ACCOUNTS_WAIT_MS
  return () => Math.max(0, untilMs - clock.now())
}
