import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { randomRuns } from '../../random-runs.ts'
import { readFiles } from './read-files.ts'
import {
  addressOf,
  ENDINGS,
  fileBytes,
  ownRow,
  PUMP_MINT,
  USDC,
  WSOL,
  type SampleRow
} from './sample-rows.ts'

const COLUMNS = Object.keys(ownRow(0))

/** A row of any amounts, places and mints, some of which are refused. */
const row: fc.Arbitrary<SampleRow> = fc
  .record({
    number: fc.nat(200),
    slot: fc.option(fc.nat(400_000_000)),
    in_mint: fc.constantFrom(WSOL, USDC, addressOf(7), 'no address'),
    out_mint: fc.constantFrom(PUMP_MINT, addressOf(8)),
    in_amount_raw: fc.bigInt(-2n, 2n ** 64n),
    out_amount_raw: fc.bigInt(1n, 2n ** 64n - 1n),
    tx_index: fc.option(fc.nat(5_000)),
    inner_ix_index: fc.option(fc.nat(20)),
    venue: fc.constantFrom('pumpfun', 'no venue')
  })
  .map(({ number, ...replaced }) => ownRow(number, replaced))

const file = fc.record({
  size: fc.nat(6),
  format: fc.constantFrom('ndjson' as const, 'csv' as const, 'parquet' as const),
  compression: fc.constantFrom(null, 'gzip' as const, 'zstd' as const),
  isInFolder: fc.boolean()
})

type SplitFile = typeof file extends fc.Arbitrary<infer File> ? File : never

let folders = 0

t.test(
  'any split of rows into files, formats and compressions gives the same facts and refusals',
  async (t) => {
    const directory = t.testdir()
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 25 }), fc.array(file), async (rows, files) => {
        const all = { size: rows.length, format: 'ndjson' as const, compression: null, isInFolder: false }
        const whole = await readSplit(join(directory, `whole-${folders++}`), rows, [all])
        const split = await readSplit(join(directory, `split-${folders++}`), rows, [...files, all])
        t.same(split.facts, whole.facts)
        t.same(countsOf(split), countsOf(whole))
        t.equal(whole.tally.accepted + whole.tally.refusals.total, rows.length, 'every row is counted')
      }),
      randomRuns(60)
    )
  }
)

/** Writes rows to files, in order of their names, and reads them. */
async function readSplit(directory: string, rows: readonly SampleRow[], files: readonly SplitFile[]) {
  let from = 0
  for (const [at, { size, format, compression, isInFolder }] of files.entries()) {
    const some = rows.slice(from, from + size)
    from += some.length
    const folder = join(directory, String(at).padStart(3, '0'), isInFolder ? 'deep' : '')
    mkdirSync(folder, { recursive: true })
    const name = `rows.${format}${compression === null ? '' : ENDINGS[compression]}`
    writeFileSync(join(folder, name), fileBytes(some, format, compression, COLUMNS))
  }
  return readFiles([directory])
}

const countsOf = ({ tally, refusals }: Awaited<ReturnType<typeof readFiles>>) => ({
  rows: tally.rows,
  accepted: tally.accepted,
  reasons: refusals.map((text) => text.split(' ')[0])
})
