import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { checkStore, NOTHING_TRUSTED } from '../../storage/embedded/engine-files/store-check.ts'
import { repairStore } from '../../storage/embedded/repair/repair.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { sampleBlock } from '../../storage/test/sample-blocks.ts'
import { IS_LONG } from '../random-runs.ts'
import { damagedCopy, filesOf, fillSettled, readAll, zero, type Outcomes } from './damaged-store.ts'
import { ERRORS } from '../../src/kernel/errors.ts'

const BLOCKS = 120
/** Number of damaged places. Each needs two processes, a second of the processor. */
const PLACES = IS_LONG ? 48 : 5

const directory = t.testdir()
const store = join(directory, 'store')
await fillSettled(store, BLOCKS)
const [table] = filesOf(store, /\.ldb$/)
const size = statSync(join(store, table!)).size
const sound = await readAll(store, BLOCKS)

/** Asserts that reads of a damaged store return the earlier results, or an error that names the file. */
function assertNothingWrong(t: Test, { code, signal, reads, stderr }: Outcomes, name: string): void {
  t.match({ code, signal }, { code: 0, signal: null }, `${name}: the process ends by itself: ${stderr}`)
  const wrong = [...reads].filter(
    ([read, { value, error }]) =>
      (error === undefined && value !== sound.reads.get(read)?.value) ||
      (error !== undefined && !(error.includes(table!) && error.includes('npx millrace repair')))
  )
  t.strictSame(wrong, [], `${name}: no read gives a wrong answer, or an error without the file`)
}

t.test('a sound store has no damage, and each read of it an answer', async (t) => {
  t.match(await checkStore(store, NOTHING_TRUSTED), { tables: [], fatal: [] })
  t.strictSame(
    [...sound.reads].filter(([, { error }]) => error !== undefined),
    []
  )
  t.ok(sound.reads.size > 700)
})

t.test(
  'zeros anywhere in a table are errors of the reads that need them, in each process that opens it',
  async (t) => {
    const places = fc.sample(fc.noBias(fc.integer({ min: 0, max: size - 1 })), { numRuns: PLACES, seed: 18 })
    let readsThatFail = 0
    // The last bytes are the footer; before it are the index and the filter.
    for (const offset of [...places, size - 40, size - 1_000, size - 8_000]) {
      const copy = join(directory, 'damaged')
      damagedCopy(store, copy, { file: table!, offset })
      const name = `zeros from byte ${offset} of ${size} on`
      t.not((await checkStore(copy, NOTHING_TRUSTED)).tables.length, 0, `${name}: found`)
      const first = await readAll(copy, BLOCKS)
      assertNothingWrong(t, first, name)
      readsThatFail += [...first.reads.values()].filter(({ error }) => error !== undefined).length
      const again = await readAll(copy, BLOCKS)
      t.strictSame(again.reads, first.reads, `${name}: a restart changes nothing`)
      const aside = filesOf(join(copy, 'damaged'), /./)
      t.strictSame(readFileSync(join(copy, 'damaged', aside[0]!)).length, size, 'the damaged file is kept')
      rmSync(copy, { recursive: true })
    }
    t.ok(readsThatFail > PLACES, `${readsThatFail} reads fail`)
  }
)

t.test('a damaged filter loses nothing', async (t) => {
  const copy = join(directory, 'filter')
  damagedCopy(store, copy, { file: table!, offset: size - 8_000, length: 0 })
  const path = join(copy, table!)
  for (let offset = size - 100; offset > 0; offset -= 100) {
    writeFileSync(path, readFileSync(join(store, table!)))
    zero(path, offset, 8)
    const { tables } = await checkStore(copy, NOTHING_TRUSTED)
    if (tables[0]?.part === 'filter') break
  }
  const { reads } = await readAll(copy, BLOCKS)
  t.strictSame(reads, sound.reads)
})

t.test('a table that is missing or cut off is damage, and the rest is read', async (t) => {
  for (const harm of ['missing', 'cut'] as const) {
    const copy = join(directory, harm)
    cpSync(store, copy, { recursive: true })
    const path = join(copy, table!)
    if (harm === 'missing') rmSync(path)
    else writeFileSync(path, readFileSync(path).subarray(0, size >> 1))
    const { tables } = await checkStore(copy, NOTHING_TRUSTED)
    t.match(tables, [{ file: table, part: harm === 'missing' ? 'missing' : 'index' }])
    const outcomes = await readAll(copy, BLOCKS)
    assertNothingWrong(t, outcomes, harm)
  }
})

t.test(
  'what keeps the engine from opening a store is said with its file, and nothing is changed',
  async (t) => {
    const live = join(directory, 'live')
    const storage = await openEmbeddedStorage({ directory: live })
    for (let index = 0; index < 40; index++) await storage.blocks.commit(sampleBlock(3, index))
    await storage.close()
    const [log] = filesOf(live, /\.log$/)
    const [manifest] = filesOf(live, /^MANIFEST/)
    const harms: Readonly<Record<string, (copy: string) => void>> = {
      [log!]: (copy) => zero(join(copy, log!), 100_000),
      [manifest!]: (copy) => zero(join(copy, manifest!), 0),
      CURRENT: (copy) => rmSync(join(copy, 'CURRENT'))
    }
    for (const [file, harm] of Object.entries(harms)) {
      const copy = join(directory, `fatal-${file}`)
      cpSync(live, copy, { recursive: true })
      harm(copy)
      const before = readdirSync(copy)
      await t.rejects(openEmbeddedStorage({ directory: copy }), {
        name: 'ServiceError',
        kind: ERRORS.STORAGE_UNAVAILABLE,
        detail: new RegExp(`cannot be opened: ${file}.*npx millrace repair`)
      })
      t.strictSame(readdirSync(copy), before)
      const options = {
        directory: copy,
        startOver: 'never',
        nowMs: 0,
        retentionSeconds: null,
        foldCandles: async () => 0
      } as const
      t.match(await repairStore(options), { kind: 'repaired', losses: [] }, `${file}: repaired`)
      t.ok(existsSync(`${copy}.damaged-1970-01-01T000000000Z`))
      const repaired = await openEmbeddedStorage({ directory: copy })
      const head = await repaired.blocks.head()
      // A log is read up to its damage: the store is as it was after an earlier commit.
      if (file === log) t.ok(head !== null && head.slot < sampleBlock(3, 39).slot.slot)
      else t.equal(head?.slot, sampleBlock(3, 39).slot.slot)
      await repaired.close()
    }
  }
)

t.test('a log that ends within a record after a crash is no damage', async (t) => {
  const copy = join(directory, 'torn')
  const storage = await openEmbeddedStorage({ directory: copy })
  for (let index = 0; index < 10; index++) await storage.blocks.commit(sampleBlock(3, index))
  // A copy as a killed process leaves it: without a list of sound files.
  const torn = join(directory, 'killed')
  cpSync(copy, torn, { recursive: true })
  await storage.close()
  const path = join(torn, filesOf(torn, /\.log$/)[0]!)
  writeFileSync(path, readFileSync(path).subarray(0, statSync(path).size - 50))
  const opened = await openEmbeddedStorage({ directory: torn })
  t.equal(
    (await opened.blocks.head())?.slot,
    sampleBlock(3, 8).slot.slot,
    'the commit that was cut off is not there'
  )
  await opened.close()
})
