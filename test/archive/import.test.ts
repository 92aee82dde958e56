import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { importBlocks } from '../../actors/archive/import.ts'
import { archivedPrice } from '../../actors/ingest/archived-price.ts'
import { indexedSource } from '../../actors/ingest/source.ts'
import { pubkeyFromBase58 } from '../../src/chain/pubkey.ts'
import { WSOL } from '../../src/market/cash.ts'
import type { SlotRow } from '../../src/market/rows.ts'
import { minuteOf } from '../../src/market/sol-usd.ts'
import { systemPorts } from '../../src/ports.ts'
import { readDecodingPeriods } from '../../src/ingest/decoding-periods.ts'
import { ImportTools } from '../../src/archive/import-tools.ts'
import {
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
import {
  configIn,
  deleteDocuments,
  folderOf,
  laterFolder,
  recordedMarket,
  recordsOf
} from './recorded-market.ts'

const market = await recordedMarket(t, 'an archive', 36)
const { slots, directory } = market
const [first, last] = [slots[0]!, slots.at(-1)!]
const index = await scanRecorded(directory)

let folders = 0
/** Returns the path of a new data folder. */
const dataFolder = (): string => join(`${directory}-data`, String(folders++))

const archiveOf = (dataDir: string): string => storeDirectory({ dataDir: join(dataDir, 'archive') })
const archived = (dataDir: string) => recordsOf(archiveOf(dataDir))

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

/** Imports until some blocks are committed, and those in flight. Returns the last slot. */
async function importedUntil(dataDir: string, blocks: number): Promise<number | undefined> {
  const config = configIn(dataDir)
  const storage = await openArchive(config)
  const tools = new ImportTools(config, (text) => text)
  const interrupt = new AbortController()
  let count = 0
  tools.feed.follow(() => void (++count >= blocks && interrupt.abort()))
  await importBlocks(storage, indexedSource(index, systemPorts.clock), tools.deps, interrupt.signal)
  const head = await storage.blocks.head()
  await storage.close()
  return head?.slot
}

t.test('an import stores the rows of a recorded source, and a repeated one changes nothing', async (t) => {
  const dataDir = dataFolder()
  const { code, lines, stderr } = await importing(dataDir)
  t.match(
    [code, stderr],
    [0, new RegExp(`^slot ${last}, 100 %: ${slots.length} blocks, \\d+ trades, .* blocks/s$`, 'm')]
  )
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

t.test('an import that is interrupted at some blocks and continued stores the same rows', async (t) => {
  const dataDir = dataFolder()
  let rounds = 1
  while ((await importedUntil(dataDir, rounds)) !== last) rounds++
  t.ok(rounds > 2, `${rounds} rounds`)
  t.same(await archived(dataDir), whole)
})

t.test('an interrupted command says how to continue', async (t) => {
  const interrupt = new AbortController()
  interrupt.abort()
  const { code, lines, stderr } = await importing(dataFolder(), directory, interrupt.signal)
  t.same([code, lines, stderr], [1, [], 'millrace: interrupted; rerun the command to continue'])
})

t.test('an import that is killed and continued stores the same rows', async (t) => {
  const dataDir = dataFolder()
  const child = spawn(process.execPath, [
    join(import.meta.dirname, 'import-child.ts'),
    dataDir,
    directory,
    '20'
  ])
  t.same(await once(child, 'exit'), [null, 'SIGKILL'])
  t.notSame(await archived(dataDir), whole)
  t.equal((await importing(dataDir)).code, 0)
  t.same(await archived(dataDir), whole)
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

t.test('blocks before the end of the archive cannot be added, and the command says what to do', async (t) => {
  const dataDir = dataFolder()
  const half = folderOf(market, [...slots.slice(5, 15), ...slots.slice(18, 20)], 'second half')
  t.equal((await importing(dataDir, half)).code, 0)
  const { code, lines, stderr } = await importing(dataDir)
  t.equal(code, 1)
  t.match(lines[0], new RegExp(`^${slots.length - 20} blocks with .*; 12 blocks were there before`))
  t.match(
    stderr,
    `8 blocks cannot be added, because the archive already ends at slot ${slots[19]}, and blocks are added in ascending order only: slots ${first} to ${slots[17]}; to have them, remove ${archiveOf(dataDir)} and reimport all folders, the earliest first`
  )
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
  t.match(lines.slice(0, 2), [/^5 blocks with/, 'left out of the folder: 1 not-json, 1 other-file'])
})

t.test('a folder without blocks is refused, and without an archive the status says so', async (t) => {
  const dataDir = dataFolder()
  t.match(await importing(dataDir, t.testdir()), { code: 1, stderr: /has no block or transaction/ })
  t.match(await importing(dataDir, join(t.testdirName, 'none')), {
    code: 1,
    stderr: /cannot be opened as a folder/
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
    t.match(lines.join('\n'), /^[1-9]\d* trades of venues that the archive lacked are added$/m)
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

t.test(
  'a folder without all blocks of an archive adds no venues: the import says so, with exit 1',
  async (t) => {
    const dataDir = dataFolder()
    await imported(dataDir, directory, 'raydium-cpmm')
    const before = await archived(dataDir)
    const part = folderOf(market, slots.slice(0, 30), 'a part of the archive')
    const { code, stderr } = await importing(dataDir, part)
    t.equal(code, 1)
    t.match(stderr, new RegExp(`30 blocks were imported without .*pumpswap.*slots ${first} to ${slots[29]}`))
    t.match(stderr, `remove ${archiveOf(dataDir)} and reimport all folders`)
    t.same(await archived(dataDir), before)
  }
)

t.test('a replacement of the archive that was killed is taken back by the next import', async (t) => {
  const dataDir = dataFolder()
  await imported(dataDir, directory, 'raydium-cpmm')
  renameSync(archiveOf(dataDir), `${archiveOf(dataDir)}.replaced`)
  const { code, lines } = await importing(dataDir)
  t.equal(code, 0)
  t.match(lines.join('\n'), /trades of venues that the archive lacked are added/)
  t.same(await archived(dataDir), whole)
})

t.test(
  'the venues of blocks from before they were recorded are unknown, and an import fills them in',
  async (t) => {
    const dataDir = dataFolder()
    await importing(dataDir)
    await deleteDocuments(archiveOf(dataDir))
    const verified = await runCommand(['verify', '--data-dir', join(dataDir, 'archive')], {})
    t.same([verified.code, verified.lines], [0, []], 'their rows may be whole')
    t.match(verified.stderr, /are of a version that did not record venues and decoder/)
    const few = ['archive', 'import', directory, '--data-dir', dataDir, '--venues', 'pumpswap']
    const refused = await runCommand(few, {})
    t.equal(refused.code, 1)
    t.match(
      refused.stderr,
      `${slots.length} blocks were imported by a version that did not record their venues`
    )
    const { code, lines } = await importing(dataDir)
    t.equal(code, 0)
    t.match(lines.join('\n'), /^0 trades of venues that the archive lacked are added$/m)
    t.same(await archived(dataDir), whole)
  }
)

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
