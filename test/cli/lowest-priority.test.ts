import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const MODULE = join(import.meta.dirname, '../../src/kernel/cli/lowest-priority.ts')
/** Prints the priority of each thread that a process has then: the 19th number of its state. */
const PROGRAM = `
import { readdirSync, readFileSync } from 'node:fs'
const { takeLowestPriority } = await import(${JSON.stringify(MODULE)})
const priorities = () => readdirSync('/proc/self/task').map((thread) =>
  Number(readFileSync('/proc/self/task/' + thread + '/stat', 'latin1').split(') ')[1].split(' ')[16]))
takeLowestPriority()
console.log(JSON.stringify(priorities()))
`

t.test(
  'all threads of a process in the background take the lowest priority, also those of the engine',
  { skip: existsSync('/proc/self/task') ? false : 'only Linux lists threads' },
  (t) => {
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', PROGRAM], {
      encoding: 'utf8'
    })
    t.equal(stderr, '')
    const priorities = JSON.parse(stdout) as number[]
    t.ok(priorities.length > 2, `${priorities.length} threads`)
    t.strictSame(new Set(priorities), new Set([19]))
    t.end()
  }
)
