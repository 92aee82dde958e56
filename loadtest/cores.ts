import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

/** A server that is measured has the first core, and everybody else the others. */
const SERVER = '0'
const OTHERS = `1-${availableParallelism() - 1}`

/**
 * Leaves the first core to servers: who has it decides what being woken costs, and whatever the scheduler begins with stays.
 * Gives whether it could: there is another core, and `taskset`.
 */
export function leaveServersACore(): boolean {
  return availableParallelism() > 1 && moved(process.pid, OTHERS)
}

/** Moves a server there, with all of its threads. */
export function giveServersCore(pid: number): void {
  if (!moved(pid, SERVER)) throw new Error(`the server ${pid} cannot be moved to a core of its own`)
}

const moved = (pid: number, cores: string): boolean =>
  spawnSync('taskset', ['-apc', cores, String(pid)], { stdio: 'ignore' }).status === 0
