/**
 * Measures the accounts of a program over a million mirrored token accounts in the embedded store: a memcmp filter at an
 * indexed range against a scan of all accounts. Both find equal accounts: the scan's filter begins a byte later, so that no
 * index covers it. All is in one process, without sockets: the requests go through the whole HTTP side, and through
 * getProgramAccounts. Rounds of both alternate. Also measures the CPU time of a scan by account. Takes about two minutes:
 *
 *     node --expose-gc loadtest/program-accounts.ts [--small] [--help]
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import type { Test } from 'tap'
import { AccountIndexes } from '../actors/program-accounts/account-indexes.ts'
import { MirroredAccounts as Mirrored } from '../actors/program-accounts/mirrored-accounts.ts'
import { encodeBase58 } from '../src/chain/base58.ts'
import { pubkeyToBase58 } from '../src/chain/pubkey.ts'
import { systemPorts } from '../src/ports.ts'
import {
  NO_PROGRESS,
  programsIn,
  PROGRAMS_PARTITION,
  type MirrorProgress
} from '../src/program-accounts/program.ts'
import { matcherOf } from '../src/program-accounts/account-filters.ts'
import { AccountRows } from '../src/program-accounts/account-rows.ts'
import { accountText } from '../src/program-accounts/program-bodies.ts'
import { Whitelist } from '../src/program-accounts/whitelist.ts'
import { MirroredAccounts } from '../src/rpc/mirrored-accounts.ts'
import { processMetrics } from '../test/products/process-metrics.ts'
import { ProgramAccountDatabase } from '../storage/embedded/program-accounts.ts'
import type { DataMatcher } from '../storage/port.ts'
import { appOf } from '../test/http/app-of.ts'
import { marketApp, type MarketApp } from '../test/http/market-app.ts'
import {
  accountMint,
  accountOf,
  accountOwner,
  ACCOUNTS_OF_MINT,
  ACCOUNTS_OF_OWNER,
  DATA_BYTES,
  MINT,
  OWNER,
  PROGRAM,
  SLOT
} from './token-accounts.ts'
import { reported, writeResult } from './result.ts'
import { NO_LIMIT } from './service-process.ts'
import { median } from './median.ts'

const HELP = `Usage: node --expose-gc loadtest/program-accounts.ts [--small]

  --small   a hundredth of the accounts, printed and not saved
`
const VERSIONS_A_WRITE = 10_000
/** Minimum ratio of the two medians (issue 23). */
const BAR = 100

const { values } = parseArgs({ options: { small: { type: 'boolean' }, help: { type: 'boolean' } } })
if (values.help === true) process.stdout.write(HELP)
else await measureAll(values.small === true)

async function measureAll(isSmall: boolean): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-program-accounts-'))
  const ends: (() => unknown)[] = []
  try {
    const test = { testdir: () => join(directory, 'store'), teardown: (end: () => unknown) => ends.push(end) }
    const app = await marketApp(test as unknown as Test, undefined, { hotBytesMax: 64 * 2 ** 20 })
    app.nowMs = Date.now()
    const { deps } = app
    const quiet = { logger: pino({ level: 'silent' }), metrics: processMetrics(deps.decoding) }
    const served = appOf({ ...deps, ...quiet })
    ends.push(() => served.close())
    const count = isSmall ? 10_000 : 1_000_000
    const empty = residentMib()
    const stored = reported('write_seconds', await timed(async () => store(app, count)))
    const afterStoring = residentMib()
    const built = reported('build_seconds', await timed(async () => buildIndexes(app, count)))
    const before = residentMib()
    const scans = isSmall ? 3 : 5
    const owner = accountOwner(471)
    const mint = accountMint(0)
    const figures = {
      cpu_us_an_account: reported(
        'cpu_us_an_account',
        await scanCosts(join(directory, 'scans'), isSmall ? 5_000 : 100_000)
      ),
      load_average: loadavg()[0],
      accounts: count,
      data_bytes: DATA_BYTES,
      write_seconds: stored,
      build_seconds_of_two_indexes: built,
      accounts_of_an_owner: reported(
        'accounts_of_an_owner',
        await compare(app, served, OWNER.offset, owner, ACCOUNTS_OF_OWNER, scans)
      ),
      accounts_of_a_mint: reported(
        'accounts_of_a_mint',
        await compare(app, served, MINT.offset, mint, Math.min(count, ACCOUNTS_OF_MINT), scans)
      ),
      resident_mib: {
        empty_service: empty,
        after_writing: afterStoring,
        after_building: before,
        after_all_requests: residentMib()
      }
    }
    if (isSmall) process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`)
    else await writeResult('program-accounts', { bar: BAR, ...figures })
    if (figures.accounts_of_an_owner.request.ratio < BAR) process.exitCode = 1
  } finally {
    for (const end of ends.toReversed()) await end()
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Stores a program with accounts, as a mirror does after its first snapshot. */
async function store({ storage }: MarketApp, count: number): Promise<void> {
  await new Whitelist(storage.documents).add(pubkeyToBase58(PROGRAM), 0)
  for (let from = 0; from < count; from += VERSIONS_A_WRITE) {
    const versions = Array.from({ length: VERSIONS_A_WRITE }, (_, i) => accountOf(from + i))
    await storage.programAccounts.put(PROGRAM, versions, [])
  }
}

/** Builds the indexes that a token program has by default, as a mirror does during its other work. */
async function buildIndexes({ storage }: MarketApp, accounts: number): Promise<void> {
  const { documents, programAccounts } = storage
  const program = (await programsIn(documents).get(PROGRAMS_PARTITION, [pubkeyToBase58(PROGRAM)]))!
  const progress: MirrorProgress = {
    ...NO_PROGRESS,
    slot: SLOT,
    oldestSlot: SLOT,
    accounts,
    atMs: Date.now()
  }
  const deps = { store: programAccounts, clock: systemPorts.clock, logger: pino({ level: 'silent' }) }
  const save = (changed: MirrorProgress): Promise<void> => programsIn(documents).putHot(program, 1, changed)
  const mirrored = new Mirrored(PROGRAM, progress, save, deps)
  const indexes = new AccountIndexes('the program', PROGRAM, () => program.value.indexes, mirrored, deps)
  while (await indexes.step());
  // A mirror compares the stored accounts with a snapshot after each start, and every ten minutes.
  let compared = 0
  for await (const { length } of programAccounts.versions(PROGRAM)) compared += length
  if (compared !== accounts) throw new Error(`${compared} accounts are stored`)
}

/**
 * Measures the CPU time of a scan by account, all threads included, of accounts in memory and of accounts on disk only. In
 * one case no account matches, in the other each becomes a row. Returns the median of the rounds after the first, which
 * fills the memory.
 */
async function scanCosts(directory: string, count: number) {
  const owner = accountOwner(count).subarray(1)
  const none = matcherOf([{ memcmp: { offset: OWNER.offset + 1, bytes: owner } }])
  const figures: Record<string, { readonly no_match: number; readonly all_match: number }> = {}
  for (const [where, pageBytesMax] of [
    ['in_memory', 2 ** 27],
    ['on_disk', 0]
  ] as const) {
    const store = new ProgramAccountDatabase(directory, { pageBytesMax })
    for (let from = 0; where === 'in_memory' && from < count; from += VERSIONS_A_WRITE / 2) {
      const versions = Array.from({ length: VERSIONS_A_WRITE / 2 }, (_, i) => accountOf(from + i))
      await store.put(PROGRAM, versions, [])
    }
    const cost = async (matches: DataMatcher | undefined): Promise<number> => {
      const times: number[] = []
      for (let round = 0; round < 6; round++) {
        const rows = new AccountRows({ encoding: 'base64', slice: null }, accountText('P', 'base64'))
        const all = { slot: SLOT, limit: Infinity, examined: Infinity, matches }
        const began = process.cpuUsage()
        for await (const { accounts } of store.pages(PROGRAM, all)) await rows.add(accounts)
        const { user, system } = process.cpuUsage(began)
        if (round > 0) times.push((user + system) / count)
      }
      return median(times)
    }
    figures[where] = { no_match: await cost(none), all_match: await cost(undefined) }
    await store.close()
  }
  return figures
}

/** Measures requests for the accounts with a value by its index, and by a scan. */
async function compare(
  app: MarketApp,
  served: FastifyInstance,
  offset: number,
  value: Uint8Array,
  found: number,
  scans: number
) {
  const rpc = new MirroredAccounts(app.storage, () => undefined, { newest: () => Number.MAX_SAFE_INTEGER })
  // A scan of all accounts is more work than a key may use by default.
  const key = await app.makeKey(['data:read'], { workPerMinute: 1_000 * NO_LIMIT })
  const indexed = { offset, bytes: value }
  const scanned = { offset: offset + 1, bytes: value.subarray(1) }
  const overHttp = async ({ offset: at, bytes }: typeof indexed): Promise<number> => {
    const path = `/v1/programs/${pubkeyToBase58(PROGRAM)}/accounts?limit=1000&memcmp=${at}:${encodeBase58(bytes)}`
    let rows = 0
    for (let after = ''; ;) {
      const { statusCode, body } = await served.inject({
        url: path + after,
        headers: { 'x-api-key': key }
      })
      if (statusCode !== 200) throw new Error(body)
      const { data, nextCursor } = JSON.parse(body) as { data: unknown[]; nextCursor: string | null }
      rows += data.length
      if (nextCursor === null) return rows
      after = `&after=${encodeURIComponent(nextCursor)}`
    }
  }
  const overRpc = async ({ offset: at, bytes }: typeof indexed): Promise<number> => {
    const filters = [{ memcmp: { offset: at, bytes: encodeBase58(bytes) } }]
    const answer = await rpc.answer(
      [pubkeyToBase58(PROGRAM), { filters, encoding: 'base64' }],
      new AbortController().signal
    )
    if (!('result' in answer)) throw new Error(JSON.stringify(answer))
    return (JSON.parse(Buffer.concat(answer.result).toString()) as unknown[]).length
  }
  const ways = { request: overHttp, get_program_accounts: overRpc }
  const figures = {} as Record<keyof typeof ways, Figures>
  for (const [name, ask] of Object.entries(ways) as [keyof typeof ways, typeof overHttp][]) {
    const times = { index: [] as number[], scan: [] as number[] }
    for (let round = 0; round < scans; round++) {
      times.scan.push(await checked(ask, scanned, found))
      for (let i = 0; i < 30; i++) times.index.push(await checked(ask, indexed, found))
    }
    const [index, scan] = [median(times.index), median(times.scan)]
    figures[name] = { index_p50_ms: index, scan_p50_ms: scan, ratio: scan / index }
  }
  return { found, ...figures }
}

interface Figures {
  readonly index_p50_ms: number
  readonly scan_p50_ms: number
  readonly ratio: number
}

async function checked<T>(ask: (by: T) => Promise<number>, by: T, found: number): Promise<number> {
  const began = performance.now()
  const rows = await ask(by)
  if (rows !== found) throw new Error(`${rows} accounts in place of ${found}`)
  return performance.now() - began
}

/** Resolves with the duration of an operation in seconds. */
async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now()
  await work()
  return (performance.now() - began) / 1_000
}

/**
 * Memory of the process: allocated, and resident. The difference is pages of the engine's files, which are mapped only for
 * reading. The system drops them without a write whenever memory is short.
 */
function residentMib() {
  globalThis.gc?.()
  const status = readFileSync('/proc/self/status', 'utf8')
  const mib = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)![1]) / 2 ** 10
  return { allocated: mib('RssAnon'), with_mapped_files: mib('VmRSS') }
}
