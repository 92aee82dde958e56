import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { join } from 'node:path'

/**
 * The thread of Agave's validator that looks for transactions without a pause while it leads, which a single node always
 * does: nine tenths of what an idle validator takes, and all others together a tenth of a core.
 */
const SPINNING = 'solBnkTxSched'
/**
 * Niceness of the validator's session where Linux shares the processors between sessions first (autogroups). Beside three
 * busy processes on two cores the spinning thread then takes 0.3 of a core instead of 0.8 to 0.9, and slots come two thirds
 * as fast. With 8 it takes as much as without, with all in one session slots come a fourth as fast.
 */
const SESSION_NICENESS = 12

/** Lets everything else of the machine go before the thread that spins, and most of it before the whole validator. */
export function yieldSpinning(pid: number): void {
  attempt(() => writeFileSync(`/proc/${pid}/autogroup`, String(SESSION_NICENESS)))
  const threads = `/proc/${pid}/task`
  for (const id of readdirSync(threads))
    attempt(() => {
      if (readFileSync(join(threads, id, 'comm'), 'utf8').trim() !== SPINNING) return
      setPriority(Number(id), constants.priority.PRIORITY_LOW)
    })
}

/** Does without what fails: the thread has ended meanwhile, or the system has no autogroups. */
function attempt(act: () => void): void {
  try {
    act()
  } catch {
    // All goes on, and takes more of the machine.
  }
}
