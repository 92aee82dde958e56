import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { pubkeyFromBase58 } from '../../../src/chain/pubkey.ts'
import { TRADE } from '../../../src/data/bodies/trade-schema.ts'
import { tradeBody } from '../../../src/data/bodies/trade.ts'
import { CashList } from '../../../src/market/cash.ts'
import type { TradeRow } from '../../../src/market/rows.ts'
import { openArchiveToRead } from '../../../src/store/opening.ts'
import { block, buy, key, NOON, OTHER, sell, SOL, solSale, TOKEN, trade } from '../../market/world.ts'
import { configIn } from '../recorded-market.ts'
import { commitsOf } from '../split-chain.ts'
import { csvText, fileBytes, type SampleRow } from './sample-rows.ts'
import { importing } from './trade-rows.ts'

const CASH = new CashList()
const FIRST = 254_170_887
const PROGRAM = pubkeyFromBase58('pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA')

/** A chain whose trades have all facts that a row can state. */
const CHAIN = Array.from({ length: 12 }, (_, at) => {
  const route = { program: key(600), ixIndex: 2, hop: 1, hops: 2 }
  const fees = [{ kind: 'lp' as const, mint: SOL, amount: 25n + BigInt(at) }]
  const reserves = { in: 5_000_000n + BigInt(at), out: 77n, virtualIn: 3n }
  const decoded = block(FIRST + at, NOON + Math.floor(at / 2) * 31, [
    solSale(150.123 + at / 7),
    buy(1_234_567n * BigInt(at + 1), 999_999n, { fees, traderIn: 1_300_000n, user: key(301) }),
    sell(500_000n, 777_777n + BigInt(at), { reserves, exact: 'in', route, innerIxIndex: at % 3 }),
    trade({ inMint: TOKEN, inDecimals: 6, outMint: OTHER, outDecimals: 5, pool: key(102) })
  ])
  const entries = decoded.entries.map((entry, n) => ({
    ...entry,
    signature: new Uint8Array(64).fill(at * 4 + n),
    event: { ...entry.event, program: PROGRAM }
  }))
  return { ...decoded, entries }
})

const bodiesOf = (rows: readonly TradeRow[]) =>
  rows.map((row) => JSON.parse(JSON.stringify(tradeBody(row, CASH))) as Record<string, unknown>)

/** Returns the columns of an export: nested values are JSON text. */
const exported = (body: Record<string, unknown>): SampleRow =>
  Object.fromEntries(
    Object.keys(TRADE.shape).map((name) => {
      const value = body[name] ?? null
      return [name, typeof value === 'object' && value !== null ? JSON.stringify(value) : value] as const
    })
  ) as SampleRow

const rows = commitsOf(CHAIN).flatMap(({ trades }) => trades)
const bodies = bodiesOf(rows)

for (const [format, text] of [
  ['csv', csvText(bodies.map(exported))],
  ['parquet', fileBytes(bodies.map(exported), 'parquet', null)],
  ['ndjson', bodies.map((body) => `${JSON.stringify(body)}\n`).join('')]
] as const)
  t.test(`trades that were exported as ${format} and imported have equal bodies`, async (t) => {
    const directory = t.testdir()
    const path = join(directory, `trades.${format}`)
    writeFileSync(path, text)
    const dataDir = join(directory, 'data')
    const { code, lines, stderr } = await importing(dataDir, path)
    t.equal(code, 0, [...lines, stderr].join('\n'))
    const archive = (await openArchiveToRead(configIn(dataDir)))!
    t.teardown(() => archive.close())
    const all = { order: 'asc', limit: 1_000 } as const
    const found = (
      await Promise.all([SOL, TOKEN, OTHER].map((mint) => archive.trades.ofMint(mint, all)))
    ).flat()
    found.sort((a, b) => a.cursor - b.cursor)
    t.strictSame(bodiesOf(found), bodies)
  })
