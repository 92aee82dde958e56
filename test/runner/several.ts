/**
 * Runs test files one after another in this process, so that their imports are loaded once. If a file takes too long, the
 * process reports which of its tests runs, and ends itself.
 */
import { FILES_VARIABLE, WITHIN_VARIABLE, writeMark, type FileMark } from './file-mark.ts'
import { runFileTest, runningTests } from './file-tests.ts'

const files = JSON.parse(process.env[FILES_VARIABLE]!) as string[]
const withinMs = Number(process.env[WITHIN_VARIABLE])

// Bypasses the queue of node-tap, which a test that does not end blocks.
const write = (mark: FileMark): void => void process.stdout.write(`${writeMark(mark)}\n`)

function giveUp(late: string): void {
  write({ late, seconds: withinMs / 1_000 })
  process.kill(process.pid, 'SIGKILL')
}

/** CPU seconds of the previous files, and of the start of the process with the first. */
let taken = 0

for (const file of files) {
  write({ begins: file })
  const began = performance.now()
  const limit = setTimeout(() => giveUp(`in: ${runningTests().join(' > ')}`), withinMs)
  const { pass = 0, fail = 0, skip = 0, todo = 0 } = await runFileTest(file)
  clearTimeout(limit)
  const { user, system } = process.cpuUsage()
  const processorSeconds = (user + system) / 1e6 - taken
  taken += processorSeconds
  const seconds = (performance.now() - began) / 1_000
  write({ ended: file, passed: pass, failed: fail, notRun: skip + todo, seconds, processorSeconds })
}
// A handle that stays open holds the process.
setTimeout(() => giveUp(`by: ${process.getActiveResourcesInfo().join(', ')}`), withinMs).unref()
