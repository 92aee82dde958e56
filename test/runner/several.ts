/** Runs test files one after another in this process: what they import is loaded once. */
import t from 'tap'
import { FILES_VARIABLE, writeMark } from './file-mark.ts'
import { runFileTest } from './file-tests.ts'

for (const file of JSON.parse(process.env[FILES_VARIABLE]!) as string[]) {
  t.comment(writeMark({ begins: file }))
  const [began, usage] = [performance.now(), process.cpuUsage()]
  const { pass = 0, fail = 0, skip = 0, todo = 0 } = await runFileTest(file)
  const { user, system } = process.cpuUsage(usage)
  const seconds = (performance.now() - began) / 1_000
  const sums = { passed: pass, failed: fail, notRun: skip + todo, seconds }
  t.comment(writeMark({ ended: file, ...sums, processorSeconds: (user + system) / 1e6 }))
}
