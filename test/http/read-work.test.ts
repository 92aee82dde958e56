import t, { type Test } from 'tap'
import { pubkeyFromBase58, pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { EXAMPLE_PROGRAM, EXAMPLE_WALLET } from '../../src/edge/routes/example-values.ts'
import { WSOL } from '../../src/market/cash.ts'
import { NO_PROGRESS, programsIn, PROGRAMS_PARTITION } from '../../src/program-accounts/program.ts'
import { Whitelist } from '../../src/program-accounts/whitelist.ts'
import { MirroredAccounts } from '../../src/rpc/mirrored-accounts.ts'
import { WORK_PER_MINUTE, WORK_PRICES } from '../../src/kernel/work/work-units.ts'
import type { Storage } from '../../storage/port.ts'
import { block, buy, key, NOON, TOKEN } from '../market/world.ts'
import { ALL_FINALIZED, fakeRpc, fakeUpstreams } from '../rpc/fake-rpc.ts'
import { marketApp, type Answer, type MarketApp } from './market-app.ts'

const USER = key(300)
const unitsOf = ({ headers }: Answer): number => Number(headers['x-work-units'])

/** A store that counts the rows returned by its lists. */
function watchedRows() {
  const seen = { rows: 0 }
  const over = (storage: Storage): Storage => {
    const watch = <S extends object>(store: S): S =>
      new Proxy(store, {
        get(target, name) {
          const member: unknown = Reflect.get(target, name)
          if (typeof member !== 'function') return member
          return (...input: unknown[]): unknown => {
            const read = (member as (...input: unknown[]) => unknown).apply(target, input)
            if (read instanceof Promise)
              void read.then(
                (found: unknown) => (seen.rows += Array.isArray(found) ? found.length : 0),
                () => undefined
              )
            return read
          }
        }
      })
    const { trades, poolEvents, candles, launches, activity, pools, blocks, coverage } = storage
    return {
      ...storage,
      ...{ trades: watch(trades), poolEvents: watch(poolEvents), candles: watch(candles) },
      ...{ launches: watch(launches), activity: watch(activity), pools: watch(pools) },
      ...{ blocks: watch(blocks), coverage: watch(coverage) }
    }
  }
  return { seen, over }
}

const TRADES = 300
const MINTS = 12
/** Trades of a token in the last five minutes, and of others by the hour. */
async function traded(app: MarketApp): Promise<void> {
  for (let hour = 20; hour > 0; hour--)
    await app.commit(
      block(
        100 - hour,
        NOON - hour * 3_600,
        Array.from({ length: MINTS }, (_, n) =>
          buy(1_000_000n, 100n, n === 0 ? {} : { outMint: key(100 + n), pool: key(150 + n) })
        )
      )
    )
  for (let n = 0; n < TRADES / 10; n++)
    await app.commit(
      block(
        200 + n,
        NOON + n,
        Array.from({ length: 10 }, () => buy(1_000_000n, 100n))
      )
    )
}

t.test('every row that the store hands over for an answer is paid for', async (t) => {
  const { seen, over } = watchedRows()
  const app = await marketApp(t, over)
  await traded(app)
  await app.app.ready()
  const headers = { 'x-api-key': await app.makeKey(['data:read', 'admin', 'revenue', 'tx:send', 'webhooks']) }
  const [mint, wallet] = [TOKEN, USER].map(pubkeyToBase58) as [string, string]
  const dear: readonly (readonly [path: string, rows: number])[] = [
    [`/v1/tokens/${mint}/candles?interval=1s&limit=10`, 128],
    [`/v1/tokens/${mint}/candles?interval=1m&limit=100`, 15],
    [`/v1/tokens/${mint}/trades?limit=1&offset=250`, 250],
    [`/v1/tokens/${mint}/trades?limit=1&min_usd=1000000000`, TRADES],
    [`/v1/wallets/${wallet}/trades?limit=1&offset=250`, 250],
    ['/v1/trending?limit=10', 100],
    [`/v1/tokens/${mint}`, 20],
    ['/v1/coverage', 1]
  ]
  const ofExamples = app.app.served.flatMap(({ endpoint: { method, path, examples, scope } }) =>
    method !== 'GET' || scope === 'open' || scope === 'loopback-or-admin'
      ? []
      : examples.map(({ params = {}, query = {} }) => {
          const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
            encodeURIComponent(params[name] ?? '')
          )
          const asked = `${url}?${new URLSearchParams(query).toString()}`
          return [asked.replaceAll(WSOL, mint).replaceAll(EXAMPLE_WALLET, wallet), 0] as const
        })
  )
  t.ok(ofExamples.length > 20)
  for (const [path, rowsMin] of [...dear, ...ofExamples]) {
    const before = seen.rows
    const answer = await app.get(path, headers)
    const rows = seen.rows - before
    if (rowsMin > 0) t.equal(answer.status, 200, `${path} ${answer.text.slice(0, 300)}`)
    t.ok(rows >= rowsMin, `${path} reads ${rows} rows, at least ${rowsMin}`)
    const units = unitsOf(answer)
    const least = WORK_PRICES.call + rows * WORK_PRICES.row
    if (!(units >= least)) t.fail(`${path} costs ${units}, of ${rows} rows at least ${least}`)
    if (units > 0.001 * WORK_PER_MINUTE) t.fail(`${path} costs ${units}`)
  }
})

t.test('a search is paid for by the names that it compares', async (t) => {
  const app = await marketApp(t)
  const named = (from: number, count: number): void => {
    for (let n = from; n < from + count; n++) {
      const mint = key(1)
      new DataView(mint.buffer).setUint32(8, n + 1)
      app.deps.names.setLaunch({ mint, symbol: `S${n}`, name: `the coin of number ${n}` })
    }
  }
  await app.commit(block(1, NOON, []))
  named(0, 500)
  const few = unitsOf(await app.get('/v1/search?q=coin+of+number&limit=1'))
  t.ok(few >= 500 * WORK_PRICES.name, `${few}`)
  named(500, 500)
  const more = unitsOf(await app.get('/v1/search?q=coin+of+number&limit=2'))
  t.ok(more >= few + 450 * WORK_PRICES.name, `${more} after ${few}`)
  t.ok(unitsOf(await app.get('/v1/search?q=zzz+none&limit=1')) < 20)
})

const ACCOUNTS = 2_000

/** A whitelisted program with accounts of one byte; every tenth is 1. */
async function mirrored(t: Test, isShared = false) {
  let accounts: MirroredAccounts | null = null
  const rpc = fakeRpc(fakeUpstreams(), [], { answer: (...asked) => accounts!.answer(...asked) })
  const app = await marketApp(t, (storage) => ({ ...storage, isShared }), { rpc })
  accounts = new MirroredAccounts(app.deps.storage, () => undefined, ALL_FINALIZED)
  const { documents, programAccounts } = app.storage
  await new Whitelist(documents).add(EXAMPLE_PROGRAM, 0)
  const stored = (await programsIn(documents).get(PROGRAMS_PARTITION, [EXAMPLE_PROGRAM]))!
  const versions = Array.from({ length: ACCOUNTS }, (_, n) => {
    const address = new Uint8Array(32)
    new DataView(address.buffer).setUint32(0, n)
    const data = Uint8Array.of(n % 10 === 0 ? 1 : 0)
    return { address, slot: 10, account: { lamports: 1n, executable: false, rentEpoch: 0n, data } }
  })
  await programAccounts.put(pubkeyFromBase58(EXAMPLE_PROGRAM), versions, [])
  await programsIn(documents).putHot(stored, 1, {
    ...NO_PROGRESS,
    ...{ slot: 10, oldestSlot: 10, accounts: ACCOUNTS }
  })
  const headers = {
    'content-type': 'application/json',
    'x-api-key': await app.makeKey(['data:read', 'rpc:read'])
  }
  const call = (byte: number) =>
    app.ask(
      'POST',
      '/v1/rpc',
      headers,
      JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'getProgramAccounts' },
        params: [EXAMPLE_PROGRAM, { filters: [{ memcmp: { offset: 0, bytes: byte === 1 ? '2' : '3' } }] }]
      })
    )
  const list = () => app.get(`/v1/programs/${EXAMPLE_PROGRAM}/accounts?memcmp=0:3&limit=1000`, headers)
  return { call, list }
}

t.test('accounts cost by where they came from: first from disk, then from memory', async (t) => {
  const { call, list } = await mirrored(t)
  const cold = unitsOf(await call(2))
  t.ok(cold >= ACCOUNTS * WORK_PRICES.account, `${cold}`)
  const warm = unitsOf(await call(2))
  t.ok(warm >= WORK_PRICES.call + ACCOUNTS * WORK_PRICES.accountInMemory, `${warm}`)
  t.ok(warm < cold / 10, `${warm} after ${cold}`)
  t.ok(unitsOf(await list()) < cold / 10, 'over REST, too')
  const found = unitsOf(await call(1))
  t.ok(found >= warm + (ACCOUNTS / 10) * WORK_PRICES.row, `${found} with those that match`)
})

t.test('accounts that a cluster hands over cost more than those on disk', async (t) => {
  const { list } = await mirrored(t, true)
  t.ok(unitsOf(await list()) >= ACCOUNTS * WORK_PRICES.accountOfCluster)
})
