/**
 * Measures two requests against the bare reads of the same rows from the store: the first page of the holders of a mint with
 * a million holders, and the holdings of a wallet with 5,000 token accounts. All is in one process, without sockets: the
 * requests go through the whole HTTP side, and the node answers from memory. Rounds of both alternate. Takes some two
 * minutes:
 *
 *     node loadtest/holders.ts [--small] [--holdings] [--help]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import type { Test } from 'tap'
import { MintDirectory } from '../src/accounts/mint-directory.ts'
import { PoolDirectory } from '../src/accounts/pools/pool-directory.ts'
import { TOKEN_PROGRAM_KEYS } from '../src/accounts/token-program.ts'
import { pubkeyToBase58, type Pubkey } from '../src/chain/pubkey.ts'
import { holderMintsIn, NO_LIST, holderProgressIn } from '../src/holders/holder-mint.ts'
import { wholeList } from '../src/holders/list-rows.ts'
import { ANSWER_MS } from '../src/http/account-parts.ts'
import { buildApp } from '../src/http/app.ts'
import { systemPorts } from '../src/ports.ts'
import { routesOf } from '../src/products/product.ts'
import { PRODUCTS } from '../src/products/products.ts'
import { createMetrics } from '../src/telemetry/metrics.ts'
import { mintData, tokenAccountData } from '../test/accounts/account-data.ts'
import { fakeAccounts, type FakeAccountNode } from '../test/accounts/fake-account-node.ts'
import { marketApp, type MarketApp } from '../test/http/market-app.ts'
import { block, buy, NOON, solSale } from '../test/market/world.ts'
import { writeResult } from './result.ts'

const HELP = `Usage: node loadtest/holders.ts [--small] [--holdings]

  --small      a hundredth of the holders and a tenth of the accounts, printed and not saved
  --holdings   the holdings alone, printed and not saved
`
const CLASSIC = TOKEN_PROGRAM_KEYS['spl-token']
const PAGE = 100
const ROWS_A_WRITE = 20_000
const MINTS_A_BLOCK = 500
/** Holdings that are priced at a time, as the endpoint does it. */
const PRICES_AT_ONCE = 64
/** Milliseconds after which the cached owners of a list are reread. */
const OWNERS_MS = 10_000
/** Maximum p99, as a multiple of that of the bare reads. */
const BAR = 3

const { values } = parseArgs({
  options: { small: { type: 'boolean' }, holdings: { type: 'boolean' }, help: { type: 'boolean' } }
})
if (values.help === true) process.stdout.write(HELP)
else await measureAll(values.small === true, values.holdings === true)

interface World {
  readonly app: MarketApp
  /** The same without logs. */
  readonly served: FastifyInstance
  readonly node: FakeAccountNode
}

async function measureAll(isSmall: boolean, isHoldingsOnly: boolean): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-holders-'))
  const ends: (() => unknown)[] = []
  try {
    const test = { testdir: () => join(directory, 'store'), teardown: (end: () => unknown) => ends.push(end) }
    const { node } = fakeAccounts()
    // This process's share of the default memory.
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
    const world = { app, served, node }
    const [holders, tokens] = isSmall ? [10_000, 500] : [1_000_000, 5_000]
    const figures = {
      load_average: loadavg()[0],
      ...(!isHoldingsOnly && { holders: await measureHolders(world, holders, isSmall ? 100 : 500) }),
      holdings: await measureHoldings(world, tokens, isSmall ? 10 : 60)
    }
    if (isSmall || isHoldingsOnly) process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`)
    else await writeResult('holders', { bar: BAR, ...figures })
    const { holders: lists, holdings } = figures
    const measured = [lists?.asked_again, lists?.after_a_block, holdings.asked_again, holdings.anew]
    if (measured.some((each) => each !== undefined && each.p99_ratio > BAR)) process.exitCode = 1
  } finally {
    for (const end of ends.toReversed()) await end()
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Returns an address of a kind by its number. */
function address(kind: number, n: number): Pubkey {
  const bytes = new Uint8Array(32).fill(kind)
  // Spread over the keys, as addresses are.
  new DataView(bytes.buffer).setUint32(0, Math.imul(n + 1, 2_654_435_761))
  return bytes
}

async function measureHolders({ app, node, served }: World, count: number, rounds: number) {
  const mint = address(1, 0)
  const list = { mint, reading: 1 }
  const { documents, holders } = app.storage
  node.put(mint, { owner: CLASSIC, data: mintData({ supply: 10n ** 15n, decimals: 6 }) })
  for (const rows of wholeList(balances(count), 10, ROWS_A_WRITE)) await holders.put(list, rows)
  const stored = { mint: pubkeyToBase58(mint), decimals: 6, tokenProgram: 'spl-token' as const }
  const made = await holderMintsIn(documents).insert({ ...stored, askedAtMs: app.nowMs })
  if (!made.ok) throw new Error('the list is stored already')
  const state = { state: 'live' as const, reading: 1, fromSlot: 10, accounts: count }
  await holderMintsIn(documents).putHot(made.stored, 1, { ...NO_LIST, ...state })
  const { save: progress } = await holderProgressIn(documents).claim(1)
  await progress({ slot: 10, oldestSlot: 10, atMs: app.nowMs })
  const path = `/v1/tokens/${pubkeyToBase58(mint)}/holders?limit=${PAGE}`
  const bare = async (): Promise<void> => {
    const { rows } = await holders.page(list, 'owner-rank', { slot: 10, limit: PAGE })
    if (rows.length !== PAGE) throw new Error(`${rows.length} rows`)
  }
  return {
    count,
    page: PAGE,
    asked_again: await compared(rounds, bare, async () => answered(served, app.key, path)),
    after_a_block: await compared(rounds, bare, async () => {
      app.nowMs += OWNERS_MS
      await answered(served, app.key, path)
    })
  }
}

function* balances(count: number) {
  for (let n = 0; n < count; n++) {
    const amount = BigInt(Math.floor(10 ** 12 / (n + 1))) + BigInt(n % 977) + 1n
    yield [address(2, n), { owner: address(3, n), amount }] as const
  }
}

async function measureHoldings({ app, node, served }: World, count: number, rounds: number) {
  const wallet = address(4, 0)
  const mints = Array.from({ length: count }, (_, n) => address(5, n))
  node.put(wallet, { owner: address(0, 0), data: new Uint8Array(), lamports: 5_000_000_000n })
  const accounts = mints.map((mint, n) => {
    node.put(mint, { owner: CLASSIC, data: mintData({ supply: 10n ** 12n, decimals: 6 }) })
    const data = tokenAccountData({ mint, owner: wallet, amount: BigInt(n + 1) * 1_000_000n })
    const rest = { lamports: 2_039_280n, executable: false, rentEpoch: 0n }
    return { address: address(6, n), account: { owner: CLASSIC, data, ...rest } }
  })
  // The node answers from memory; it is not measured.
  node.tokenAccounts = async (_wallet, program) => ({
    slot: node.slot,
    accounts: program === CLASSIC ? accounts : []
  })
  await app.commit(block(19, NOON - 60, [solSale(150)]))
  for (let from = 0; from < count; from += MINTS_A_BLOCK) {
    const events = mints
      .slice(from, from + MINTS_A_BLOCK)
      .map((outMint, i) => buy(10n ** 9n, BigInt(from + i + 1) * 1_000_000n, { outMint, pool: outMint }))
    await app.commit(block(20 + from, NOON + from, events))
  }
  const { pairs, launches } = app.storage
  const bare = async (): Promise<void> => {
    for (let from = 0; from < count; from += PRICES_AT_ONCE)
      await Promise.all(mints.slice(from, from + PRICES_AT_ONCE).map((mint) => pairs.ofMint(mint)))
    await Promise.all(mints.slice(0, 50).map((mint) => launches.get(mint)))
  }
  const path = `/v1/wallets/${pubkeyToBase58(wallet)}/holdings`
  const ask = async (): Promise<void> => answered(served, app.key, path)
  return {
    token_accounts: count,
    asked_again: await compared(rounds, bare, ask),
    anew: await compared(rounds, bare, async () => {
      app.nowMs += ANSWER_MS
      await ask()
    })
  }
}

async function answered(served: FastifyInstance, key: string, path: string): Promise<void> {
  const { statusCode, body } = await served.inject({ url: path, headers: { 'x-api-key': key } })
  if (statusCode !== 200) throw new Error(`${path} returned ${statusCode}: ${body}`)
}

/** Runs two operations alternately, after some uncounted rounds. */
async function compared(rounds: number, bare: () => Promise<void>, ours: () => Promise<void>) {
  const times = { bare: [] as number[], ours: [] as number[] }
  for (let n = 0; n < rounds * 1.2; n++) {
    const isCounted = n >= rounds * 0.2
    for (const [name, work] of [
      ['bare', bare],
      ['ours', ours]
    ] as const) {
      const start = performance.now()
      await work()
      if (isCounted) times[name].push(performance.now() - start)
    }
  }
  const [reads, requests] = [times.bare, times.ours].map((list) => list.sort((a, b) => a - b))
  const at = (list: readonly number[], share: number): number => list[Math.floor(list.length * share)]!
  return {
    rounds,
    p50_ms: { store: at(reads!, 0.5), request: at(requests!, 0.5) },
    p99_ms: { store: at(reads!, 0.99), request: at(requests!, 0.99) },
    p50_ratio: at(requests!, 0.5) / at(reads!, 0.5),
    p99_ratio: at(requests!, 0.99) / at(reads!, 0.99)
  }
}
