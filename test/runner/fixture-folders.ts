import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isRunning } from '../../src/kernel/running-process.ts'
import { ROOT } from '../house/sources.ts'

/** Folder of the folders of tests (`t.testdir`), in which each test process has its own. */
const FIXTURES = join(ROOT, '.tap/fixtures')

/** Variable of the environment that names the module of a test process, but not of the processes that it starts. */
export const MODULE_VARIABLE = 'TEST_PROCESS_MODULE'

/** Returns the folder of a process. */
export const fixturesOfProcess = (pid: number): string => join(FIXTURES, String(pid))

/** Returns the folder of a file's tests in this process. */
export const fixturesOfFile = (file: string): string =>
  join(fixturesOfProcess(process.pid), file.replace(/[^\w.-]+/g, '-'))

/**
 * Removes the folder of a process that has ended, or whose tests so far are all over. node-tap itself removes the folder of a
 * test before teardowns that were declared later, while a store that they close still writes to it.
 */
export function removeFixtures(pid: number): void {
  rmSync(fixturesOfProcess(pid), { recursive: true, force: true })
}

/** Removes the folders of processes that have ended: earlier runs that were killed have left theirs. */
export function removeAbandonedFixtures(): void {
  let names: string[] = []
  try {
    names = readdirSync(FIXTURES)
  } catch {
    // The first run.
  }
  for (const name of names) if (/^\d+$/.test(name) && !isRunning(Number(name))) removeFixtures(Number(name))
}
