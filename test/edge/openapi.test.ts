import { Validator } from '@seriousme/openapi-schema-validator'
import t from 'tap'
import { EXAMPLE_WATCHED } from '../../src/edge/routes/example-values.ts'
import { errorsOf } from '../../src/kernel/compose/product.ts'
import type { JsonSchema } from '../../src/kernel/http/json-schemas.ts'
import { PRODUCTS } from '../products/loaded-products.ts'
import { marketApp } from '../http/market-app.ts'

/** Routes that document the API, and the stream, which has its own document. */
const NOT_OF_THE_API = [
  '/',
  '/page/:version/*',
  '/docs',
  '/docs/:file',
  '/docs/demo-key',
  '/openapi.json',
  '/asyncapi.json',
  '/openrpc.json',
  '/v1/stream',
  '/problems',
  '/problems/:name'
].map((path) => `GET ${path}`)

async function served(t: Parameters<typeof marketApp>[0]) {
  const app = await marketApp(t)
  const routes: string[] = []
  app.app.addHook('onRoute', ({ url, method }) => {
    for (const one of [method].flat()) if (one !== 'HEAD') routes.push(`${one} ${url}`)
  })
  const answer = await app.get('/openapi.json', {})
  return { app, routes, answer, document: JSON.parse(answer.text) as Record<string, JsonSchema> }
}

/** Yields every nested schema of a schema, with its path. */
function* schemasIn(schema: unknown, path: string): Generator<[path: string, schema: JsonSchema]> {
  if (typeof schema !== 'object' || schema === null) return
  yield [path, schema as JsonSchema]
  const { properties = {}, items, anyOf = [] } = schema as Record<string, object>
  for (const [name, property] of Object.entries(properties)) yield* schemasIn(property, `${path}.${name}`)
  yield* schemasIn(items, `${path}[]`)
  for (const [index, one] of Object.entries(anyOf)) yield* schemasIn(one, `${path}|${index}`)
}

t.test('the document is valid OpenAPI 3.1, open to all, and kept by clients until it changes', async (t) => {
  const { app, answer, document } = await served(t)
  const { valid, errors } = await new Validator().validate(structuredClone(document))
  t.equal(valid, true, JSON.stringify(errors)?.slice(0, 2000))
  t.equal(document.openapi, '3.1.0')
  t.equal(answer.status, 200)
  const again = await app.get('/openapi.json', { 'if-none-match': String(answer.headers.etag) })
  t.equal(again.status, 304)
})

t.test('every route of the API is in the document, and only what is served', async (t) => {
  const { app, routes, document } = await served(t)
  const documented = Object.entries(document.paths!).flatMap(([path, methods]) =>
    Object.keys(methods as object).map((method) => `${method.toUpperCase()} ${path}`)
  )
  const declared = app.app.served.map(({ endpoint }) => `${endpoint.method} ${endpoint.path}`)
  t.strictSame(documented.toSorted(), declared.toSorted())
  t.equal(new Set(declared).size, declared.length)
  const ofTheApi = routes.filter((route) => !NOT_OF_THE_API.includes(route))
  t.strictSame(ofTheApi.map((route) => route.replaceAll(/:(\w+)/g, '{$1}')).toSorted(), documented.toSorted())
  t.ok(documented.length >= 18)
})

t.test('no schema has a form that generators of clients do not read', async (t) => {
  const { document } = await served(t)
  const found: string[] = []
  const look = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) return
    const { type, items } = value as Record<string, unknown>
    if (items === false) found.push(`${path}: a tuple that items: false closes`)
    if (Array.isArray(type) && type.filter((one) => one !== 'null').length > 1)
      found.push(`${path}: several types`)
    for (const [name, inner] of Object.entries(value)) look(inner, `${path}.${name}`)
  }
  look(document, '')
  t.same(found, [])
  t.match(JSON.stringify(document), '"prefixItems"', 'there is a tuple')
})

t.test('JSON-RPC states that a body of notifications alone is answered 204, without a body', async (t) => {
  const { app, document } = await served(t)
  const { post } = (document.paths as Record<string, { post: { responses: Record<string, JsonSchema> } }>)[
    '/v1/rpc'
  ]!
  t.match(Object.keys(post.responses), ['200', '204'])
  t.match(post.responses['204'], { description: String })
  t.notOk('content' in post.responses['204']!)
  const key = await app.makeKey(['rpc:read'])
  const headers = { 'x-api-key': key, 'content-type': 'application/json' }
  const slot = '{"jsonrpc":"2.0","method":"getSlot"}'
  for (const body of [slot, `[${slot},${slot}]`]) {
    const answer = await app.ask('POST', '/v1/rpc', headers, body)
    t.match([answer.status, answer.text], [204, ''])
  }
})

t.test('every operation has its own id, a tag that is explained, a summary and an example', async (t) => {
  const { app, document } = await served(t)
  const tags = (document.tags as unknown as { name: string }[]).map(({ name }) => name)
  const ids = new Set<string>()
  for (const [path, methods] of Object.entries(document.paths!)) {
    for (const [method, operation] of Object.entries(methods as Record<string, JsonSchema>)) {
      const { operationId, summary, description, responses } = operation as Record<string, string>
      t.notOk(ids.has(operationId!), `one ${operationId}`)
      ids.add(operationId!)
      t.ok(tags.includes(String((operation.tags as string[])[0])), `${path}: ${String(operation.tags)}`)
      t.ok(summary!.length > 0 && description!.length > 0, `${method} ${path}`)
      t.ok(Object.keys(responses!).includes('400'), path)
    }
  }
  for (const { endpoint } of app.app.served)
    t.ok(endpoint.examples.length > 0, `${endpoint.path} has an example`)
})

t.test('every parameter and every field of an answer is described', async (t) => {
  const { document } = await served(t)
  const silent: string[] = []
  const isNamed = (schema: JsonSchema): boolean =>
    schema.$ref !== undefined || schema.description !== undefined
  const { schemas } = document.components as unknown as { schemas: Record<string, JsonSchema> }
  const look = (name: string, schema: unknown): void => {
    for (const [path, part] of schemasIn(schema, name)) {
      for (const [field, property] of Object.entries((part.properties ?? {}) as Record<string, JsonSchema>)) {
        const isList = property.type === 'array' && isNamed(property.items as JsonSchema)
        const hasNamed = ((property.anyOf ?? []) as JsonSchema[]).some(isNamed)
        if (!isNamed(property) && !isList && !hasNamed && property.properties === undefined)
          silent.push(`${path}.${field}`)
      }
    }
  }
  for (const [name, schema] of Object.entries(schemas)) look(name, schema)
  for (const [path, methods] of Object.entries(document.paths!)) {
    for (const operation of Object.values(methods as Record<string, JsonSchema>)) {
      for (const parameter of (operation.parameters ?? []) as JsonSchema[]) {
        if (parameter.description === undefined) silent.push(`${path} ${String(parameter.name)}`)
      }
      const answer = (
        operation.responses as Record<string, { content?: Record<string, { schema: unknown }> }>
      )['200']
      look(path, answer?.content?.['application/json']?.schema)
    }
  }
  t.strictSame(silent, [])
})

t.test('a number in a query is documented as the number that its text stands for', async (t) => {
  const { document } = await served(t)
  const trades = (document.paths!['/v1/tokens/{mint}/trades'] as { get: { parameters: { name: string }[] } })
    .get
  t.match(
    trades.parameters.find(({ name }) => name === 'limit'),
    { in: 'query', required: false, schema: { type: 'integer', minimum: 1, maximum: 1000, default: 100 } }
  )
  t.match(
    trades.parameters.find(({ name }) => name === 'min_usd'),
    { in: 'query', required: false, schema: { type: 'number', minimum: 0 } }
  )
  t.match(
    trades.parameters.find(({ name }) => name === 'mint'),
    { in: 'path', required: true, schema: { type: 'string', format: 'solana-address', pattern: String } }
  )
})

t.test('a body says that it takes no other fields, as its reader refuses them', async (t) => {
  const { app, document } = await served(t)
  const bodies = Object.entries(document.paths!).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, { requestBody?: JsonSchema }>).flatMap(
      ([method, { requestBody }]) => {
        const content = requestBody?.content as Record<string, { schema: JsonSchema }> | undefined
        // JSON-RPC has its own errors, and takes what its methods take. A watch ignores other fields.
        if (content === undefined || ['/v1/rpc', '/v1/revenue/accounts'].includes(path)) return []
        return [{ path, method, schema: content['application/json']!.schema }]
      }
    )
  )
  t.ok(bodies.length >= 3)
  const key = await app.makeKey(['admin', 'webhooks', 'tx:send', 'revenue'])
  for (const { path, method, schema } of bodies) {
    t.equal(schema.additionalProperties, false, path)
    const { status, body } = await app.ask(
      method.toUpperCase(),
      path
        .replace('{id}', path.includes('webhooks') ? '7' : '6f1f8d3e-6c7a-4a83-9d3b-2f7f1a0c9b11')
        .replace('{address}', EXAMPLE_WATCHED),
      { 'x-api-key': key, 'content-type': 'application/json' },
      JSON.stringify({ stranger: 1 })
    )
    t.equal(status, 400, path)
    t.match(JSON.stringify(body), /stranger is not a parameter|"field":"stranger"/)
  }
})

t.test('every error of the service is documented where it can be met', async (t) => {
  const { app, document } = await served(t)
  const { responses } = document.components as unknown as {
    responses: Record<string, { description: string }>
  }
  const described = Object.values(responses)
    .map(({ description }) => description)
    .join('\n')
  // These problems answer requests without an operation.
  const elsewhere = ['unknown_route', 'method_not_allowed', 'not_served_here']
  const { text } = await app.get('/asyncapi.json', {})
  for (const { code } of errorsOf(PRODUCTS)) {
    if (!elsewhere.includes(code)) t.ok(`${described}${text}`.includes(`\`${code}\``), code)
  }
})
