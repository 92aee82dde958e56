import { join } from 'node:path'
import t from 'tap'
import { ServedArchive } from '../../../src/archive/served-archive.ts'
import { archiveStanding } from '../../../src/archive/standing.ts'
import { openArchiveToRead } from '../../../src/store/opening.ts'
import { exportWorld, MINT, POOL_TEXT, WALLET } from '../../cli/export-world.ts'
import { pubkeyToBase58 } from '../../../src/chain/pubkey.ts'
import { marketApp, type Row } from '../../http/market-app.ts'
import { NOON, OTHER } from '../../market/world.ts'
import { configIn } from '../recorded-market.ts'
import { archived, importing } from './trade-rows.ts'

/** The orders of three files. */
const ORDERS = [
  [0, 1, 2],
  [0, 2, 1],
  [1, 0, 2],
  [1, 2, 0],
  [2, 0, 1],
  [2, 1, 0]
] as const
/** Ranges of the files: a border in the middle of an hour, and two files that overlap by a block. */
const FILES = [
  ['csv', NOON, NOON + 3_701],
  ['parquet', NOON + 60, NOON + 9_000],
  ['ndjson', NOON + 9_000, NOON + 10_000]
] as const

const LISTS = [
  `/v1/trades?from=${NOON - 10}&to=${NOON + 10_000}&limit=1000`,
  `/v1/tokens/${MINT}/trades?limit=1000`,
  `/v1/tokens/${pubkeyToBase58(OTHER)}/trades?limit=1000`,
  `/v1/pools/${POOL_TEXT}/trades?limit=1000`,
  `/v1/wallets/${WALLET}/trades?limit=1000`,
  ...['1m', '1h', '1w'].map((interval) => `/v1/tokens/${MINT}/candles?interval=${interval}`)
]

/** Leaves out the marks: what is archived, and that the index is past a bucket. */
const unmarked = ({ source: _, closed: __, ...row }: Row): object => row

t.test('a live range that is exported and imported elsewhere in six orders has equal bodies', async (t) => {
  const { app, run, file } = await exportWorld(t, 80)
  const paths: string[] = []
  for (const [format, from, to] of FILES) {
    const path = file(`${from}.${format}`)
    paths.push(path)
    const said = await run(['trades', '--from', String(from), '--to', String(to), '-o', path])
    t.equal(said.code, 0, said.stderr)
  }
  const stores: unknown[] = []
  for (const [at, order] of ORDERS.entries()) {
    const dataDir = file(`data-${at}`)
    for (const each of order) {
      const { code, lines, stderr } = await importing(dataDir, paths[each]!)
      t.equal(code, 0, [...lines, stderr].join('\n'))
    }
    stores.push(await archived(dataDir))
  }
  for (const store of stores) t.strictSame(store, stores[0], 'the same bytes in every order')

  const storage = (await openArchiveToRead(configIn(file('data-5'))))!
  t.teardown(() => storage.close())
  const archive = new ServedArchive()
  archive.set({ archive: (await archiveStanding(storage, null))!.archive, reason: null })
  const elsewhere = await marketApp(t, undefined, { archive, directory: join(t.testdirName, 'elsewhere') })
  for (const path of LISTS) {
    const [live, past] = await Promise.all([app.get(path), elsewhere.get(path)])
    t.ok(live.body.data.length > 0, path)
    t.strictSame(past.body.data.map(unmarked), live.body.data.map(unmarked), path)
    t.ok(
      past.body.data.every(({ source }) => source === 'archive'),
      'all rows are marked'
    )
  }
})
