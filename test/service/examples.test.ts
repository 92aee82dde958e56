import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { EXAMPLE_PROGRAM, EXAMPLE_TRANSACTION } from '../../src/edge/routes/example-values.ts'
import { until } from '../until.ts'
import { startLocalnetProcess, type LocalnetProcess } from './localnet-process.ts'
import { ADMIN_KEY } from './service-process.ts'
import { ownDirectory } from '../own-directory.ts'

/** Tags of endpoints that show data of the key's tenant. */
const TENANT_TAGS = ['Webhooks', 'Transactions', 'Revenue']

/**
 * Candles of an example that make a chart. The localnet's past alone gives each of them twenty or so, so the number does not
 * depend on how many slots the machine has made since.
 */
const CANDLES_MIN = 10

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly examples?: Readonly<Record<string, { readonly value: string | number }>>
}

interface Operation {
  readonly tags: readonly string[]
  readonly parameters?: readonly Parameter[]
}

interface WatchOperation {
  readonly requestBody: {
    readonly content: {
      readonly 'application/json': {
        readonly examples: Readonly<Record<string, { readonly value: unknown }>>
      }
    }
  }
}

/** Returns the paths of an operation's examples; one without parameters has a single path. */
function askedBy(path: string, { parameters = [] }: Operation): string[] {
  const names = new Set(parameters.flatMap(({ examples = {} }) => Object.keys(examples)))
  return [...(names.size === 0 ? [''] : names)].map((name) => {
    const given = parameters.flatMap((parameter) => {
      const value = parameter.examples?.[name]?.value
      return value === undefined ? [] : [{ ...parameter, value: String(value) }]
    })
    const filled = given
      .filter((parameter) => parameter.in === 'path')
      .reduce((text, parameter) => text.replace(`{${parameter.name}}`, parameter.value), path)
    const query = given.filter((parameter) => parameter.in === 'query')
    const search = new URLSearchParams(query.map((parameter) => [parameter.name, parameter.value]))
    return query.length === 0 ? filled : `${filled}?${search.toString()}`
  })
}

/** Makes a webhook of the key's tenant, with an attempt in its list. */
async function makeWebhook(t: Test, serviceUrl: string, key: string): Promise<void> {
  const receiver = createServer((request, response) =>
    request.resume().on('end', () => response.writeHead(204).end())
  ).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  t.teardown(() => receiver.close())
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  const post = async (path: string, body: object): Promise<Readonly<Record<string, unknown>>> => {
    const response = await fetch(serviceUrl + path, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify(body)
    })
    return (await response.json()) as Readonly<Record<string, unknown>>
  }
  const { id } = await post('/v1/webhooks', { url, channels: ['launches'] })
  t.match(await post(`/v1/webhooks/${String(id)}/test`, {}), { delivered: true, status_code: 204 })
}

/** Poll interval in milliseconds: a scan costs ten calls of the key's 600 a minute. */
const pollIntervalMs = (): number => 1_000

/** Submits a transaction of the key's tenant, so that its list has one. */
async function submitTransaction(serviceUrl: string, key: string): Promise<void> {
  const response = await fetch(`${serviceUrl}/v1/tx/send`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ tx: EXAMPLE_TRANSACTION })
  })
  if (response.status !== 200) throw new Error(await response.text())
}

/** Has a program mirrored, and waits for its first snapshot. */
async function mirrorProgram(service: LocalnetProcess, program: string): Promise<void> {
  const response = await fetch(`${service.url}/v1/admin/programs`, {
    method: 'POST',
    headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ program })
  })
  if (response.status !== 201) throw new Error(await response.text())
  await until(
    async () => (await service.get(`/v1/programs/${program}/accounts`)).status === 200,
    'the program is mirrored',
    pollIntervalMs
  )
}

/** Watches the trader of the document's example for the key's tenant, and waits for a row of its ledger. */
async function watchTrader(service: LocalnetProcess, key: string): Promise<void> {
  const { body } = await service.get('/openapi.json', null)
  const { post } = (body.paths as Readonly<Record<string, { readonly post: WatchOperation }>>)[
    '/v1/revenue/accounts'
  ]!
  const [example] = Object.values(post.requestBody.content['application/json'].examples)
  const response = await fetch(`${service.url}/v1/revenue/accounts`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(example!.value)
  })
  if (response.status !== 201) throw new Error(await response.text())
  await until(
    async () => (await service.get('/v1/revenue/events', key)).body.data.length > 0,
    'the ledger has a row',
    pollIntervalMs
  )
}

t.test('a started localnet', async (t) => {
  const service = await startLocalnetProcess(t, ownDirectory(t), [
    ...['--localnet-slot-ms', '200'],
    ...['--allow-private-webhooks', 'true']
  ])
  t.test('each example of the document has an answer, and none is empty', async (t) => {
    const demoKey = service.stdout.map((line) => /^demo key.* (\S+)$/.exec(line)?.[1]).find(Boolean)
    await makeWebhook(t, service.url, demoKey!)
    await submitTransaction(service.url, demoKey!)
    await watchTrader(service, demoKey!)
    await mirrorProgram(service, EXAMPLE_PROGRAM)
    const document = (await service.get('/openapi.json', null)).body as unknown as {
      readonly paths: Readonly<Record<string, { readonly get?: Operation }>>
    }
    let asked = 0
    for (const [path, { get }] of Object.entries(document.paths)) {
      if (get === undefined || path === '/metrics') continue
      for (const url of askedBy(path, get)) {
        // The webhook, the transactions and the watched address are of the demo tenant.
        const { status, body } = await service.get(
          url,
          get.tags.some((tag) => TENANT_TAGS.includes(tag)) ? demoKey : undefined
        )
        asked++
        // Nothing is fetched from elsewhere unless the operator allows it.
        if (path.endsWith('/image')) {
          t.equal(status, 501, url)
          continue
        }
        t.equal(status, 200, url)
        // Lists for operators, such as damage, may be empty.
        if (get.tags.includes('Administration') || !Array.isArray(body.data)) continue
        t.ok(body.data.length > 0, `${url} has data`)
        if (path.endsWith('/candles'))
          t.ok(body.data.length >= CANDLES_MIN, `${url}: ${body.data.length} make a chart`)
      }
    }
    t.ok(asked > 20, `${asked} were asked`)
  })

  t.test('wrapped SOL, USDC and USDT are answered by every view of a token', async (t) => {
    const CASH = [
      ['So11111111111111111111111111111111111111112', 'SOL'],
      ['EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', 'USDC'],
      ['Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB', 'USDT']
    ] as const
    for (const [mint, symbol] of CASH) {
      const token = await service.get(`/v1/tokens/${mint}`)
      t.match([token.status, token.body], [200, { symbol }])
      for (const view of ['price', 'trades', 'pools', 'candles'])
        t.equal((await service.get(`/v1/tokens/${mint}/${view}`)).status, 200, `${symbol} ${view}`)
    }
  })
})
