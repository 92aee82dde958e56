import { join } from 'node:path'
import t from 'tap'
import WebSocket from 'ws'
import { testWithFixtures } from '../fixtures.ts'
import { recordedBlocks, writeLines } from './recorded-folder.ts'
import { ADMIN_KEY, runMillrace, startProcess } from './service-process.ts'

/** Returns the status by which a service refuses a WebSocket. */
async function refusalOf(url: string): Promise<number | undefined> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/stream?key=${ADMIN_KEY}`)
  return new Promise((resolve) => {
    socket.on('unexpected-response', (_request, response) => resolve(response.statusCode))
    socket.on('open', () => resolve(undefined))
    socket.on('error', () => undefined)
  })
}

testWithFixtures(t, 'a gateway for some products', (t) => {
  void t.test('it serves these, refuses the others, and holds none of their data', async (t) => {
    const directory = t.testdir({ blocks: {} })
    const recordedDir = join(directory, 'blocks')
    writeLines(recordedDir, 'all.ndjson', recordedBlocks(2))
    const dataDir = join(directory, 'store')
    const service = await startProcess({ dataDir, recordedDir, more: ['--products', 'rpc,transactions'] })
    t.teardown(async () => {
      if (service.child.exitCode === null) await service.end('SIGKILL')
    })
    await service.said(/the source has no more blocks/)
    for (const path of [
      '/v1/launches',
      '/v1/trending',
      '/v1/search?q=usd',
      '/v1/stream/health',
      '/v1/coverage'
    ])
      t.match(await service.get(path), {
        status: 503,
        body: { code: 'not_served_here', detail: /its products: rpc, transactions/ }
      })
    t.equal((await service.get('/v1/revenue/accounts')).status, 200, 'ingest has the ledger')
    t.equal((await service.get('/v1/nothing')).status, 404)
    t.equal((await service.get('/v1/priority-fees')).status, 200)
    t.equal((await service.get('/v1/me')).status, 200)
    t.equal((await service.get('/ready', null)).status, 200, 'no index is waited for')
    t.equal(await refusalOf(service.url), 503)
    const { body } = await service.get('/v1/admin/tree')
    const units = body.children.map(({ name }) => name)
    t.ok(units.includes('rpc'))
    for (const absent of ['views', 'stream', 'archive']) t.notOk(units.includes(absent), absent)
    const listed = await runMillrace(['fleet', '--json', '--url', service.url, '--key', ADMIN_KEY])
    t.match(JSON.parse(listed.stdout), { is_this: true, products: ['rpc', 'transactions'] })
    t.match(await service.end('SIGTERM'), { code: 0 })
  })

  void t.test('a list that lacks a needed product does not start, and the line names it', async (t) => {
    const dataDir = t.testdir()
    const { code, stderr } = await runMillrace(['serve', '--data-dir', dataDir, '--products', 'holders,rpc'])
    t.equal(code, 2)
    t.equal(
      stderr,
      'millrace: MILLRACE_PRODUCTS=holders,rpc lists holders, which needs accounts; list it too, or leave out holders\n'
    )
  })
  t.end()
})
