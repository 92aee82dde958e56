import { cpSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { foldCandlesAgain } from '../../src/store/verify/candle-repair.ts'
import { repairStore } from '../../storage/embedded/repair/repair.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { storedKeys } from '../../storage/test/sample-access.ts'
import { testWithFixtures } from '../fixtures.ts'
import { filesOf, settle, zero } from '../storage/damaged-store.ts'
import { recordedBlocks, writeLines } from './recorded-folder.ts'
import { startProcess } from './service-process.ts'
import { storedRows } from './stored-rows.ts'

const BLOCKS = 60
/** Number of damaged places, evenly over the table; each takes a few tenths of a second. */
const PLACES = 24

testWithFixtures(
  t,
  'a repair without the source gives back lost rows, candles and lists to the byte, or says what is lost',
  async (t) => {
    const directory = t.testdir({ blocks: {} })
    const recordedDir = join(directory, 'blocks')
    writeLines(recordedDir, 'all.ndjson', recordedBlocks(BLOCKS))
    const service = await startProcess({ dataDir: join(directory, 'sound'), recordedDir })
    await service.said(/the source has no more blocks/)
    await service.end('SIGTERM')
    const store = join(directory, 'sound/store')
    await settle(store)
    const expected = await storedRows(store)
    const [file] = filesOf(store, /\.ldb$/)
    const size = statSync(join(store, file!)).size
    const counts = { whole: 0, lost: 0 }
    for (let place = 0; place < PLACES; place++) {
      const offset = Math.floor((size * (place + 0.5)) / PLACES)
      const name = `zeros from byte ${offset} of ${size} on`
      const copy = join(directory, 'copy')
      cpSync(store, join(copy, 'store'), { recursive: true })
      zero(join(copy, 'store', file!), offset)
      const outcome = await repairStore({
        directory: join(copy, 'store'),
        startOver: 'never',
        nowMs: 0,
        retentionSeconds: null,
        foldCandles: foldCandlesAgain
      })
      if (outcome.kind !== 'repaired') return t.fail(`${name}: not found`)
      if (outcome.startedOver) {
        const storage = await openEmbeddedStorage({ directory: join(copy, 'store') })
        t.equal(await storage.blocks.head(), null, `${name}: the head is lost, and nothing but keys is kept`)
        t.equal((await storedKeys(storage)).length, 1)
        await storage.close()
      } else if (outcome.losses.length === 0) {
        counts.whole++
        t.strictSame(await storedRows(join(copy, 'store')), expected, `${name}: nothing is lost`)
      } else {
        counts.lost++
        const storage = await openEmbeddedStorage({ directory: join(copy, 'store') })
        const gaps = await storage.coverage.gaps({ after: null, limit: 10 })
        t.strictSame(gaps, outcome.gaps)
        t.match(gaps, [{ reason: 'damaged', detail: /were lost/ }], `${name}: ${outcome.losses[0]!.kind}`)
        await storage.close()
      }
      rmSync(copy, { recursive: true })
    }
    t.ok(counts.whole > 4 && counts.lost > 2, `${counts.whole} whole, ${counts.lost} with losses`)
  }
)
