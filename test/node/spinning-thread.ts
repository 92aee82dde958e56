import { readdirSync, readFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { join } from 'node:path'

/**
 * The thread of Agave's validator that looks for transactions without a pause while it leads, which a single node always
 * does: nine tenths of what an idle validator takes, and all others together a tenth of a core.
 */
const SPINNING = 'solBnkTxSched'

/**
 * Gives the thread that spins the lowest priority. Where Linux shares the processors between sessions first (autogroups),
 * this lets the validator's other threads go before it, and elsewhere everything else of the machine.
 */
export function yieldSpinning(pid: number): void {
  const threads = `/proc/${pid}/task`
  for (const id of readdirSync(threads)) {
    try {
      if (readFileSync(join(threads, id, 'comm'), 'utf8').trim() !== SPINNING) continue
      setPriority(Number(id), constants.priority.PRIORITY_LOW)
    } catch {
      // The thread has ended meanwhile.
    }
  }
}
