import { mkdirSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { ledgerEntryBody } from '../../src/revenue/bodies/ledger-entry.ts'
import type { LedgerRow } from '../../src/revenue/ledger-reader.ts'
import { writeLedgerCursor } from '../../src/revenue/routes/ledger-cursor.ts'
import { WatchedAddresses } from '../../src/revenue/watched-addresses.ts'
import { ownDirectory } from '../own-directory.ts'
import { jobIn, startBackfill, type RunningBackfill } from '../revenue/history-world.ts'
import { LedgerWorld } from '../revenue/ledger-world.ts'
import { revenueClient } from '../revenue/revenue-client.ts'
import { until } from '../service/asking.ts'
import { runCommand } from './run-command.ts'

const LIVE_FROM = 200

/** A ledger that was captured live, a listening service that watches its address, and the command. */
async function worlds(t: Test, seed: number) {
  const world = await LedgerWorld.open(t, seed)
  const [address] = world.wallets as [string]
  await world.watch(address)
  await world.settled('begun')
  await world.slots(40)
  await world.settled('captured')
  const [watched] = await world.watched()
  const rows = await world.rowsOf([watched!])
  const app = await revenueClient(t)
  await app.watch(address, LIVE_FROM)
  await app.endAt(LIVE_FROM + 10)
  await app.blocks(LIVE_FROM + 10)
  await app.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.app.server.address() as AddressInfo
  const environment = { MILLRACE_KEY: await app.makeKey(['revenue']), MILLRACE_PORT: String(port) }
  const backfill = (...args: string[]) => runCommand(['revenue', 'backfill', ...args], environment)
  const shown = async (): Promise<readonly Record<string, unknown>[]> =>
    (await app.send('GET', `/v1/revenue/events?address=${address}&order=asc&limit=1000`)).body.data
  return { world, address, rows, app, backfill, shown, directory: ownDirectory(t) }
}

/** Returns rows as an export of another tenant has them. */
const exported = (rows: readonly LedgerRow[]): readonly Record<string, unknown>[] =>
  rows.map((row) => ({
    ...ledgerEntryBody(row, { label: 'Fees', role: 'other', symbol: null }),
    cursor: writeLedgerCursor('another', row)
  }))

const jsonLines = (rows: readonly Record<string, unknown>[]): string =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join('')

function csv(rows: readonly Record<string, unknown>[]): string {
  const columns = Object.keys(rows[0]!)
  const cell = (value: unknown): string =>
    value === null
      ? ''
      : `"${(typeof value === 'string' ? value : JSON.stringify(value)).replaceAll('"', '""')}"`
  const lines = rows.map((row) => columns.map((column) => cell(row[column])).join(','))
  return `\uFEFF${[columns.join(','), ...lines].join('\r\n')}\r\n`
}

/** Runs the part of a backfill that needs no node until the imported rows are shown. */
async function summed(t: Test, { app, address }: Awaited<ReturnType<typeof worlds>>): Promise<void> {
  const running: RunningBackfill = startBackfill(null, app.storage)
  t.teardown(() => running.stop())
  await until(async () => {
    const { history } = await new WatchedAddresses(app.storage.documents).get('acme', address)
    return (history?.archived.length ?? 0) > 0
  }, 'imported rows')
  await until(async () => (await jobIn(app.storage, address, 'acme'))?.note != null, 'a note')
  t.match(await jobIn(app.storage, address, 'acme'), { note: /no node is configured/ })
  await running.stop()
}

t.test(
  'an export of the ledger is imported from NDJSON and CSV, in any order and with repeats',
  async (t) => {
    const all = await worlds(t, 61)
    const { rows, address, backfill, shown, directory } = all
    const bodies = exported(rows)
    const half = bodies.findIndex(({ slot }) => slot === rows[rows.length >> 1]!.slot)
    const [first, second] = [join(directory, 'first.ndjson.gz'), join(directory, 'second.csv')]
    writeFileSync(first, gzipSync(jsonLines(bodies.slice(half).toReversed())))
    writeFileSync(second, csv([...bodies.slice(0, half + 1)]))
    const others = bodies.slice(0, 3).map((row) => ({ ...row, address: rows[0]!.mint }))
    writeFileSync(join(directory, 'others.ndjson'), jsonLines(others))
    const imported = await backfill(address, first, second, join(directory, 'others.ndjson'), '--json')
    t.match(imported, { code: 0, stderr: '' })
    t.match(imported.rows(), [{ address, stored: rows.length, refused: 0, of_other_addresses: 3 }])
    t.strictSame(await shown(), [], 'nothing is shown before the sums are stored')
    await summed(t, all)
    const found = await shown()
    const withoutPlace = ({ cursor, label, source, symbol, ...row }: Record<string, unknown>) => row
    t.strictSame(found.map(withoutPlace), bodies.map(withoutPlace))
    t.ok(found.every(({ source }) => source === 'archive'))
    const again = await backfill(address, first, second, '--json')
    t.match(again.rows(), [{ stored: 0, refused: 0 }])
  }
)

t.test('a folder of recorded blocks is imported, and its gaps stay gaps', async (t) => {
  const all = await worlds(t, 62)
  const { world, rows, address, app, backfill, shown, directory } = all
  const folder = join(directory, 'blocks')
  mkdirSync(folder)
  const missing = world.blocks.length - 10
  for (const [at, text] of world.blocks.entries())
    if (at !== missing) writeFileSync(join(folder, `${at}.json`), text)
  t.match(await backfill(address, folder), { code: 0, stderr: '' })
  await summed(t, all)
  const lost = (JSON.parse(world.blocks[missing]!) as { slot: number }).slot
  const { history } = await new WatchedAddresses(app.storage.documents).get('acme', address)
  t.match(history!.archived, [{ to: lost - 1 }, { from: lost + 1 }])
  const found = await shown()
  const first = rows[0]!.slot
  const expected = rows.filter(({ slot }) => slot !== lost)
  t.strictSame(
    found.filter(({ slot }) => Number(slot) >= first).map(({ id }) => id),
    exported(expected).map(({ id }) => id)
  )
})

t.test('rows that cannot be stored are named and counted, and the rest is stored', async (t) => {
  const { rows, address, backfill, directory } = await worlds(t, 63)
  const single = rows.filter((row) => !rows.some((other) => other.slot === row.slot && other !== row))
  t.ok(single.length > 5)
  const file = join(directory, 'bad.ndjson')
  const [a, b, c, d, e, f] = exported(single) as [Record<string, unknown>, ...Record<string, unknown>[]]
  const { cursor: _, ...placeless } = b!
  const lines = [
    JSON.stringify(a),
    JSON.stringify(placeless),
    JSON.stringify({ ...c, pre_raw: '-1' }),
    JSON.stringify({ ...d, ts_ms: Date.parse('2099-01-01') }),
    JSON.stringify({ ...e, mint: 'no mint' }),
    JSON.stringify({ ...f, kind: 'gift' }),
    '{"slot"',
    '[]'
  ]
  writeFileSync(file, lines.join('\n'))
  const refused = await backfill(address, file, '--json')
  t.equal(refused.code, 1)
  t.match(refused.rows(), [{ stored: 1, refused: 7 }])
  t.match(refused.stderr, /bad\.ndjson:2: tx_index/)
  t.match(refused.stderr, /bad\.ndjson:3: pre_raw: must be base units/)
  t.match(refused.stderr, /7 rows are refused, so that the history stays a gap/)

  const semicolons = join(directory, 'semicolons.csv')
  writeFileSync(semicolons, csv(exported(single)).replaceAll(',', ';'))
  await t.rejects(backfill(address, semicolons), /separated by commas/)
  t.match(await backfill(address, join(directory, 'none.ndjson')), { code: 2, stderr: /does not exist/ })
  writeFileSync(join(directory, 'text.txt'), 'x')
  t.match(await backfill(address, join(directory, 'text.txt')), {
    code: 2,
    stderr: /no \.ndjson or \.csv file/
  })
  mkdirSync(join(directory, 'empty'))
  await t.rejects(backfill(address, join(directory, 'empty')), /no recorded block/)
  t.match(await backfill(address), { code: 2, stderr: /--since/ })
  t.match(await backfill(), { code: 2 })
  t.match(await backfill(address, file, '--since', '2026-08-01'), { code: 2, stderr: /is a slot/ })
})
