import { join } from 'node:path'
import { once } from 'node:events'
import t from 'tap'
import WebSocket from 'ws'
import { WSOL } from '../../src/market/cash.ts'
import { openMarket, recordMarket } from '../actors/ingest/market-blocks.ts'
import { stretched } from '../storage/swept-market.ts'
import { ownDirectory } from '../own-directory.ts'
import { until } from './asking.ts'
import { ADMIN_KEY, runMillrace, startProcess, type ServiceProcess } from './service-process.ts'

/** Seconds a block, so that the market takes three days. */
const SECONDS_A_BLOCK = 3_700

type Row = Readonly<Record<string, unknown>>

/** Returns all rows of a list, newest first, by pages of 100. */
async function rowsOf(service: ServiceProcess, path: string): Promise<Row[]> {
  const rows: Row[] = []
  for (let after = ''; ;) {
    const { status, body } = await service.get(`${path}?limit=100${after}`)
    if (status !== 200) throw new Error(JSON.stringify(body))
    rows.push(...body.data)
    if (typeof body['nextCursor'] !== 'string') return rows
    after = `&after=${body['nextCursor']}`
  }
}

/** Returns the first messages of a stream of launches that requests everything since the first slot. */
async function warningOf(service: ServiceProcess): Promise<Row> {
  const socket = new WebSocket(`${service.url.replace('http', 'ws')}/v1/stream?key=${ADMIN_KEY}`)
  await once(socket, 'open')
  const warned = new Promise<Row>((resolve) =>
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as Row
      if (['warning', 'replay_complete', 'event'].includes(String(message['type']))) resolve(message)
    })
  )
  socket.send(JSON.stringify({ subscribe: ['launches'], since: 1 }))
  const message = await warned
  socket.terminate()
  return message
}

t.test('rows past the retention are gone from every list, also after a kill within the sweep', async (t) => {
  const directory = ownDirectory(t)
  const [recordedDir, dataDir] = [join(directory, 'blocks'), join(directory, 'data')]
  const market = await openMarket('a market that a service sweeps', 70)
  const blocks = stretched(market.blocks, SECONDS_A_BLOCK)
  await recordMarket(recordedDir, market.url, blocks)
  await market.close()
  const start = async (): Promise<ServiceProcess> => {
    const more = ['--retention-days', '1', '--rate-limit-per-minute', '100000']
    const service = await startProcess({ dataDir, recordedDir, more })
    t.teardown(() => void service.child.kill('SIGKILL'))
    return service
  }
  const rowsFrom = async (service: ServiceProcess) =>
    (await service.get('/v1/admin/coverage')).body['rows_from'] as { slot: number; ts_ms: number } | null

  const first = await start()
  await first.said(/the source has no more blocks/)
  const trades = await rowsOf(first, `/v1/tokens/${WSOL}/trades`)
  const wallet = String(trades.at(-1)!['trader'])
  const walletTrades = await rowsOf(first, `/v1/wallets/${wallet}/trades`)
  const candles = (await first.get(`/v1/tokens/${WSOL}/candles?interval=1d&limit=100`)).body
  await first.end('SIGTERM')

  const second = await start()
  const horizon = await until(() => rowsFrom(second), 'the horizon is set')
  t.match(await second.end('SIGKILL'), { signal: 'SIGKILL' }, 'within the sweep')

  const third = await start()
  t.strictSame(await rowsFrom(third), horizon)
  const isRetained = (row: Row): boolean => Number(row['slot']) >= horizon.slot
  const kept = trades.filter(isRetained)
  t.strictSame(await rowsOf(third, `/v1/tokens/${WSOL}/trades`), kept, 'pages end at the horizon')
  t.ok(kept.length > 0 && kept.length < trades.length / 2, `${kept.length} of ${trades.length} trades`)
  t.strictSame(await rowsOf(third, `/v1/wallets/${wallet}/trades`), walletTrades.filter(isRetained))
  t.notOk(walletTrades.every(isRetained))
  t.strictSame((await third.get(`/v1/tokens/${WSOL}/candles?interval=1d&limit=100`)).body, candles)
  t.match(await warningOf(third), {
    type: 'warning',
    code: 'beyond_replay_horizon',
    since: 1,
    horizon: Number
  })
  t.match(await third.end('SIGTERM'), { code: 0 })

  const range = `${blocks[0]!.slot}..${blocks.at(-1)!.slot}`
  const [store, rows] = await Promise.all([
    runMillrace(['verify', '--store', '--data-dir', dataDir]),
    runMillrace(['verify', '--data-dir', dataDir])
  ])
  t.match([store, rows], [{ code: 0 }, { code: 0, stdout: '' }])
  const ranged = await runMillrace(['verify', range, '--recorded-dir', recordedDir, '--data-dir', dataDir])
  t.match(ranged, { code: 0, stdout: '', stderr: /are past the retention/ })
})
