/**
 * Measures the CPU time of calls that scan, as a multiple of an ordinary call: the reason for the defaults of
 * `MILLRACE_PROGRAM_ACCOUNTS_WEIGHT` and `MILLRACE_HOLDERS_WEIGHT`. The ordinary call is a page of 50 trades that no cache
 * has. All is in one process, without sockets: the requests go through the whole HTTP side. Rounds of all calls alternate.
 * Takes about a minute:
 *
 *     node --expose-gc loadtest/call-costs.ts [--small] [--help]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { pino } from 'pino'
import type { Test } from 'tap'
import { AccountIndexes } from '../actors/program-accounts/account-indexes.ts'
import { MirroredAccounts as Mirrored } from '../actors/program-accounts/mirrored-accounts.ts'
import { MintDirectory } from '../src/accounts/mint-directory.ts'
import { PoolDirectory } from '../src/accounts/pools/pool-directory.ts'
import { TOKEN_PROGRAM_KEYS } from '../src/accounts/token-program.ts'
import { encodeBase58 } from '../src/chain/base58.ts'
import { pubkeyToBase58, type Pubkey } from '../src/chain/pubkey.ts'
import { holderMintsIn, holderProgressIn, NO_LIST } from '../src/holders/holder-mint.ts'
import { wholeList } from '../src/holders/list-rows.ts'
import { buildApp } from '../src/http/app.ts'
import { systemPorts } from '../src/ports.ts'
import { routesOf } from '../src/products/product.ts'
import { PRODUCTS } from '../src/products/products.ts'
import {
  NO_PROGRESS,
  programsIn,
  PROGRAMS_PARTITION,
  type MirrorProgress
} from '../src/program-accounts/program.ts'
import { Whitelist } from '../src/program-accounts/whitelist.ts'
import { MirroredAccounts } from '../src/rpc/mirrored-accounts.ts'
import { createMetrics } from '../src/telemetry/metrics.ts'
import { mintData } from '../test/accounts/account-data.ts'
import { fakeAccounts, type FakeAccountNode } from '../test/accounts/fake-account-node.ts'
import { marketApp, type MarketApp } from '../test/http/market-app.ts'
import { block, buy, NOON, solSale } from '../test/market/world.ts'
import { writeResult } from './result.ts'
import { accountMint, accountOf, accountOwner, MINT, OWNER, PROGRAM, SLOT } from './token-accounts.ts'

const HELP = `Usage: node --expose-gc loadtest/call-costs.ts [--small]

  --small   a tenth of the accounts and holders, printed and not saved
`
const VERSIONS_A_WRITE = 10_000
const ROWS_A_WRITE = 20_000
const TRADES = 2_000
const TRADES_A_BLOCK = 100
/** Milliseconds after which the cached sums of a list are reread. */
const OWNERS_MS = 10_000

const { values } = parseArgs({ options: { small: { type: 'boolean' }, help: { type: 'boolean' } } })
if (values.help === true) process.stdout.write(HELP)
else await measureAll(values.small === true)

/** A call, and how often a round makes it: short calls need many for a figure above the clock's resolution. */
interface MeasuredCall {
  readonly calls: number
  readonly ask: (n: number) => Promise<void>
}

async function measureAll(isSmall: boolean): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-call-costs-'))
  const ends: (() => unknown)[] = []
  try {
    const test = { testdir: () => join(directory, 'store'), teardown: (end: () => unknown) => ends.push(end) }
    const { node } = fakeAccounts()
    const options = { node, clock: systemPorts.clock, bytesMax: 16 * 2 ** 20 }
    const accounts = {
      node,
      mints: new MintDirectory(options),
      pools: new PoolDirectory(options),
      offChain: null
    }
    const app = await marketApp(test as unknown as Test, undefined, { accounts, hotBytesMax: 64 * 2 ** 20 })
    app.nowMs = Date.now()
    const { deps } = app
    const quiet = { logger: pino({ level: 'silent' }), metrics: createMetrics(deps.decoding) }
    const served = buildApp({ ...deps, ...quiet }, routesOf(PRODUCTS))
    ends.push(() => served.close())
    const count = isSmall ? 2_000 : 20_000
    const traded = await storeTrades(app)
    await storeProgram(app, count)
    const held = await storeHolders(app, node, count)
    const get = async (path: string): Promise<void> => {
      const { statusCode, body } = await served.inject({ url: path, headers: { 'x-api-key': app.key } })
      if (statusCode !== 200) throw new Error(`${path} returned ${statusCode}: ${body}`)
    }
    const rpc = new MirroredAccounts(app.storage, () => undefined)
    const allAccounts = async (filters: readonly unknown[]): Promise<void> => {
      const params = [pubkeyToBase58(PROGRAM), { filters, dataSlice: { offset: 0, length: 0 } }]
      const answer = await rpc.answer(params, new AbortController().signal)
      if ('refusal' in answer) throw new Error(answer.refusal.error.message)
    }
    const compared = (offset: number, bytes: Uint8Array) => ({
      memcmp: { offset, bytes: encodeBase58(bytes) }
    })
    const program = `/v1/programs/${pubkeyToBase58(PROGRAM)}/accounts`
    const holders = `/v1/tokens/${held}/holders`
    // A parameter that changes makes each answer a new one, which no cache has.
    const calls: Readonly<Record<string, MeasuredCall>> = {
      page_of_trades: {
        calls: 100,
        ask: (n) => get(`/v1/tokens/${traded}/trades?limit=50&offset=${n % (TRADES - 50)}`)
      },
      accounts_page_of_100: { calls: 50, ask: () => get(`${program}?limit=100`) },
      accounts_page_of_1000: { calls: 5, ask: () => get(`${program}?limit=1000`) },
      accounts_page_scanned: {
        calls: 1,
        ask: () =>
          get(`${program}?limit=1000&memcmp=${OWNER.offset + 1}:${encodeBase58(accountOwner(7).subarray(1))}`)
      },
      get_program_accounts_10_by_index: {
        calls: 50,
        ask: (n) => allAccounts([compared(OWNER.offset, accountOwner(n % 900))])
      },
      get_program_accounts_1000_by_index: {
        calls: 5,
        ask: (n) => allAccounts([compared(MINT.offset, accountMint(n % 9))])
      },
      get_program_accounts_scanned: {
        calls: 1,
        ask: () => allAccounts([compared(OWNER.offset + 1, accountOwner(7).subarray(1))])
      },
      get_program_accounts_whole: { calls: 1, ask: () => allAccounts([]) },
      holders_first: {
        calls: 5,
        ask: (n) => {
          app.nowMs += OWNERS_MS
          return get(`${holders}?limit=${50 + (n % 50)}`)
        }
      },
      holders_again: { calls: 50, ask: (n) => get(`${holders}?limit=${50 + (n % 50)}`) },
      holders_at_offset_9900: { calls: 5, ask: () => get(`${holders}?limit=100&offset=9900`) },
      holders_by_token_account: { calls: 50, ask: () => get(`${holders}?limit=100&by=token_account`) }
    }
    const costs = await measured(calls, isSmall ? 3 : 9)
    const ordinary = costs.page_of_trades!
    const figures = {
      load_average: loadavg()[0],
      accounts: count,
      holders: count,
      cpu_ms: costs,
      ordinary_calls: Object.fromEntries(Object.entries(costs).map(([name, ms]) => [name, ms / ordinary]))
    }
    if (isSmall) process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`)
    else await writeResult('call-costs', figures)
  } finally {
    for (const end of ends.toReversed()) await end()
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Returns the CPU milliseconds of one call of each kind, all threads included: the median of the rounds after the first. */
async function measured(
  calls: Readonly<Record<string, MeasuredCall>>,
  rounds: number
): Promise<Readonly<Record<string, number>>> {
  const times: Record<string, number[]> = {}
  let n = 0
  for (let round = 0; round <= rounds; round++)
    for (const [name, { calls: count, ask }] of Object.entries(calls)) {
      globalThis.gc?.()
      const began = process.cpuUsage()
      for (let i = 0; i < count; i++) await ask(n++)
      const { user, system } = process.cpuUsage(began)
      if (round > 0) (times[name] ??= []).push((user + system) / 1_000 / count)
    }
  return Object.fromEntries(Object.entries(times).map(([name, list]) => [name, median(list)]))
}

function median(list: readonly number[]): number {
  return list.toSorted((a, b) => a - b)[list.length >> 1]!
}

/** Commits trades of a token, and returns its address. */
async function storeTrades(app: MarketApp): Promise<string> {
  const mint = address(5, 0)
  await app.commit(block(1, NOON - 60, [solSale(150)]))
  for (let from = 0; from < TRADES; from += TRADES_A_BLOCK) {
    const events = Array.from({ length: TRADES_A_BLOCK }, (_, i) =>
      buy(10n ** 9n, BigInt(from + i + 1) * 1_000_000n, { outMint: mint, pool: mint })
    )
    await app.commit(block(2 + from, NOON + from, events))
  }
  return pubkeyToBase58(mint)
}

/** Stores a program with accounts and its two indexes, as a mirror does after its first snapshot. */
async function storeProgram({ storage }: MarketApp, count: number): Promise<void> {
  const { documents, programAccounts } = storage
  await new Whitelist(documents).add(pubkeyToBase58(PROGRAM), 0)
  for (let from = 0; from < count; from += VERSIONS_A_WRITE) {
    const versions = Array.from({ length: VERSIONS_A_WRITE }, (_, i) => accountOf(from + i))
    await programAccounts.put(PROGRAM, versions, [])
  }
  const program = (await programsIn(documents).get(PROGRAMS_PARTITION, [pubkeyToBase58(PROGRAM)]))!
  const progress: MirrorProgress = {
    ...NO_PROGRESS,
    slot: SLOT,
    oldestSlot: SLOT,
    accounts: count,
    atMs: Date.now()
  }
  const deps = { store: programAccounts, clock: systemPorts.clock, logger: pino({ level: 'silent' }) }
  const save = (changed: MirrorProgress): Promise<void> => programsIn(documents).putHot(program, 1, changed)
  await save(progress)
  const mirrored = new Mirrored(PROGRAM, progress, save, deps)
  const indexes = new AccountIndexes('the program', PROGRAM, () => program.value.indexes, mirrored, deps)
  while (await indexes.step());
}

/** Stores the list of a token's holders, and returns its address. */
async function storeHolders(app: MarketApp, node: FakeAccountNode, count: number): Promise<string> {
  const mint = address(1, 0)
  const list = { mint, reading: 1 }
  const { documents, holders } = app.storage
  node.put(mint, {
    owner: TOKEN_PROGRAM_KEYS['spl-token'],
    data: mintData({ supply: 10n ** 15n, decimals: 6 })
  })
  for (const rows of wholeList(balances(count), 10, ROWS_A_WRITE)) await holders.put(list, rows)
  const stored = { mint: pubkeyToBase58(mint), decimals: 6, tokenProgram: 'spl-token' as const }
  const made = await holderMintsIn(documents).insert({ ...stored, askedAtMs: app.nowMs })
  if (!made.ok) throw new Error('the list is stored already')
  const state = { state: 'live' as const, reading: 1, fromSlot: 10, accounts: count }
  await holderMintsIn(documents).putHot(made.stored, 1, { ...NO_LIST, ...state })
  const { save } = await holderProgressIn(documents).claim(1)
  await save({ slot: 10, oldestSlot: 10, atMs: app.nowMs })
  return pubkeyToBase58(mint)
}

function* balances(count: number) {
  for (let n = 0; n < count; n++) {
    const amount = BigInt(Math.floor(10 ** 12 / (n + 1))) + BigInt(n % 977) + 1n
    yield [address(2, n), { owner: address(3, n), amount }] as const
  }
}

/** Returns an address of a kind by its number, spread over the keys as addresses are. */
function address(kind: number, n: number): Pubkey {
  const bytes = new Uint8Array(32).fill(kind)
  new DataView(bytes.buffer).setUint32(0, Math.imul(n + 1, 2_654_435_761))
  return bytes
}
