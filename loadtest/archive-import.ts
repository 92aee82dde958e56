import { mkdtemp, rm, stat } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { FactWriter } from '../src/archive/facts/fact-writer.ts'
import { FoldTally } from '../src/archive/facts/held-back.ts'
import { MintDecimals } from '../src/archive/facts/mint-decimals.ts'
import { packRows } from '../src/archive/facts/row-pack.ts'
import { runFold, settleSettings } from '../src/archive/commands/fold-run.ts'
import { openOwnArchive } from '../src/archive/commands/own-archive.ts'
import { RefusedFile } from '../src/archive/commands/refused-file.ts'
import { readRows } from '../src/archive/commands/row-reading.ts'
import { BUILT_IN_MAPPINGS } from '../src/archive/rows/built-in-mapping.ts'
import { chooseColumns } from '../src/archive/rows/column-choice.ts'
import { readTradeFacts, type ReadFact } from '../src/archive/rows/fact-reading.ts'
import { contentOfPaths } from '../src/archive/rows/path-content.ts'
import { RowCheck } from '../src/archive/rows/row-check.ts'
import { readRowFile } from '../src/archive/rows/row-file.ts'
import { RefusalTally } from '../src/archive/rows/row-refusal.ts'
import { RowTally } from '../src/archive/rows/row-tally.ts'
import { configOf } from '../src/configuration.ts'
import type { Config } from '../src/kernel/config/config.ts'
import { pubkeyMapKey, type Pubkey } from '../src/chain/pubkey.ts'
import {
  archiveConfigOf,
  archiveFactsDirectory,
  openArchiveToRead,
  storeDirectory
} from '../src/store/opening.ts'
import { keysOf } from '../storage/codec/keys.ts'
import { ARCHIVE_ENGINE } from '../storage/embedded/engine-options.ts'
import type { Level } from '../storage/embedded/level.ts'
import { ROW_KINDS } from '../storage/row-kinds.ts'
import { MINTS, TRADES_PER_SLOT, writeTradeRows } from './archive/generated-rows.ts'
import { duckDb } from './archive/duckdb.ts'
import { lastWrites, recordedWrites, replayed, sizeOf, type RecordedBatch } from './archive/engine-writes.ts'
import { diskBytes } from './disk-bytes.ts'
import { reported, writeResult } from './result.ts'

/**
 * Imports a Parquet file of generated trades into an embedded archive: the rates of reading, of storing facts and of folding,
 * and the bytes of a trade. Beside them, the engine's own batch writes of the same rows, of the keys and values that an import
 * writes, and of those that it leaves, and DuckDB (of the Python in `PYTHON`) loading the same file into a table. Nothing is
 * saved with `--profile`, for a run under `--cpu-prof`.
 *
 *     PYTHON=/path/to/python node loadtest/archive-import.ts [ROWS] [--profile]
 */

const rows = Number(process.argv[2] ?? 200_000)
const isProfile = process.argv.includes('--profile')
const SEED = 36
/** Owners whose lists are read. */
const READS = 1_000
/** The rate of an import that is aimed at, as a share of that of the bare engine. */
const BAR = 0.7
/** Rows of a batch of the bare engine, like those of the import. */
const BATCH_ROWS = 1_000

const directory = await mkdtemp(join(tmpdir(), 'millrace-archive-import-'))
try {
  const path = join(directory, 'trades.parquet')
  writeTradeRows(path, rows, SEED)
  const config = configIn(join(directory, 'data'))
  const imported = reported('import', await importFile(config, path))
  const bytes = reported('bytes_per_trade', await bytesOf(config))
  const reads = reported('reads', await readsOf(config, path))
  const bare = isProfile ? null : reported('bare_engine', await bareEngine(path))
  if (bare === null) process.stdout.write(`${JSON.stringify({ imported, bytes, reads }, null, 1)}\n`)
  else
    await writeResult('archive-import', {
      rows,
      mints: MINTS,
      trades_per_slot: TRADES_PER_SLOT,
      parquet_bytes_per_row: (await stat(path)).size / rows,
      import: imported,
      bytes_per_trade: bytes,
      reads,
      bare_engine: bare,
      floor: reported('floor', floorOf(imported, bare)),
      engine_writes: reported('engine_writes', await engineWrites(path)),
      load_average: loadavg(),
      duckdb: duckDb(path, join(directory, 'duck.db'), rows)
    })
} finally {
  await rm(directory, { recursive: true, force: true })
}

function configIn(dataDir: string): Config {
  const reading = configOf({ 'data-dir': dataDir }, {})
  if (reading.kind === 'invalid') throw new Error(reading.problems.join('\n'))
  return reading.config
}

/** Time and processor time of all threads and of this one, and rows a second. */
async function rateOf(work: () => Promise<unknown>) {
  const [startedMs, cpuBefore] = [performance.now(), process.cpuUsage()]
  const threadBefore = process.threadCpuUsage()
  await work()
  const seconds = (performance.now() - startedMs) / 1_000
  const { user, system } = process.cpuUsage(cpuBefore)
  const thread = process.threadCpuUsage(threadBefore)
  const cpuSeconds = (user + system) / 1e6
  return {
    seconds,
    cpu_seconds: cpuSeconds,
    main_thread_cpu_seconds: (thread.user + thread.system) / 1e6,
    rows_per_second: Math.round(rows / seconds),
    rows_per_cpu_second: Math.round(rows / cpuSeconds)
  }
}

interface Rate {
  readonly rows_per_cpu_second: number
}

function chooseOwn(columns: readonly string[]) {
  return chooseColumns(BUILT_IN_MAPPINGS, columns, false).selected
}

/** The processor time a row that the bar leaves to an import, beside that of its first steps alone. */
function floorOf(imported: Awaited<ReturnType<typeof importFile>>, bare: Rate) {
  const microsOf = ({ rows_per_cpu_second }: Rate): number => 1e6 / rows_per_cpu_second
  return {
    bar_cpu_us_per_row: microsOf(bare) / BAR,
    parse_cpu_us_per_row: microsOf(imported.parse),
    parse_and_check_cpu_us_per_row: microsOf(imported.read),
    parse_and_check_of_bare_engine: microsOf(bare) / microsOf(imported.read)
  }
}

async function factsOf(path: string): Promise<ReadFact[]> {
  const content = await contentOfPaths([path])
  const facts: ReadFact[] = []
  for await (const some of readTradeFacts(content.rows, reading())) facts.push(...some)
  return facts
}

function reading() {
  return {
    mappings: BUILT_IN_MAPPINGS,
    hasVenue: false,
    check: new RowCheck({ venue: null, now: Math.floor(Date.now() / 1_000) }),
    tally: new RowTally(new RefusalTally(() => undefined)),
    signal: new AbortController().signal
  }
}

async function importFile(config: Config, path: string) {
  const { signal } = new AbortController()
  const content = await contentOfPaths([path])
  const parsed = await rateOf(async () => {
    for (const file of content.rows)
      for await (const items of readRowFile(file, chooseOwn))
        for (const item of items) if (item.kind === 'broken') throw new Error(item.detail)
  })
  const read = await rateOf(async () => {
    let count = 0
    for await (const some of readTradeFacts(content.rows, reading())) count += some.length
    if (count !== rows) throw new Error(`${rows - count} rows are refused`)
  })
  const archive = await openOwnArchive(config, (line) => process.stderr.write(`${line}\n`), signal)
  try {
    await settleSettings(archive, config)
    const { state, facts } = archive
    await state.change({ reading: { key: 'load', files: 0, rows: 0, isDone: false, refusedBytes: 0 } })
    const refused = new RefusedFile(join(directory, 'refused.ndjson'), 0)
    const stored = await rateOf(() =>
      readRows(content.rows, {
        ...reading(),
        ...{ writer: new FactWriter(facts, state, new MintDecimals(facts), null), state, firstLive: null },
        refused,
        onProgress: () => undefined
      })
    )
    refused.close()
    const tally = new FoldTally()
    const folded = await rateOf(() =>
      runFold(archive, {
        ...{ config, firstLive: null, tally, signal },
        stdout: () => undefined,
        tell: () => undefined
      })
    )
    if (tally.rows !== rows) throw new Error(`${rows - tally.rows} rows are not folded`)
    const seconds = stored.seconds + folded.seconds
    return {
      parse: parsed,
      read,
      read_and_store_facts: stored,
      fold: folded,
      rows_per_second: Math.round(rows / seconds),
      rows_per_cpu_second: Math.round(rows / (stored.cpu_seconds + folded.cpu_seconds)),
      peak_memory_mib: Math.round(process.resourceUsage().maxRSS / 1_024)
    }
  } finally {
    await archive.close()
  }
}

/** Bytes a trade on disk, of all and of each kind of rows, once the engine has merged its tables. */
async function bytesOf(config: Config) {
  const store = storeDirectory(archiveConfigOf(config))
  const facts = archiveFactsDirectory(config)
  const byKind: Record<string, number> = {}
  await withEngine(store, async (level) => {
    await level.compactRange(Buffer.of(0), Buffer.of(255))
    for (const { letter, name } of ROW_KINDS) {
      if (letter === null) continue
      const { gte, lt } = keysOf(letter)
      const bytes = await level.approximateSize(gte, lt)
      if (bytes / rows >= 0.5) byKind[name] = bytes / rows
    }
  })
  await withEngine(facts, (level) => level.compactRange(Buffer.of(0), Buffer.of(255)))
  return { store: diskBytes(store) / rows, facts: diskBytes(facts) / rows, store_by_kind: byKind }
}

/** Processor time of reads that a service makes, each of an owner that was not read before. */
async function readsOf(config: Config, path: string) {
  const facts = (await factsOf(path)).map(({ fact }) => fact)
  const archive = await openArchiveToRead(config)
  if (archive === null) throw new Error('there is no archive')
  const costOf = async (owners: readonly Pubkey[], read: (owner: Pubkey) => Promise<readonly unknown[]>) => {
    const distinct = [...new Map(owners.map((owner) => [pubkeyMapKey(owner), owner])).values()]
    const before = process.cpuUsage()
    let found = 0
    for (const owner of distinct.slice(0, READS)) found += (await read(owner)).length
    const { user, system } = process.cpuUsage(before)
    return { rows_per_read: found / READS, cpu_us_per_row: (user + system) / found }
  }
  const page = { order: 'desc', limit: 100 } as const
  try {
    return {
      trades_of_a_mint: await costOf(
        facts.map(({ out }) => out.mint),
        (mint) => archive.trades.ofMint(mint, page)
      ),
      trades_of_a_wallet: await costOf(
        facts.map(({ trader }) => trader!),
        (wallet) => archive.trades.ofWallet(wallet, page)
      )
    }
  } finally {
    await archive.close()
  }
}

async function withEngine<T>(place: string, work: (level: Level) => Promise<T>): Promise<T> {
  const level: Level = new ClassicLevel(place, ARCHIVE_ENGINE)
  await level.open()
  try {
    return await work(level)
  } finally {
    await level.close()
  }
}

/** Writes the rows of the file, packed one by one, in durable batches. */
async function bareEngine(path: string) {
  const packed = (await factsOf(path)).map(({ fact, line }) => packRows(fact.slot!, [{ fact, line }]))
  const keys = packed.map(({ position, key }) => {
    const bytes = Buffer.alloc(8 + key.length)
    bytes.writeBigUInt64BE(BigInt(position))
    bytes.set(key, 8)
    return bytes
  })
  const place = join(directory, 'bare')
  const rate = await withEngine(place, async (level) => {
    const rate = await rateOf(async () => {
      for (let from = 0; from < packed.length; from += BATCH_ROWS) {
        const batch = level.batch()
        for (let at = from; at < Math.min(from + BATCH_ROWS, packed.length); at++)
          batch.put(keys[at]!, packed[at]!.value)
        await batch.write({ sync: true })
      }
    })
    await level.compactRange(Buffer.of(0), Buffer.of(255))
    return rate
  })
  return { ...rate, bytes_per_row: diskBytes(place) / rows }
}

/**
 * Writes what an import has written to its engines: batch by batch, and each key once with its last value. So the second is
 * the rate of an import that would compute nothing, and write no key twice.
 */
async function engineWrites(path: string) {
  const config = configIn(join(directory, 'recorded'))
  const recorded = await recordedWrites(() => importFile(config, path))
  const rate = async (name: string, batches: readonly (readonly RecordedBatch[])[]) => {
    const sizes = batches.map(sizeOf)
    const total = (field: 'writes' | 'bytes'): number => sizes.reduce((sum, size) => sum + size[field], 0)
    const levels = batches.map(
      (_, at): Level => new ClassicLevel(join(directory, `${name}-${at}`), ARCHIVE_ENGINE)
    )
    for (const level of levels) await level.open()
    const written = await rateOf(async () => {
      for (const [at, each] of batches.entries()) await replayed(levels[at]!, each)
    })
    for (const level of levels) await level.close()
    return { writes_per_row: total('writes') / rows, bytes_per_row: total('bytes') / rows, ...written }
  }
  const all = [...recorded.values()]
  return { as_written: await rate('replayed', all), each_key_once: await rate('once', all.map(lastWrites)) }
}
