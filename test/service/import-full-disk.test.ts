import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { csvText } from '../archive/rows/sample-rows.ts'
import { archived, importing, tradeRows } from '../archive/rows/trade-rows.ts'
import { notRun } from '../servers/not-run.ts'
import { canMount, smallDisk } from './small-disk.ts'

const NAME = 'an import on a disk that fills half-way says so in one line, and continues once there is room'
/** An import begins with 64 MB. */
const DISK_KB = 80 * 1_024
const FREE_KB = 72 * 1_024
const ROWS = 3_000
/** Points at which the disk becomes full: while rows are read, and while they are folded. */
const POINTS = [
  ['full-facts', 2],
  ['full-blocks', 1],
  ['full-blocks', 3]
] as const

if (!canMount()) notRun(t, NAME, 'this process may not mount a file system')
else
  t.test(NAME, async (t) => {
    const directory = t.testdir({})
    const path = join(directory, 'rows.csv')
    // Blocks of one hour are written together.
    const rows = tradeRows(ROWS).map((row, at) => ({
      ...row,
      block_time: Number(row['block_time']) + 3_600 * Math.floor(at / 200)
    }))
    writeFileSync(path, csvText(rows))
    const whole = join(directory, 'whole')
    const done = await importing(whole, path)
    t.equal(done.code, 0, done.stderr)
    const expected = await archived(whole)
    for (const [at, [point, number]] of POINTS.entries()) {
      const dataDir = smallDisk(t, '.', FREE_KB, DISK_KB)
      const child = spawn(
        process.execPath,
        [
          join(import.meta.dirname, '..', 'archive', 'import-child.ts'),
          ...[point, String(number), join(directory, `facts-${at}`)],
          ...['archive', 'import', path, '--data-dir', dataDir]
        ],
        { env: {} }
      )
      let stderr = ''
      child.stderr.on('data', (text: Buffer) => (stderr += text.toString('utf8')))
      const [code] = (await once(child, 'close')) as [number | null]
      t.equal(code, 1, `${point} ${number}: ${stderr}`)
      const told = stderr.split('\n').filter((line) => line.startsWith('millrace: '))
      t.equal(told.length, 1, stderr)
      t.match(told[0], /the disk of .* is full; free some space, and rerun the command to continue/)
      t.notMatch(stderr, /\n\s+at /, 'no stack trace')
      const larger = join(directory, `larger-${at}`)
      mkdirSync(larger)
      rmSync(join(dataDir, 'filler-of-test'))
      rmSync(join(dataDir, 'filler'))
      cpSync(dataDir, larger, { recursive: true })
      const rest = await importing(larger, path)
      t.equal(rest.code, 0, rest.stderr)
      t.strictSame(await archived(larger), expected, 'nothing is lost or repeated')
    }
  })
