import { sleep, type Clock } from '../../src/ports.ts'
import { isOutage } from '../storage/retry.ts'

/** Milliseconds between a failure of the store, or the end of a lead, and the next try. */
const RETRY_MS = 1_000

/** Runs a follower of blocks again each time that it ends, until `draining` aborts. Reports its faults other than outages. */
export async function followAgain(
  follow: () => Promise<void>,
  { clock, draining, report }: { clock: Clock; draining: AbortSignal; report: (error: unknown) => void }
): Promise<void> {
  while (!draining.aborted) {
    await follow().catch((error: unknown) => {
      if (!isOutage(error)) report(error)
    })
    if (!draining.aborted) await sleep(clock, RETRY_MS, draining)
  }
}
