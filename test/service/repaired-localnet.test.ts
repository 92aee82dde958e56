import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { WSOL } from '../../src/market/cash.ts'
import { reportDamage } from '../../storage/embedded/repair/report.ts'
import { filesOf, settle, zero } from '../storage/damaged-store.ts'
import { ownDirectory } from '../own-directory.ts'
import { until } from './asking.ts'
import { startBusyLocalnetProcess, startLocalnetProcess } from './localnet-process.ts'
import { runMillrace, type ServiceProcess } from './service-process.ts'

const SLOTS = 60

const slotOf = async (service: ServiceProcess): Promise<number> =>
  Number((await service.get('/v1/health', null)).body['slot'] ?? -1)

/** Returns signatures and cursors of all trades of wrapped SOL up to a slot, oldest first. */
async function tradesUpTo(service: ServiceProcess, slot: number): Promise<string[]> {
  const found: string[] = []
  for (let after = ''; ;) {
    const { body } = await service.get(`/v1/tokens/${WSOL}/trades?order=asc&limit=1000${after}`)
    for (const row of body.data)
      if (Number(row['slot']) <= slot)
        found.push(`${Number(row['cursor'])} ${String(row['signature'])} ${Number(row['price_usd'])}`)
    if (typeof body['nextCursor'] !== 'string') return found
    after = `&after=${body['nextCursor']}`
  }
}

t.test('a store of a node that is repaired from its source has every block that the node has', async (t) => {
  const dataDir = ownDirectory(t)
  const first = await startBusyLocalnetProcess(t, dataDir, ['--localnet-slot-ms', '100'])
  await until(async () => (await slotOf(first)) >= SLOTS, `slot ${SLOTS} is indexed`)
  const slot = await slotOf(first)
  const trades = await tradesUpTo(first, slot)
  t.ok(trades.length > 100, `${trades.length} trades`)
  await first.end('SIGTERM')
  const store = join(dataDir, 'store')
  await settle(store)
  const [file] = filesOf(store, /\.ldb$/)
  zero(join(store, file!), Math.floor(statSync(join(store, file!)).size / 2))

  const repaired = await runMillrace(['repair', '--from-source', '--data-dir', dataDir])
  t.match(repaired, { code: 0, signal: null }, repaired.stderr)
  t.match(repaired.stdout, new RegExp(`damaged: .*${file!}`))
  const again = await startLocalnetProcess(t, dataDir, ['--localnet-slot-ms', '100'])
  await until(async () => (await slotOf(again)) > slot, 'all is indexed again')
  t.strictSame(await tradesUpTo(again, slot), trades, 'the same trades at the same cursors and prices')
  t.match((await again.get('/v1/admin/coverage')).body, { gaps: [] })
  t.match((await again.get('/v1/health', null)).body, { status: 'ok' })
  await again.end('SIGTERM')
  t.match(await runMillrace(['verify', '--data-dir', dataDir]), { code: 0 }, 'verify finds no difference')
})

/** Damages a block of the engine that holds pool events and no other records. */
async function losePoolEvents(store: string): Promise<void> {
  for (const file of filesOf(store, /\.ldb$/)) {
    const path = join(store, file)
    const bytes = readFileSync(path)
    // A block of the engine has about 17,000 bytes.
    for (let offset = 4_000; offset < bytes.length; offset += 8_000) {
      zero(path, offset, 100)
      const { damage = [] } = (await reportDamage(store)) ?? {}
      const kinds = damage.flatMap(({ mayHaveHeld }) => mayHaveHeld.map(({ kind }) => kind))
      if (kinds.join() === 'pool events') return
      writeFileSync(path, bytes)
    }
  }
  throw new Error('no block of the engine holds pool events alone')
}

t.test('a repaired store reads its lost blocks again from the node by itself', async (t) => {
  const dataDir = ownDirectory(t)
  // The market's past is long enough for whole blocks of pool events.
  const first = await startLocalnetProcess(t, dataDir, ['--localnet-slot-ms', '100'])
  const slot = await slotOf(first)
  const trades = await tradesUpTo(first, slot)
  await first.end('SIGTERM')
  const store = join(dataDir, 'store')
  await settle(store)
  await losePoolEvents(store)

  const repaired = await runMillrace(['repair', '--data-dir', dataDir])
  t.match(repaired, { code: 1, signal: null }, repaired.stderr)
  t.match(repaired.stdout, /lost: some /)
  const again = await startLocalnetProcess(t, dataDir, ['--localnet-slot-ms', '100'])
  await until(async () => (await slotOf(again)) > slot, 'ingest goes on')
  const isSaid = (line: string): boolean =>
    /the records that a repair lost are rebuilt; [1-9]\d* blocks were reread/.test(line)
  await until(async () => again.stderr.some(isSaid), 'blocks are read again')
  t.strictSame(await tradesUpTo(again, slot), trades, 'the same trades at the same cursors and prices')
  t.match((await again.get('/v1/admin/coverage')).body, { gaps: [] })
  t.match((await again.get('/v1/health', null)).body, { status: 'ok' })
  await again.end('SIGTERM')
  t.match(await runMillrace(['verify', '--data-dir', dataDir]), { code: 0 }, 'verify finds no difference')
})
