import type { WorkCount } from '../../access/work-meter.ts'
import type { Pubkey } from '../../chain/pubkey.ts'
import type { HolderLists, HolderStatus } from '../holder-lists.ts'
import { sleep, type Clock } from '../../ports.ts'

/** Poll interval in milliseconds of a list whose request is already answered. No client waits for it. */
export const POLL_MS = 2_500
/** Milliseconds for which such a list is followed: fifteen times the CPU time to store a million accounts, at 40 µs each. */
const FOLLOW_MS = 600_000

/**
 * Charges the request that began the reading of a holder list for the stored accounts, once the list can be read or the
 * reading fails. The request may be answered before, or its client may have left. Resolves early if `end` aborts.
 */
export async function chargeFirstReading(
  lists: Pick<HolderLists, 'status'>,
  mint: Pubkey,
  work: WorkCount,
  clock: Clock,
  end: AbortSignal
): Promise<void> {
  const untilMs = clock.now() + FOLLOW_MS
  for (;;) {
    // While the store does not answer, reading of the list does not progress.
    const status = await lists.status(mint).catch(() => null)
    if (end.aborted) return
    const isOver = clock.now() >= untilMs
    if (status !== null && (isOver || hasEnded(status))) return countAccounts(status, work)
    if (isOver) return
    await sleep(clock, POLL_MS, end)
  }
}

const hasEnded = (status: HolderStatus): boolean => status.kind !== 'loading' || status.state.fault !== null

function countAccounts(status: HolderStatus, work: WorkCount): void {
  if (status.kind === 'unknown') return
  const { accounts } = status.kind === 'view' ? status.view.state : status.state
  work.count('holder', accounts)
}
