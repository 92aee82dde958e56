import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { encodeBase58 } from '../../src/chain/base58.ts'
import { pubkeyFromBase58 } from '../../src/chain/pubkey.ts'
import { run as runCommand } from '../../src/kernel/cli/run.ts'
import { PROGRAM } from '../../src/program.ts'
import { unchanged } from '../../src/market/amendment.ts'
import { WSOL } from '../../src/market/cash.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import type { Storage } from '../../storage/port.ts'
import { putTenant } from '../../storage/test/sample-access.ts'
import { loneIngester } from '../actors/ingest/lone-ingester.ts'
import { openMarket } from '../actors/ingest/market-blocks.ts'

const SOL = pubkeyFromBase58(WSOL)
const dataDir = t.testdir()
const market = await openMarket('a market to be verified', 70)
t.teardown(() => market.close())
const { blocks } = market
const [first, last] = [blocks[0]!.slot, blocks.at(-1)!.slot]
const range = `${first}..${last}`
const folder = ['--data-dir', dataDir]
const node = ['--rpc-url', market.url]

async function withStore<T>(use: (storage: Storage) => Promise<T>): Promise<T> {
  const storage = await openEmbeddedStorage({ directory: join(dataDir, 'store') })
  try {
    return await use(storage)
  } finally {
    await storage.close()
  }
}

await withStore(async (storage) => {
  const ingester = await loneIngester(storage)
  for (const block of blocks) await ingester.ingest({ block, commitment: 'confirmed', receivedAtMs: 1 })
})

async function run(...args: readonly string[]) {
  const out: Record<string, unknown>[] = []
  const err: string[] = []
  const code = await runCommand(
    ['verify', ...args],
    {
      stdout: (line) => void out.push(JSON.parse(line) as Record<string, unknown>),
      stderr: (line) => void err.push(line),
      stdin: process.stdin,
      yieldProcessor: () => undefined,
      interrupted: new AbortController().signal
    },
    PROGRAM
  )
  return { code, out, err }
}

t.test(
  'a store that was filled by ingest shows no difference, neither in candles nor in blocks',
  async (t) => {
    const candles = await run(...folder)
    t.same(candles.out, [])
    t.equal(candles.code, 0)
    const [, count, mints] = /^(\d+) candles of (\d+) mints .* 0 differences$/.exec(candles.err.at(-1)!) ?? []
    t.ok(Number(count) > 100 && Number(mints) > 10, `${count} candles of ${mints} mints`)
    const decoded = await run(range, ...folder, ...node)
    t.same(decoded.out, [])
    t.equal(decoded.code, 0)
    t.match(decoded.err.at(-1), new RegExp(` and ${blocks.length} blocks compared: 0 differences$`))
  }
)

t.test('each thing that is not as it follows from others is printed, and the exit code is 1', async (t) => {
  const changed = await withStore(async (storage) => {
    const trades = await storage.trades.ofMint(SOL, { order: 'desc', limit: 3 })
    const [dear, gone] = [trades[0]!, trades[2]!]
    const head = (await storage.blocks.head())!
    const slot = { ...(await storage.blocks.at(first))!, transactions: 9_999 }
    const amendment = {
      ...unchanged(head, { totals: await storage.totals.get() }),
      slots: { put: [slot], remove: [] },
      trades: { put: [{ ...dear, outAmount: dear.outAmount + 1n }], remove: [gone] }
    }
    await storage.history.amend(amendment, { put: [], remove: [] })
    return { dear, gone }
  })
  const { code, out } = await run(range, WSOL, ...folder, ...node)
  t.equal(code, 1)
  const of = (kind: string) => out.filter((difference) => difference['kind'] === kind)
  t.match(of('block'), [{ of: { slot: first }, stored: { transactions: 9_999 } }])
  const { dear, gone } = changed
  const byCursor = of('trade').sort((a, b) => cursorIn(a) - cursorIn(b))
  t.match(byCursor, [
    { of: { cursor: gone.cursor }, stored: null, computed: { signature: encodeBase58(gone.signature) } },
    {
      of: { cursor: dear.cursor, mint: WSOL },
      stored: { outAmount: String(dear.outAmount + 1n) },
      computed: { outAmount: String(dear.outAmount) }
    }
  ])
  t.equal(byCursor.length, 2)
  t.ok(of('candle').length >= 8, 'the buckets of each interval that hold them')
  for (const difference of of('candle')) t.match(difference, { of: { mint: WSOL } })
  t.equal(out.length, 3 + of('candle').length)
})

t.test('rows that cannot be compared are reported', async (t) => {
  for (const [args, code, line] of [
    [['9..1'], 2, /a range of slots/],
    [['no-mint'], 2, /a range of slots/],
    [[range, ...folder], 2, /set --recorded-dir or --rpc-url/],
    [['--data-dir', join(dataDir, 'nowhere')], 1, /there is no store in/],
    [['--storage', 'nothing'], 2, /storage/i]
  ] as const) {
    const ran = await run(...args)
    t.equal(ran.code, code, args.join(' '))
    t.match(ran.err.join('\n'), line)
  }
  const beyond = await run(`${last + 1_000}..${last + 1_001}`, ...folder, ...node)
  t.equal(beyond.code, 1)
  t.match(beyond.err.join('\n'), /the nodes do not have slot \d+/)
})

t.test('a store that a service has open is compared in a snapshot, which is gone afterwards', async (t) => {
  mkdirSync(join(dataDir, 'store.snapshot-999999999'))
  await withStore(async (storage) => {
    // While a writer never pauses, each snapshot is the state between successive commits.
    let isDone = false
    const writing = (async () => {
      for (let n = 0; !isDone; n++) await putTenant(storage, { name: `t${n}`, createdAtMs: n })
    })()
    const open = await run(WSOL, ...folder)
    isDone = true
    await writing
    t.match(open.err[0], /is open in another process; comparing a snapshot of it/)
    t.match(open.err.at(-1), /^[1-9]\d* candles of 1 mints .* compared: \d+ differences$/)
    t.same(open.out, (await run(WSOL, ...folder)).out, 'the same is found again')
  })
  const closed = await run(WSOL, ...folder)
  t.notMatch(closed.err[0], /snapshot/)
  t.same(readdirSync(dataDir), ['store'])
})

const cursorIn = ({ of }: Record<string, unknown>): number => (of as { cursor: number }).cursor
