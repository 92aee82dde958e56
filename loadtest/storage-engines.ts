/**
 * Measures candidates for the embedded store on the store's own access pattern: a durable batch a block, the newest
 * rows of a mint, candles of a pair, one pair row. Each engine is a plain ordered map of bytes here, and the values
 * have the sizes of the real ones. There are two layouts: one value a row, and packed (pages of rows, the open
 * candles of a pair in one value).
 *
 *   node loadtest/storage-engines.ts [--blocks 1000] [--trades 300] [--only classic-level,node:sqlite,lmdb]
 *
 * An engine whose package is not installed is skipped; LMDB_MODULE may name the file to import it from.
 */
import {
  closeSync,
  fdatasyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'
import { randomBytes } from 'node:crypto'
import { ClassicLevel } from 'classic-level'

interface Engine {
  readonly name: string
  /** Writes a batch and resolves when it is on disk. */
  batch(puts: readonly Put[]): Promise<void>
  get(key: Buffer): Promise<Uint8Array | undefined>
  /** Reads the last `limit` values at or after `from` and below `to`, newest first. Returns their number. */
  newest(from: Buffer, to: Buffer, limit: number): Promise<number>
  close(): Promise<void>
}

type Put = readonly [key: Buffer, value: Buffer]
type Layout = 'rows' | 'packed'

const { values: options } = parseArgs({
  options: {
    blocks: { type: 'string', default: '1000' },
    trades: { type: 'string', default: '300' },
    only: { type: 'string', default: 'append,classic-level,node:sqlite,lmdb' }
  }
})
const BLOCKS = Number(options.blocks)
const TRADES = Number(options.trades)
const MINTS = 50_000
/** Bytes of a single row, of a row in a page that shares its keys, of a candle, of a pair row. */
const ROW_BYTES = 230
const PACKED_ROW_BYTES = 140
const CANDLE_BYTES = 90
const PAIR_BYTES = 350
const PAGE_ROWS = 32
const CANDLE_PAGE = 64
const INTERVALS = 8
const BLOCKS_A_MINUTE = 150

const noise = randomBytes(1 << 20)
const mintKeys = Array.from({ length: MINTS }, () => randomBytes(32))

function bytes(length: number): Buffer {
  const start = Math.floor(Math.random() * (noise.length - length))
  return noise.subarray(start, start + length)
}

function key(kind: string, mint: number, tail: number, sub = 0): Buffer {
  const out = Buffer.alloc(42)
  out.write(kind, 0, 'latin1')
  mintKeys[mint]!.copy(out, 1)
  out[33] = sub
  out.writeDoubleBE(tail, 34)
  return out
}

/** Draws mints by a Zipf distribution of exponent 0.9, identical in every run. */
function mintsOfBlocks(): () => number {
  const sums = new Float64Array(MINTS)
  let sum = 0
  for (let i = 0; i < MINTS; i++) sums[i] = sum += 1 / (i + 1) ** 0.9
  let state = 12345
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    const target = (state / 2 ** 32) * sum
    let low = 0
    let high = MINTS - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if (sums[middle]! < target) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Builds the puts of each block in a layout, and counts the rows of each mint. */
class Workload {
  readonly rowsOf = new Uint32Array(MINTS)
  readonly #layout: Layout
  readonly #draw = mintsOfBlocks()
  readonly #minuteOf = new Int32Array(MINTS).fill(-1)

  constructor(layout: Layout) {
    this.#layout = layout
  }

  block(slot: number): Put[] {
    const touched = new Map<number, number>()
    for (let i = 0; i < TRADES; i++) {
      const mint = this.#draw()
      touched.set(mint, (touched.get(mint) ?? 0) + 1)
    }
    const puts: Put[] = [[key('b', 0, slot), bytes(40)]]
    for (const [mint, rows] of touched) {
      this.#trades(puts, mint, rows)
      this.#candles(puts, mint, Math.floor(slot / BLOCKS_A_MINUTE))
      puts.push([key('p', mint, 0), bytes(PAIR_BYTES)])
    }
    return puts
  }

  #trades(puts: Put[], mint: number, rows: number): void {
    for (let i = 0; i < rows; i++) {
      const n = this.rowsOf[mint]!++
      if (this.#layout === 'rows') puts.push([key('t', mint, n), bytes(ROW_BYTES)])
      else if (n % PAGE_ROWS === 0 && n > 0)
        puts.push([key('t', mint, n - PAGE_ROWS), bytes(PAGE_ROWS * PACKED_ROW_BYTES)])
    }
    if (this.#layout === 'packed')
      puts.push([
        key('t', mint, Infinity),
        bytes((((this.rowsOf[mint]! - 1) % PAGE_ROWS) + 1) * PACKED_ROW_BYTES)
      ])
  }

  #candles(puts: Put[], mint: number, minute: number): void {
    if (this.#layout === 'rows') {
      for (let i = 0; i < INTERVALS; i++)
        puts.push([key('c', mint, Math.floor(minute / 4 ** i), i), bytes(CANDLE_BYTES)])
      return
    }
    const before = this.#minuteOf[mint]!
    if (before !== minute && before >= 0) {
      const page = Math.floor(before / CANDLE_PAGE)
      puts.push([key('c', mint, page), bytes(((before % CANDLE_PAGE) + 1) * CANDLE_BYTES)])
    }
    this.#minuteOf[mint] = minute
    puts.push([key('o', mint, 0), bytes(INTERVALS * CANDLE_BYTES)])
  }
}

async function classicLevel(directory: string): Promise<Engine> {
  const db = new ClassicLevel<Buffer, Buffer>(directory, {
    keyEncoding: 'buffer',
    valueEncoding: 'buffer',
    writeBufferSize: 16 << 20,
    cacheSize: 32 << 20
  })
  await db.open()
  return {
    name: 'classic-level',
    batch: (puts) =>
      db.batch(
        puts.map(([key, value]) => ({ type: 'put' as const, key, value })),
        { sync: true }
      ),
    get: (key) => db.get(key),
    async newest(from, to, limit) {
      const found = await db.values({ gte: from, lt: to, reverse: true, limit }).all()
      return found.length
    },
    close: () => db.close()
  }
}

function sqlite(directory: string): Promise<Engine> {
  const db = new DatabaseSync(join(directory, 'store.db'))
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -32768')
  db.exec('CREATE TABLE kv (k BLOB PRIMARY KEY, v BLOB) WITHOUT ROWID')
  const put = db.prepare('INSERT OR REPLACE INTO kv VALUES (?, ?)')
  const get = db.prepare('SELECT v FROM kv WHERE k = ?')
  const range = db.prepare('SELECT v FROM kv WHERE k >= ? AND k < ? ORDER BY k DESC LIMIT ?')
  return Promise.resolve({
    name: 'node:sqlite',
    async batch(puts) {
      db.exec('BEGIN')
      for (const [key, value] of puts) put.run(key, value)
      db.exec('COMMIT')
    },
    get: async (key) => get.get(key)?.['v'] as Uint8Array | undefined,
    newest: async (from, to, limit) => range.all(from, to, limit).length,
    close: async () => db.close()
  })
}

/** The part of lmdb's interface that is used here. */
interface Lmdb {
  putSync(key: Buffer, value: Buffer): void
  transactionSync(run: () => void): void
  getBinary(key: Buffer): Buffer | undefined
  getRange(range: object): Iterable<{ value: Buffer }>
  close(): Promise<void>
}

async function lmdb(directory: string): Promise<Engine> {
  const module = (await import(process.env['LMDB_MODULE'] ?? 'lmdb')) as {
    open: (options: object) => Lmdb
  }
  const db = module.open({
    path: directory,
    encoding: 'binary',
    keyEncoding: 'binary',
    overlappingSync: false
  })
  return {
    name: 'lmdb',
    async batch(puts) {
      db.transactionSync(() => {
        for (const [key, value] of puts) db.putSync(key, value)
      })
    },
    get: async (key) => db.getBinary(key),
    async newest(from, to, limit) {
      let count = 0
      for (const { value } of db.getRange({ start: to, end: from, reverse: true, limit }))
        count += Math.sign(value.length)
      return count
    },
    close: () => db.close()
  }
}

/** The lower bound for any engine: appends the block's bytes to a file and syncs it. */
function append(directory: string): Promise<Engine> {
  const file = openSync(join(directory, 'log'), 'a')
  return Promise.resolve({
    name: 'append',
    async batch(puts) {
      writeSync(file, Buffer.concat(puts.flat()))
      fdatasyncSync(file)
    },
    get: async () => undefined,
    newest: async () => 0,
    close: async () => closeSync(file)
  })
}

const ENGINES = { append, 'classic-level': classicLevel, 'node:sqlite': sqlite, lmdb }

async function timed(times: number, run: (i: number) => Promise<unknown>): Promise<number> {
  const took: number[] = []
  for (let i = 0; i < times; i++) {
    const start = performance.now()
    await run(i)
    took.push(performance.now() - start)
  }
  took.sort((a, b) => a - b)
  return Math.round(took[Math.floor(times / 2)]! * 1000)
}

function directoryMegabytes(directory: string): number {
  return readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0) / 2 ** 20
}

async function measure(open: (directory: string) => Promise<Engine>, layout: Layout): Promise<object> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-engines-'))
  const engine = await open(directory)
  const workload = new Workload(layout)
  const blocks: number[] = []
  const cpu = process.cpuUsage()
  const start = performance.now()
  for (let slot = 0; slot < BLOCKS; slot++) {
    const puts = workload.block(slot)
    const before = performance.now()
    await engine.batch(puts)
    blocks.push(performance.now() - before)
  }
  const seconds = (performance.now() - start) / 1000
  const { user, system } = process.cpuUsage(cpu)
  blocks.sort((a, b) => a - b)

  // A hot mint has many rows; a quiet one has about ten.
  const quiet: number[] = []
  for (let mint = MINTS - 1; quiet.length < 500; mint--)
    if (workload.rowsOf[mint]! >= Math.min(8, BLOCKS / 200)) quiet.push(mint)
  const rows = (mint: number, count: number): Promise<number> =>
    engine.newest(
      key('t', mint, 0),
      key('u', mint, 0),
      layout === 'rows' ? count : Math.ceil(count / PAGE_ROWS) + 1
    )
  const result = {
    engine: engine.name,
    layout,
    'blocks/s': Math.round(BLOCKS / seconds),
    'batch p50 ms': blocks[Math.floor(BLOCKS / 2)]!.toFixed(1),
    'batch p99 ms': blocks[Math.floor(BLOCKS * 0.99)]!.toFixed(1),
    'cpu ms/block': ((user + system) / 1000 / BLOCKS).toFixed(1),
    'disk MB': Math.round(directoryMegabytes(directory)),
    'hot 100 µs': await timed(300, (i) => rows(i % 20, 100)),
    'hot 1000 µs': await timed(100, (i) => rows(i % 5, 1000)),
    'quiet 100 µs': await timed(300, (i) => rows(quiet[i]!, 100)),
    'candles µs': await timed(300, (i) =>
      engine.newest(
        key('c', i % 20, 0),
        key('d', i % 20, 0),
        layout === 'rows' ? 300 : Math.ceil(300 / CANDLE_PAGE)
      )
    ),
    'pair µs': await timed(300, (i) => engine.get(key('p', i, 0)))
  }
  await engine.close()
  rmSync(directory, { recursive: true })
  return result
}

const results: object[] = []
for (const name of options.only.split(',')) {
  const open = ENGINES[name as keyof typeof ENGINES]
  for (const layout of ['rows', 'packed'] as const) {
    try {
      results.push(await measure(open, layout))
      console.error(results.at(-1))
    } catch (error) {
      if ((error as { code?: string }).code !== 'ERR_MODULE_NOT_FOUND') throw error
      console.error(`${name} is not installed: skipped`)
      break
    }
  }
}
console.table(results)
