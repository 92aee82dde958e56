import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { archivedPrice } from '../../actors/ingest/archived-price.ts'
import { VENUE_IDS } from '../../src/chain/venue-id.ts'
import { pubkeyFromBase58 } from '../../src/chain/pubkey.ts'
import { WSOL } from '../../src/market/cash.ts'
import type { SlotRow } from '../../src/market/rows.ts'
import { minuteOf } from '../../src/market/sol-usd.ts'
import { readDecodingPeriods } from '../../src/ingest/decoding-periods.ts'
import {
  archiveFactsDirectory,
  archiveStampFile,
  openArchive,
  openArchiveToRead,
  openStore,
  storeDirectory
} from '../../src/store/opening.ts'
import { readRecorded } from '../../src/recorded/read.ts'
import { scanRecorded } from '../../src/recorded/scan.ts'
import type { Storage } from '../../storage/port.ts'
import { loneIngester } from '../actors/ingest/lone-ingester.ts'
import { runCommand, type Said } from '../cli/run-command.ts'
import { filesOf, settle, zero } from '../storage/damaged-store.ts'
import { configIn, folderOf, laterFolder, recordedMarket, recordsOf } from './recorded-market.ts'

const market = await recordedMarket(t, 'an archive', 36)
const { slots, directory } = market
const [first, last] = [slots[0]!, slots.at(-1)!]
const index = await scanRecorded(directory)

let folders = 0
/** Returns the path of a new data folder. */
const dataFolder = (): string => join(`${directory}-data`, String(folders++))

const archiveOf = (dataDir: string): string => storeDirectory({ dataDir: join(dataDir, 'archive') })
/** The records of an archive, without the stream's log, which only a recorded source writes. */
const archived = async (dataDir: string): Promise<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(await recordsOf(archiveOf(dataDir))).filter(([key]) => !key.startsWith(LOG))
  )
/** First byte of the keys of the log, in hexadecimal digits. */
const LOG = Buffer.from('j').toString('hex')

function importing(dataDir: string, folder = directory, interrupted?: AbortSignal): Promise<Said> {
  return runCommand(['archive', 'import', folder, '--data-dir', dataDir], {}, interrupted)
}

/** Folds blocks of the folder into a store, as a recorded source does. */
async function fill(
  storage: Storage,
  from = 0,
  more: Parameters<typeof loneIngester>[6] = {}
): Promise<void> {
  const ingester = await loneIngester(storage, undefined, undefined, undefined, undefined, undefined, more)
  for await (const block of readRecorded(index, { fromSlot: from }))
    await ingester.ingest({ block, commitment: 'finalized', receivedAtMs: block.blockTime * 1000 })
  await storage.close()
}

const wholeDir = dataFolder()
await fill(await openArchive(configIn(wholeDir)))
const whole = await archived(wholeDir)

t.test('an import stores the rows of a recorded source, and a repeated one changes nothing', async (t) => {
  const dataDir = dataFolder()
  const { code, lines, stderr } = await importing(dataDir)
  t.equal(code, 0, stderr)
  t.match(lines, [
    new RegExp(`^${slots.length} blocks with [1-9]\\d* trades are imported; 0 blocks were there before$`),
    new RegExp(`^the archive has slots ${first} to ${last}, .* UTC$`)
  ])
  t.same(await archived(dataDir), whole)
  const stamp = archiveStampFile({ dataDir })
  t.same(JSON.parse(readFileSync(stamp, 'utf8')), { first, last })
  const { mtimeMs } = statSync(stamp)

  const again = await importing(dataDir)
  t.match(again, {
    code: 0,
    lines: [`0 blocks with 0 trades are imported; ${slots.length} blocks were there before`]
  })
  t.same(await archived(dataDir), whole)
  t.equal(statSync(stamp).mtimeMs, mtimeMs, 'a service need not open the archive again')
})

t.test('an interrupted command says how to continue', async (t) => {
  const interrupt = new AbortController()
  interrupt.abort()
  const { code, lines, stderr } = await importing(dataFolder(), directory, interrupt.signal)
  t.same([code, lines, stderr], [1, [], 'millrace: interrupted; rerun the command to continue'])
})

t.test('blocks at or after the first indexed slot are left out, also beside a running service', async (t) => {
  const dataDir = dataFolder()
  const config = configIn(dataDir)
  const boundary = slots[20]!
  await fill(await openStore(config), boundary)
  const live = await openStore(config)
  const { code, lines } = await importing(dataDir)
  await live.close()
  t.equal(code, 0)
  t.match(lines, [
    /^20 blocks with/,
    `${slots.length - 20} blocks are left out, because the index has these slots or will have them: slots ${boundary} to ${last}`,
    new RegExp(`^the archive has slots ${first} to ${slots[19]!}, `)
  ])
  t.match(await statusOf(t, dataDir), {
    last: { slot: slots[19] },
    live_start: { slot: boundary },
    served: true
  })
})

t.test('folders in any order, and with any overlap, store the same rows', async (t) => {
  const dataDir = dataFolder()
  const half = folderOf(market, [...slots.slice(5, 15), ...slots.slice(18, 30)], 'the middle')
  const end = folderOf(market, slots.slice(25), 'the end')
  t.equal((await importing(dataDir, half)).code, 0)
  t.match((await importing(dataDir, end)).lines.join('\n'), /^3 blocks with .*; 5 blocks were there before$/m)
  const { code, lines } = await importing(dataDir)
  t.equal(code, 0)
  t.match(lines[0], /^8 blocks with .*; 25 blocks were there before$/)
  t.match(lines[1], 'the whole archive was folded again')
  t.same(await archived(dataDir), whole)
})

t.test('a folder of another chain is refused', async (t) => {
  const other = laterFolder(market, slots.slice(0, 20))
  const dataDir = dataFolder()
  await importing(dataDir, folderOf(market, slots.slice(0, 15), 'beginning'))
  const before = await archived(dataDir)
  t.match(await importing(dataDir, other), {
    code: 1,
    lines: [],
    stderr:
      /^millrace: the folder is of another chain than the archive: its block of slot .*; use another MILLRACE_DATA_DIR or/
  })
  t.same(await archived(dataDir), before)

  const beside = dataFolder()
  await fill(await openStore(configIn(beside)), slots[10])
  t.match(await importing(beside, other), { code: 1, stderr: /another chain than the index/ })
})

t.test('two imports at once: the second is refused in one line', async (t) => {
  const dataDir = dataFolder()
  const storage = await openArchive(configIn(dataDir))
  t.same(await importing(dataDir).then(({ code, stderr }) => [code, stderr]), [
    1,
    `millrace: another import into ${join(dataDir, 'archive')} is running; wait until it ends`
  ])
  await storage.close()
})

t.test(
  'a damaged archive takes no blocks until it is repaired, and an import recovers the lost rows',
  async (t) => {
    const dataDir = dataFolder()
    await importing(dataDir, folderOf(market, slots.slice(0, 25), 'before the damage'))
    const store = archiveOf(dataDir)
    await settle(store)
    const [file] = filesOf(store, /ldb$/)
    const path = join(store, file!)
    zero(path, Math.floor(statSync(path).size / 2))
    t.match(await importing(dataDir), {
      code: 1,
      lines: [],
      stderr: /^millrace: the archive is damaged: .*repair/
    })
    const repaired = await runCommand(['repair', '--data-dir', join(dataDir, 'archive')])
    t.match(repaired.lines.join('\n'), /^damaged: [^]*lost: some/)
    t.match(await importing(dataDir), { code: 0, lines: [/25 blocks were there before/] })
    const verified = await runCommand([
      'verify',
      `${first}..${last}`,
      '--data-dir',
      join(dataDir, 'archive'),
      '--recorded-dir',
      directory
    ])
    t.same([verified.code, verified.lines], [0, []], verified.stderr)
  }
)

t.test('a broken file is named, and ends the command with 1 after the others are imported', async (t) => {
  const folder = folderOf(market, slots.slice(0, 5), 'broken')
  writeFileSync(join(folder, '7777.json'), '{"slot": 77')
  writeFileSync(join(folder, 'notes.txt'), 'not a block')
  const { code, lines, stderr } = await importing(dataFolder(), folder)
  t.equal(code, 1)
  t.match(stderr, /^millrace: 7777\.json is left out \(not-json\): /m)
  t.match(lines.slice(0, 2), [/^5 blocks with/, 'left out of the folders: 1 not-json, 1 other-file'])
})

t.test('of two chains in one folder the longer one is imported, and each other block is named', async (t) => {
  const own = slots.slice(0, 5)
  const folder = folderOf(market, own, 'two-chains')
  const block = { blockTime: 1, parentSlot: own[2], blockhash: 'A', previousBlockhash: 'B', transactions: [] }
  writeFileSync(join(folder, 'foreign.json'), JSON.stringify({ slot: slots[5], block }))
  const dataDir = dataFolder()
  const { code, lines, stderr } = await importing(dataDir, folder)
  t.equal(code, 1)
  t.match(stderr, /^millrace: foreign\.json is left out \(other-chain\): /m)
  t.match(lines.slice(0, 2), [/^5 blocks with/, 'left out of the folders: 1 other-chain'])
  const alone = dataFolder()
  await importing(alone, folderOf(market, own, 'one-chain'))
  t.same(await archived(dataDir), await archived(alone))
})

t.test('a folder without blocks is refused, and without an archive the status says so', async (t) => {
  const dataDir = dataFolder()
  t.match(await importing(dataDir, t.testdir()), {
    code: 1,
    stderr: /has no block, transaction or trade row/
  })
  t.match(await importing(dataDir, join(t.testdirName, 'none')), {
    code: 1,
    stderr: /none cannot be read \(ENOENT/
  })
  t.match(await statusOf(t, dataDir), { first: null, served: false, reason: 'nothing is imported' })
})

async function statusOf(t: Test, dataDir: string): Promise<Record<string, unknown>> {
  const { code, rows } = await runCommand(['archive', 'status', '--json', '--data-dir', dataDir])
  t.equal(code, 0)
  return rows()[0]!
}

/** Imports the blocks of a folder with some venues. */
async function imported(dataDir: string, folder: string, ...venues: readonly string[]): Promise<void> {
  const options = ['--data-dir', dataDir, '--venues', venues.join()]
  const { code, stderr } = await runCommand(['archive', 'import', folder, ...options], {})
  if (code !== 0) throw new Error(stderr)
}

t.test(
  'an import of the same folder adds the venues that the archive lacks, and says how much',
  async (t) => {
    const dataDir = dataFolder()
    await imported(dataDir, directory, 'raydium-cpmm')
    t.notSame(await archived(dataDir), whole)
    const { mtimeMs } = statSync(archiveStampFile({ dataDir }))
    const verified = await runCommand(['verify', '--data-dir', join(dataDir, 'archive')], {})
    t.equal(verified.code, 1)
    t.match(
      verified.lines[0],
      /"kind":"venues","of":\{"from_slot":\d+,"to_slot":\d+,"lacking":\[.*"pumpswap"/
    )
    const { code, lines, stderr } = await importing(dataDir)
    t.equal(code, 0, stderr)
    t.match(lines.join('\n'), 'the whole archive was folded again')
    t.same(await archived(dataDir), whole)
    t.not(statSync(archiveStampFile({ dataDir })).mtimeMs, mtimeMs, 'a service opens the archive again')
    const again = await importing(dataDir)
    t.equal(again.code, 0)
    t.match(again.lines[0], `0 blocks with 0 trades are imported; ${slots.length} blocks were there before`)
  }
)

t.test('a filling keeps the venues that were decoded before', async (t) => {
  const dataDir = dataFolder()
  await imported(dataDir, directory, 'pumpswap', 'raydium-cpmm')
  await imported(dataDir, directory, 'pumpswap', 'orca-whirlpool')
  const archive = await openArchive(configIn(dataDir))
  t.teardown(() => archive.close())
  const [period] = await readDecodingPeriods(archive)
  t.same(period!.venues, ['raydium-cpmm', 'pumpswap', 'orca-whirlpool'])
})

t.test('an import of any blocks adds venues to all blocks, without their folder', async (t) => {
  const dataDir = dataFolder()
  await imported(dataDir, directory, 'raydium-cpmm')
  const part = folderOf(market, slots.slice(0, 3), 'a part of the archive')
  const { code, stderr } = await importing(dataDir, part)
  t.equal(code, 0, stderr)
  t.same(await archived(dataDir), whole)
})

t.test('a replacement of the archive that was killed is taken back by the next import', async (t) => {
  const dataDir = dataFolder()
  await imported(dataDir, directory, 'raydium-cpmm')
  renameSync(archiveOf(dataDir), `${archiveOf(dataDir)}.replaced`)
  t.equal((await importing(dataDir)).code, 0)
  t.same(await archived(dataDir), whole)
})

/** Makes an archive as an earlier version left it: a store without facts. */
async function earlierArchive(dataDir: string, folder: string, ...venues: string[]): Promise<void> {
  await imported(dataDir, folder, ...venues)
  rmSync(archiveFactsDirectory(configIn(dataDir)), { recursive: true })
}

t.test(
  'an archive of an earlier version takes earlier blocks and files, and more venues by a folder',
  async (t) => {
    const dataDir = dataFolder()
    const half = folderOf(market, slots.slice(10, 30), 'of an earlier version')
    await earlierArchive(dataDir, half, ...VENUE_IDS)
    const { code, lines, stderr } = await importing(dataDir)
    t.equal(code, 0, stderr)
    t.match(stderr, 'the archive is of an earlier version: its blocks are read once')
    t.match(lines[0], new RegExp(`^${slots.length} blocks with .*; 0 blocks were there before$`))
    t.same(await archived(dataDir), whole)

    const few = dataFolder()
    await earlierArchive(few, directory, 'raydium-cpmm')
    t.equal((await importing(few)).code, 0)
    t.same(await archived(few), whole, 'its blocks lack the events of other venues, so they are read again')
  }
)

t.test('blocks of an archive of an earlier version give the same rows from its rows alone', async (t) => {
  const dataDir = dataFolder()
  await earlierArchive(dataDir, folderOf(market, slots.slice(4), 'the rest of them'), ...VENUE_IDS)
  const first = folderOf(market, slots.slice(0, 4), 'the first four')
  const { code, lines } = await importing(dataDir, first)
  t.equal(code, 0)
  t.match(lines[1], 'the whole archive was folded again')
  t.same(await archived(dataDir), whole)
})

t.test('a live store that begins after an archive takes over its SOL price', async (t) => {
  const dataDir = dataFolder()
  const config = configIn(dataDir)
  const earlier = folderOf(market, slots.slice(0, 20), 'before the index')
  t.equal((await importing(dataDir, earlier)).code, 0)
  const valuesSince = async (storage: Storage) => {
    const rows = await storage.trades.ofMint(pubkeyFromBase58(WSOL), { order: 'asc', limit: 1_000 })
    return rows
      .filter(({ slot }) => slot >= slots[20]!)
      .map(({ slot, cursor, cashUsd }) => [slot, cursor, cashUsd])
  }
  const inOne = await openArchive(configIn(wholeDir))
  const expected = await valuesSince(inOne)
  await inOne.close()
  const solUsdBefore = archivedPrice(() => openArchiveToRead(config), pino({ level: 'silent' }))
  const live = await openStore(config)
  await fill(live, slots[20], { solUsdBefore })
  const reopened = await openStore(config)
  t.teardown(() => reopened.close())
  t.strictSame(await valuesSince(reopened), expected)
  const [{ blockTime }] = (await reopened.blocks.between(slots[20]!, slots[20]!)) as [SlotRow]
  t.match(await reopened.solPrices.atOrBefore(blockTime), { minute: minuteOf(blockTime) }, 'for a restart')
})
