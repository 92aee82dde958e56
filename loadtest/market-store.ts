/**
 * Builds the store of a synthetic market through the real fold and the real commit, then settles it like a store that grew
 * block by block. A directory that already holds this market is left unchanged; a half-built one is completed.
 *
 *     node --max-semi-space-size=64 loadtest/market-store.ts DIRECTORY [trades]
 */
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadReadSet, restoreMarket } from '../actors/ingest/market-loader.ts'
import { CashList } from '../src/market/cash.ts'
import type { BlockCommit } from '../src/market/records.ts'
import { encodeLog } from '../src/stream/encode.ts'
import { openEmbeddedStorage } from '../storage/embedded/store.ts'
import type { Storage } from '../storage/port.ts'
import { SyntheticMarket } from './market/blocks.ts'
import { mergeCommits } from './market/merged-commit.ts'
import { marketOf, type MarketSize } from './market/population.ts'
import { settleStore } from './settled-store.ts'

/** Blocks merged into one commit, so that a list's newest page is written once for all of them. */
const BLOCKS_PER_COMMIT = 15
/** Bytes of the store's caches while it is built. */
const HOT_BYTES_MAX = 512 * 2 ** 20

/** Description of a built store, saved beside it as `market.json`. */
export interface MarketStore {
  readonly size: MarketSize
  readonly blocks: number
  readonly headSlot: number
  readonly headTime: number
  readonly bytes: number
  /** Milliseconds of the process that finished the store; earlier, interrupted ones do not count. */
  readonly builtMs: number
}

/** Builds DIRECTORY/store unless it already holds the market. Throws if it holds a market of another size. */
export async function ensureMarketStore(
  directory: string,
  size: MarketSize,
  onProgress: (line: string) => void
): Promise<MarketStore> {
  const path = join(directory, 'store')
  const built = readMarketStore(directory)
  if (built !== null) {
    if (JSON.stringify(built.size) !== JSON.stringify(size))
      throw new Error(`${directory} holds a store of another size: ${JSON.stringify(built.size)}`)
    await settleStore(path)
    return built
  }
  mkdirSync(directory, { recursive: true })
  const started = performance.now()
  const head = await buildStore(path, size, onProgress)
  await settleStore(path)
  const store = {
    size,
    blocks: head.blocks,
    headSlot: head.slot,
    headTime: head.blockTime,
    bytes: directoryBytes(path),
    builtMs: Math.round(performance.now() - started)
  }
  writeFileSync(join(directory, 'market.json'), `${JSON.stringify(store, null, 2)}\n`)
  return store
}

/** Reads the description of a directory's store, or returns null if no complete store exists. */
export function readMarketStore(directory: string): MarketStore | null {
  const path = join(directory, 'market.json')
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as MarketStore) : null
}

export function directoryBytes(directory: string): number {
  return readdirSync(directory).reduce((sum, file) => sum + statSync(join(directory, file)).size, 0)
}

async function buildStore(directory: string, size: MarketSize, onProgress: (line: string) => void) {
  const storage = await openEmbeddedStorage({ directory, hotBytesMax: HOT_BYTES_MAX })
  try {
    return await fillWithMarket(storage, size, BLOCKS_PER_COMMIT, onProgress)
  } finally {
    await storage.close()
  }
}

/** Commits the blocks of a market after the head of a storage. Resolves with the number of blocks and the last one. */
export async function fillWithMarket(
  storage: Storage,
  size: MarketSize,
  blocksPerCommit: number,
  onProgress: (line: string) => void
) {
  const synthetic = new SyntheticMarket(size)
  const options = { cash: new CashList(), startingSolUsd: null }
  const head = await storage.blocks.head()
  // The whole market stays in memory, hundreds of megabytes, so that the fold never reads the store.
  const all = size.mints * 2
  const limits = { pairs: all, launches: all, tokens: all, pools: all, curves: all }
  const market = await restoreMarket(storage, head, limits)
  const last = { blocks: 0, slot: 0, blockTime: 0 }
  const started = performance.now()
  const before = process.cpuUsage()
  let trades = 0
  let commits: BlockCommit[] = []
  const commit = async (): Promise<void> => {
    if (commits.length === 0) return
    await storage.blocks.commit(mergeCommits(commits))
    commits = []
    const seconds = (performance.now() - started) / 1000
    const cpu = process.cpuUsage(before)
    const micros = ((cpu.user + cpu.system) / trades).toFixed(1)
    const mib = Math.round(process.memoryUsage.rss() / 2 ** 20)
    const rate = Math.round(trades / seconds)
    onProgress(
      `block ${last.blocks} of ${synthetic.blockCount}: ${rate} trades a second, ${micros} µs of the processor each; ${mib} MiB`
    )
  }
  for (const block of synthetic.blocks()) {
    last.blocks++
    last.slot = block.slot
    last.blockTime = block.blockTime
    if (head !== null && block.slot <= head.slot) continue
    const prepared = market.prepare(block, options)
    const fold = prepared.fold(await loadReadSet(storage, prepared.readSet))
    trades += fold.slot.trades
    commits.push({ ...fold, log: encodeLog(fold, options.cash) })
    if (commits.length === blocksPerCommit) await commit()
  }
  await commit()
  return last
}

if (import.meta.main) {
  const [directory, trades] = process.argv.slice(2)
  if (directory === undefined) throw new Error('missing argument DIRECTORY: where to build the store')
  const store = await ensureMarketStore(directory, marketOf(Number(trades ?? 10_000_000)), (line) =>
    process.stdout.write(`${line}\n`)
  )
  process.stdout.write(`${JSON.stringify(store, null, 2)}\n`)
}
