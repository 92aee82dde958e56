/**
 * Imports a Parquet file of generated trades into the archive of a CQL server with one node: the rates of storing facts and of
 * folding, the processor time of both processes, and the bytes of a trade on disk.
 *
 *     node loadtest/archive-cluster.ts [ROWS] [COMPRESSOR:CHUNK_KB]
 *
 * With a compressor, such as ZstdCompressor:64, the tables of the archive are compressed by it, and nothing is saved.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runFold, settleSettings } from '../src/archive/commands/fold-run.ts'
import { openOwnArchive } from '../src/archive/commands/own-archive.ts'
import { RefusedFile } from '../src/archive/commands/refused-file.ts'
import { readRows } from '../src/archive/commands/row-reading.ts'
import { FactWriter } from '../src/archive/facts/fact-writer.ts'
import { FoldTally } from '../src/archive/facts/held-back.ts'
import { MintDecimals } from '../src/archive/facts/mint-decimals.ts'
import { BUILT_IN_MAPPINGS } from '../src/archive/rows/built-in-mapping.ts'
import { contentOfPaths } from '../src/archive/rows/path-content.ts'
import { RowCheck } from '../src/archive/rows/row-check.ts'
import { RefusalTally } from '../src/archive/rows/row-refusal.ts'
import { RowTally } from '../src/archive/rows/row-tally.ts'
import { configOf } from '../src/configuration.ts'
import type { Config } from '../src/kernel/config/config.ts'
import { CqlCluster } from '../test/servers/cql-cluster.ts'
import { clusterEnvironment } from '../test/service/cluster.ts'
import { MINTS, TRADES_PER_SLOT, writeTradeRows } from './archive/generated-rows.ts'
import { alterTables, mebibytesByTable } from './archive/keyspace-tables.ts'
import { figuresOf } from './measured-process.ts'
import { reported, writeResult } from './result.ts'

const rows = Number(process.argv[2] ?? 50_000)
const [compressor, chunkKb] = process.argv[3]?.split(':') ?? []
const SEED = 36
const KEYSPACE = 'load'
/** Time, and processor time of this process and of the server. */
async function costOf(pid: number, work: () => Promise<unknown>) {
  const server = figuresOf(pid)
  const [startedMs, own, serverMs] = [performance.now(), process.cpuUsage(), server.cpuMs()]
  await work()
  const { user, system } = process.cpuUsage(own)
  const cpuSeconds = (user + system) / 1e6
  return {
    seconds: (performance.now() - startedMs) / 1_000,
    cpu_seconds: cpuSeconds,
    server_cpu_seconds: (server.cpuMs() - serverMs) / 1_000,
    rows_per_cpu_second: Math.round(rows / cpuSeconds)
  }
}

async function importFile(config: Config, path: string, pid: number) {
  const { signal } = new AbortController()
  const content = await contentOfPaths([path])
  const archive = await openOwnArchive(config, (line) => process.stderr.write(`${line}\n`), signal)
  try {
    if (compressor !== undefined)
      await alterTables(
        cluster,
        `${KEYSPACE}_archive`,
        `compression = {'class': '${compressor}', 'chunk_length_in_kb': ${chunkKb}}`
      )
    await settleSettings(archive, config)
    const { state, facts } = archive
    await state.change({ reading: { key: 'load', files: 0, rows: 0, isDone: false, refusedBytes: 0 } })
    const refused = new RefusedFile(join(directory, 'refused.ndjson'), 0)
    const stored = await costOf(pid, () =>
      readRows(content.rows, {
        mappings: BUILT_IN_MAPPINGS,
        hasVenue: false,
        check: new RowCheck({ venue: null, now: Math.floor(Date.now() / 1_000) }),
        tally: new RowTally(new RefusalTally(() => undefined)),
        ...{ writer: new FactWriter(facts, state, new MintDecimals(facts), null), state, firstLive: null },
        ...{ refused, signal },
        onProgress: () => undefined
      })
    )
    refused.close()
    const tally = new FoldTally()
    const folded = await costOf(pid, async () => {
      await runFold(archive, {
        ...{ config, firstLive: null, tally, signal },
        stdout: () => undefined,
        tell: () => undefined
      })
      // The rest is flushed to the tables as the store closes.
      await archive.closeStorage()
    })
    if (tally.rows !== rows) throw new Error(`${rows - tally.rows} rows are not folded`)
    return { read_and_store_facts: stored, fold: folded }
  } finally {
    await archive.close()
  }
}

/** Prints figures without replacing the saved result. */
async function printed(_name: string, figures: object): Promise<void> {
  process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`)
}

const directory = await mkdtemp(join(tmpdir(), 'millrace-archive-cluster-'))
const cluster = await CqlCluster.start({ disposable: true })
try {
  const path = join(directory, 'trades.parquet')
  writeTradeRows(path, rows, SEED)
  const environment = {
    ...clusterEnvironment(cluster, KEYSPACE, null),
    MILLRACE_DATA_DIR: join(directory, 'data')
  }
  const reading = configOf({}, environment)
  if (reading.kind === 'invalid') throw new Error(reading.problems.join('\n'))
  const imported = reported('import', await importFile(reading.config, path, cluster.nodes[0]!.pid!))
  const mebibytes = await mebibytesByTable(cluster, `${KEYSPACE}_archive`)
  const total = Object.values(mebibytes).reduce((sum, each) => sum + each, 0)
  const save = compressor === undefined ? writeResult : printed
  await save('archive-cluster', {
    rows,
    mints: MINTS,
    trades_per_slot: TRADES_PER_SLOT,
    import: imported,
    mebibytes_by_table: mebibytes,
    bytes_per_trade: (total * 2 ** 20) / rows,
    // Its deleted rows stay until a compaction after the time that a node may be away.
    bytes_per_trade_without_journal: ((total - (mebibytes['journal'] ?? 0)) * 2 ** 20) / rows
  })
} finally {
  await cluster.end()
  await rm(directory, { recursive: true, force: true })
}
