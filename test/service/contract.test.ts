import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import type { JsonSchema } from '../../src/kernel/http/json-schemas.ts'
import { fixturesDirectory, testWithFixtures } from '../fixtures.ts'
import { Contract, closed, type ShownRequest } from '../http/contract.ts'
import { ADMIN_KEY, startProcess } from './service-process.ts'

const HEADERS = { 'x-api-key': ADMIN_KEY }
/** The path of a webhook in the document's examples. */
const SHOWN_WEBHOOK = /(?<=^\/v1\/webhooks\/)\d+/
/** The watched address in the path or the query of an example. */
const SHOWN_WATCHED = /^\/v1\/revenue\/.*?([1-9A-HJ-NP-Za-km-z]{32,44})/
const NATIVE_LOADER = 'NativeLoader1111111111111111111111111111111'
/** An id in the document's examples is replaced by one that the service returned. */
const SHOWN_ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/

testWithFixtures(
  t,
  'every request that the document shows succeeds on recorded data, with an answer that the document describes',
  async (t) => {
    const receiver = createServer((request, response) =>
      request.resume().on('end', () => response.writeHead(204).end())
    ).listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    t.teardown(() => receiver.close())
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
    const service = await startProcess({
      dataDir: t.testdir(),
      recordedDir: fixturesDirectory(),
      environment: { MILLRACE_ALLOW_PRIVATE_WEBHOOKS: 'true' }
    })
    t.teardown(() => service.end('SIGTERM'))
    await service.said(/the source has no more blocks/)
    const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as JsonSchema
    const contract = new Contract(closed(document))

    const make = async (path: string, body: object) => {
      const response = await fetch(service.url + path, {
        method: 'POST',
        headers: { ...HEADERS, 'content-type': 'application/json' },
        body: JSON.stringify(body)
      })
      return (await response.json()) as { id: string | number }
    }
    const remove = (id: string | number) =>
      fetch(`${service.url}/v1/webhooks/${id}`, { method: 'DELETE', headers: HEADERS })
    /** Makes a webhook with an attempt in its list. */
    const makeWebhook = async () => {
      const { id } = await make('/v1/webhooks', { url, channels: ['launches'] })
      await make(`/v1/webhooks/${id}/test`, {})
      return id
    }
    // If the tenant exists already, this has no effect.
    await make('/v1/admin/tenants', { name: 'demo' })
    await make('/v1/admin/programs', { program: NATIVE_LOADER })

    /**
     * Sends an example request. An id is replaced by that of a key or a webhook that was just created, and the receiver's
     * URL by one of this machine. An address of a ledger is watched before.
     */
    const ask = async ({ method, path, body: shown }: ShownRequest) => {
      const { id } = SHOWN_ID.test(path) ? await make('/v1/admin/keys', { tenant: 'demo' }) : { id: '' }
      const webhook = SHOWN_WEBHOOK.test(path) ? await makeWebhook() : null
      const asked = path.replace(SHOWN_ID, String(id)).replace(SHOWN_WEBHOOK, String(webhook))
      const [, watched] = SHOWN_WATCHED.exec(path) ?? []
      if (watched !== undefined) await make('/v1/revenue/accounts', { address: watched })
      const body = hasUrl(shown) ? { ...shown, url } : shown
      const response = await fetch(service.url + asked, {
        method,
        headers: { ...HEADERS, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
      const text = await response.text()
      if (webhook !== null) await remove(webhook)
      return {
        method,
        path: asked,
        status: response.status,
        headers: Object.fromEntries(response.headers),
        text
      }
    }

    const asked = new Set<string>()
    for (const request of contract.shown) {
      asked.add(request.operationId)
      const exchange = await ask(request)
      // Recorded data is old, and health reports that. Without a node no program is mirrored and no RPC request answered.
      const succeeded =
        exchange.status < 300 ||
        request.path.endsWith('/health') ||
        /^\/v1\/(programs\/|rpc$|admin\/nodes\/)/.test(request.path)
      t.ok(succeeded, `${request.method} ${request.path}: ${exchange.text.slice(0, 200)}`)
      t.equal(contract.breach(exchange), null, `${request.method} ${request.path}`)
      // A ledger begins when its address is watched, and here no block comes after that.
      if (
        exchange.text.startsWith('{"tenant"') &&
        !/^\/v1\/(revenue\/events|admin\/nodes)/.test(request.path)
      ) {
        const { data } = JSON.parse(exchange.text) as { data?: unknown[] }
        t.not(data?.length, 0, `${request.path} shows something`)
      }
    }
    t.strictSame([...asked].toSorted(), contract.operationIds.toSorted())
  }
)

function hasUrl(body: unknown): body is { readonly url: string } {
  return typeof body === 'object' && body !== null && 'url' in body
}

t.test('an answer with a field more, a field less or another status is a breach', async (t) => {
  const answer = {
    type: 'object',
    properties: { a: { type: 'integer' } },
    required: ['a']
  }
  const contract = new Contract(
    closed({
      openapi: '3.1.0',
      paths: {
        '/v1/x/{id}': {
          get: {
            operationId: 'x',
            responses: {
              200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/X' } } } },
              304: { description: 'as before' }
            }
          }
        }
      },
      components: { schemas: { X: answer }, responses: {} }
    })
  )
  const breach = (status: number, text: string, path = '/v1/x/1?y=2') =>
    contract.breach({
      method: 'GET',
      path,
      status,
      headers: { 'content-type': 'application/json; charset=utf-8' },
      text
    })
  t.equal(breach(200, '{"a":1}'), null)
  t.equal(breach(304, ''), null)
  t.match(breach(304, 'x'), /body/)
  t.match(breach(200, '{"a":1,"b":2}'), /additional/)
  t.match(breach(200, '{}'), /required/)
  t.match(breach(200, '{"a":"1"}'), /integer/)
  t.match(breach(404, '{}'), /404 is not documented/)
  t.match(breach(200, '{}', '/v1/y'), /200 where nothing is/)
})
