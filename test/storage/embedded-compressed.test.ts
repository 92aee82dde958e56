import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { checkStore, NOTHING_TRUSTED } from '../../storage/embedded/engine-files/store-check.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { sampleBlock } from '../../storage/test/sample-blocks.ts'
import { damagedCopy, filesOf, fillSettled, readAll } from './damaged-store.ts'

const BLOCKS = 120
const directory = t.testdir()

const plain = join(directory, 'plain')
await fillSettled(plain, BLOCKS)
const store = join(directory, 'compressed')
await fillSettled(store, BLOCKS, 3, true)
const [table] = filesOf(store, /\.ldb$/)
const size = statSync(join(store, table!)).size

t.test(
  'a store whose tables are compressed is smaller, has no damage, and gives the same answers',
  async (t) => {
    t.ok(size < 0.9 * statSync(join(plain, filesOf(plain, /\.ldb$/)[0]!)).size, `${size} bytes`)
    const { tables, fatal, checked } = await checkStore(store, NOTHING_TRUSTED)
    t.strictSame([tables, fatal], [[], []])
    t.ok(checked.bytes >= size)
    t.strictSame((await readAll(store, BLOCKS)).reads, (await readAll(plain, BLOCKS)).reads)
  }
)

t.test(
  'zeros anywhere in a compressed table are found, and only the reads that need them fail',
  async (t) => {
    const sound = await readAll(store, BLOCKS)
    for (const offset of [0, size >> 2, size >> 1, size - 8_000, size - 1_000, size - 40]) {
      const copy = join(directory, 'damaged')
      damagedCopy(store, copy, { file: table!, offset })
      const name = `zeros from byte ${offset} of ${size} on`
      const { tables } = await checkStore(copy, NOTHING_TRUSTED)
      t.not(tables.length, 0, `${name}: found`)
      const { code, reads } = await readAll(copy, BLOCKS)
      t.equal(code, 0, `${name}: the process ends by itself`)
      const wrong = [...reads].filter(
        ([read, { value, error }]) =>
          (error === undefined && value !== sound.reads.get(read)?.value) ||
          (error !== undefined && !(error.includes(table!) && error.includes('npx millrace repair')))
      )
      t.strictSame(wrong, [], `${name}: no read gives a wrong answer, or an error without the file`)
      rmSync(copy, { recursive: true })
    }
  }
)

t.test('an archive continues a store that is not compressed, and any process reads it', async (t) => {
  const mixed = join(directory, 'mixed')
  damagedCopy(plain, mixed, { file: filesOf(plain, /\.ldb$/)[0]!, offset: 0, length: 0 })
  const archive = await openEmbeddedStorage({ directory: mixed, isArchive: true })
  const more = [BLOCKS, BLOCKS + 1, BLOCKS + 2]
  await archive.blocks.commitAll(more.map((index) => [sampleBlock(3, index)]))
  await archive.close()
  const whole = join(directory, 'whole')
  await fillSettled(whole, BLOCKS + more.length)
  const { reads } = await readAll(mixed, BLOCKS + more.length)
  t.strictSame(reads, (await readAll(whole, BLOCKS + more.length)).reads)
})
