import { join } from 'node:path'
import t from 'tap'
import { testWithFixtures } from '../fixtures.ts'
import { linesWith, metricOf, until } from './asking.ts'
import { recordedBlocks, writeLines } from './recorded-folder.ts'
import { ADMIN_KEY, runMillrace, startProcess, type ServiceProcess } from './service-process.ts'

const BLOCKS = 3

/** Creates a webhook whose URL is refused by the checks of a service that delivers. */
async function addWebhook(service: ServiceProcess) {
  const response = await fetch(`${service.url}/v1/webhooks`, {
    method: 'POST',
    headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ url: 'https://127.0.0.1/hook', channels: ['launches'] })
  })
  return { status: response.status, body: (await response.json()) as { readonly code: string } }
}

testWithFixtures(t, 'the only process of an embedded store', (t) => {
  const directory = t.testdir({ blocks: {} })
  const recordedDir = join(directory, 'blocks')
  writeLines(recordedDir, 'all.ndjson', recordedBlocks(BLOCKS))
  const start = async (name: string, ...more: readonly string[]): Promise<ServiceProcess> => {
    const service = await startProcess({ dataDir: join(directory, name), recordedDir, more })
    t.teardown(async () => {
      if (service.child.exitCode === null) await service.end('SIGKILL')
    })
    return service
  }

  void t.test(
    'without the role delivery: it refuses webhooks from its first moment, and says why',
    async (t) => {
      const service = await start('apart', '--role', 'ingest,gateway')
      t.match(await addWebhook(service), {
        status: 503,
        body: { code: 'role_missing', role: 'delivery', detail: /no other can open the embedded store/ }
      })
      const { body } = await service.get('/v1/health', null)
      const reasons = body['reasons'] as readonly { readonly code: string; readonly detail: string }[]
      t.match(reasons.find(({ code }) => code === 'role_missing')?.detail, /: delivery$/)
      t.equal(await metricOf(service, 'millrace_role_missing{role="delivery"}'), 1)
      t.equal(await metricOf(service, 'millrace_fleet_processes{role="gateway"}'), 1)
      t.equal(linesWith(service, 'no process has the role delivery'), 1)
      t.equal((await service.get('/v1/launches')).status, 200)
      const listed = await runMillrace(['fleet', '--json', '--url', service.url, '--key', ADMIN_KEY])
      t.match(JSON.parse(listed.stdout), { is_this: true, roles: ['ingest', 'gateway'] })
      t.match(await service.end('SIGTERM'), { code: 0 })
    }
  )

  void t.test('with all roles: no request is ever refused for one', async (t) => {
    const service = await start('whole')
    t.match(await addWebhook(service), { status: 422, body: { code: 'url_not_allowed' } })
    t.equal(await metricOf(service, 'millrace_role_missing{role="delivery"}'), 0)
    await until(
      async () => (await metricOf(service, 'millrace_shards_held{product="webhooks"}')) === 32,
      'its shards'
    )
    t.match(await service.end('SIGTERM'), { code: 0 })
  })
})
