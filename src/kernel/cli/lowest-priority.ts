import { readdirSync } from 'node:fs'
import { constants, setPriority } from 'node:os'

/** Threads of this process; Linux lists them. */
const THREADS = '/proc/self/task'

/**
 * Gives other processes precedence for the processor. On Linux each thread has a priority of its own, and the engine's threads for
 * garbage collection and compilation exist before any code of ours runs. Threads that begin later have the priority of this one.
 */
export function takeLowestPriority(): void {
  setPriority(constants.priority.PRIORITY_LOW)
  for (const thread of threads())
    try {
      setPriority(thread, constants.priority.PRIORITY_LOW)
    } catch {
      // The thread has ended.
    }
}

function threads(): number[] {
  try {
    return readdirSync(THREADS).map(Number)
  } catch {
    return []
  }
}
