/**
 * Gives the folders of a file's tests a place that no other process has, and that is empty at first. Two runs of a file, at once
 * or one after the other, would otherwise share the stores in them: node-tap names a folder by its file and test.
 */
import { relative, resolve } from 'node:path'
import { isMainThread } from 'node:worker_threads'
import { ROOT } from '../house/sources.ts'
import { fixturesOfFile, MODULE_VARIABLE, removeFixtures } from './fixture-folders.ts'

const module = process.argv[1]
// Threads of the process, and processes that it forks, load this as well.
if (isMainThread && module !== undefined && process.env[MODULE_VARIABLE] === resolve(module)) {
  // An ended process may have had the same id.
  removeFixtures(process.pid)
  const { default: t } = await import('tap')
  t.testdirName = fixturesOfFile(relative(ROOT, module))
}
