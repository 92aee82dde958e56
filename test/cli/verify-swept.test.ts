import { dirname, join } from 'node:path'
import t from 'tap'
import { encodeBase58 } from '../../src/chain/base58.ts'
import { pubkeyMapKey, samePubkey } from '../../src/chain/pubkey.ts'
import { run as runCommand } from '../../src/kernel/cli/run.ts'
import { PROGRAM } from '../../src/program.ts'
import { unchanged } from '../../src/market/amendment.ts'
import { bucketStart } from '../../src/market/buckets.ts'
import { splitCursor } from '../../src/market/cursor.ts'
import { INTERVALS, type Candle, type TradeRow } from '../../src/market/rows.ts'
import { candleDifferences } from '../../src/store/verify/candle-check.ts'
import { foldCandlesAgain } from '../../src/store/verify/candle-repair.ts'
import type { BlockCommit, Storage } from '../../storage/port.ts'
import { openMarket, recordMarket } from '../actors/ingest/market-blocks.ts'
import { stretched, sweptMarket } from '../storage/swept-market.ts'

/** A minute has ten blocks, so the market takes several minutes. */
const SECONDS_A_BLOCK = 6
const market = await openMarket('a swept market to be verified', 70)
t.teardown(() => market.close())

/** Returns a trade in a later block of the minute in which its mint was first traded, about a third into the market. */
function straddling(commits: readonly BlockCommit[]): TradeRow {
  const first = new Map<string, number>()
  const found: TradeRow[] = []
  for (const row of commits.flatMap(({ trades }) => trades)) {
    const began = first.get(pubkeyMapKey(row.mint)) ?? row.blockTime
    first.set(pubkeyMapKey(row.mint), began)
    if (began < row.blockTime && began >= bucketStart('1m', row.blockTime)) found.push(row)
  }
  const early = found[Math.floor(found.length / 3)]
  if (early === undefined) throw new Error('no mint trades in two blocks of its first minute')
  return found.find(({ mint, blockTime }) => samePubkey(mint, early.mint) && blockTime === early.blockTime)!
}

async function candlesOf(storage: Storage, commits: readonly BlockCommit[]): Promise<Map<string, Candle[]>> {
  const candles = new Map<string, Candle[]>()
  for (const { mint, cash } of commits.flatMap(({ pairs }) => pairs))
    for (const interval of INTERVALS) {
      const range = { from: 0, to: 2 ** 32, limit: 10_000 }
      const key = [encodeBase58(mint), encodeBase58(cash), interval].join(' ')
      if (!candles.has(key)) candles.set(key, await storage.candles.range(mint, cash, interval, range))
    }
  return candles
}

t.test('candles that lie partly before the horizon are no difference, and stay as stored', async (t) => {
  const blocks = stretched(market.blocks, SECONDS_A_BLOCK)
  const { whole, swept, commits } = await sweptMarket(
    t,
    blocks,
    (all) => all.at(-1)!.slot.blockTime - straddling(all).blockTime
  )
  const cut = straddling(commits)
  t.equal((await swept.coverage.horizon())!.time, cut.blockTime)
  const page = { order: 'asc', limit: 1 } as const
  t.equal((await whole.trades.ofMint(cut.mint, page))[0]!.blockTime < cut.blockTime, true)
  t.equal((await swept.trades.ofMint(cut.mint, page))[0]!.cursor, cut.cursor, 'its first minute is cut')
  const mints = [
    ...new Map(commits.flatMap(({ tokens }) => tokens).map((row) => [row.mint.join(), row.mint]))
  ]
  const count = { rows: 0, candles: 0 }
  for (const [, mint] of mints) {
    const differences = await Array.fromAsync(candleDifferences(swept, mint, count))
    t.strictSame(differences, [], encodeBase58(mint))
  }
  t.ok(count.rows > 100 && count.candles > 5, `${count.candles} candles of ${count.rows} trades`)
  const stored = await candlesOf(whole, commits)
  t.equal(
    await foldCandlesAgain(
      swept,
      mints.map(([, mint]) => mint)
    ),
    0
  )
  t.strictSame(await candlesOf(swept, commits), stored, 'a repair writes none of them')

  const { mint, cash } = commits.at(-1)!.pairs[0]!
  const newest = (await swept.candles.range(mint, cash, '1m', { from: 0, to: 2 ** 32, limit: 1 }))[0]!
  const [head, totals] = [await swept.blocks.head(), await swept.totals.get()]
  const put = [{ mint, cash, interval: '1m' as const, candle: { ...newest, trades: newest.trades + 1 } }]
  const gaps = { put: [], remove: [] }
  await swept.history.amend({ ...unchanged(head, { totals }), candles: { put, remove: [] } }, gaps)
  t.match(await Array.fromAsync(candleDifferences(swept, mint, count)), [{ of: { ts: newest.ts } }])
  t.equal(await foldCandlesAgain(swept, [mint]), 1)
  t.strictSame(await candlesOf(swept, commits), stored, 'a wrong one beyond the horizon is put right')
})

t.test(
  'a range below the horizon is said to be past the retention, and one beyond it is compared',
  async (t) => {
    const blocks = stretched(market.blocks, SECONDS_A_BLOCK)
    const { swept, directory, commits } = await sweptMarket(t, blocks, () => 200)
    const recordedDir = join(dirname(directory), 'blocks')
    await recordMarket(recordedDir, market.url, blocks)
    const { slot } = splitCursor((await swept.coverage.horizon())!.cursor)
    const kept = commits.flatMap(({ trades }) => trades).find((row) => row.slot >= slot)!
    await swept.close()
    const verify = async (range: string) => {
      const [out, err]: [string[], string[]] = [[], []]
      const args = ['verify', range, '--data-dir', dirname(directory), '--recorded-dir', recordedDir]
      const code = await runCommand(
        args,
        {
          stdout: (line) => void out.push(line),
          stderr: (line) => void err.push(line),
          stdin: process.stdin,
          yieldProcessor: () => undefined,
          interrupted: new AbortController().signal
        },
        PROGRAM
      )
      return { code, out, err: err.join('\n') }
    }
    const [first, last] = [commits[0]!.slot.slot, commits.at(-1)!.slot.slot]
    const expired = commits.filter((commit) => commit.slot.slot < slot).length
    const all = await verify(`${first}..${last}`)
    t.strictSame([all.code, all.out], [0, []])
    t.match(all.err, `the trades and pool events of ${expired} of these blocks are past the retention`)
    t.match(all.err, ` ${commits.length} blocks compared: 0 differences`)
    const beyond = await verify(`${slot}..${last}`)
    t.strictSame([beyond.code, beyond.out], [0, []])
    t.notMatch(beyond.err, 'past the retention')
    t.ok(expired > 20 && kept !== undefined, `${expired} of ${commits.length} blocks have expired`)
  }
)
