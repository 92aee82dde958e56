import { spawnSync } from 'node:child_process'
import { constants, getPriority } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { ROOT } from '../house/sources.ts'

/** Runs a command as a process does, and prints the priority that the process then has. */
const SCRIPT = `
  await import(${JSON.stringify(join(ROOT, 'src/main.ts'))})
  console.log('priority ' + (await import('node:os')).getPriority())`

function priorityAfter(dataDir: string, ...words: readonly string[]): number {
  const args = ['--input-type=module', '-e', SCRIPT, '--', 'millrace', ...words, '--data-dir', dataDir]
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env: {} })
  const priority = /^priority (-?\d+)$/m.exec(stdout)?.[1]
  if (priority === undefined) throw new Error(stderr)
  return Number(priority)
}

t.test('an import leaves the processor to the service beside it, and a report does not', async (t) => {
  const directory = t.testdir({ 'rows.csv': 'slot,signature\n' })
  const rows = join(directory, 'rows.csv')
  t.equal(priorityAfter(directory, 'archive', 'import', rows), constants.priority.PRIORITY_LOW)
  t.equal(priorityAfter(directory, 'archive', 'backfill', '1..2'), constants.priority.PRIORITY_LOW)
  t.equal(priorityAfter(directory, 'archive', 'status'), getPriority(), 'that of its parent')
})
