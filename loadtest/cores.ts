import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

/** The measured server runs on the first core, every other process on the rest. */
const SERVER = '0'
const OTHERS = `1-${availableParallelism() - 1}`

/**
 * Moves this process off the first core and returns whether that worked: it needs a second core and `taskset`. Otherwise the
 * scheduler decides which process shares a core with the server, which changes the cost of waking a thread for a whole run.
 */
export function leaveServersACore(): boolean {
  return availableParallelism() > 1 && moved(process.pid, OTHERS)
}

/** Moves a server and all of its threads to the first core. Throws if `taskset` fails. */
export function giveServersCore(pid: number): void {
  if (!moved(pid, SERVER)) throw new Error(`the server ${pid} cannot be moved to a core of its own`)
}

const moved = (pid: number, cores: string): boolean =>
  spawnSync('taskset', ['-apc', cores, String(pid)], { stdio: 'ignore' }).status === 0
