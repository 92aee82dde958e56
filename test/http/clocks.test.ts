import t from 'tap'
import { CLOCKS } from '../../src/kernel/http/schema.ts'
import type { JsonSchema } from '../../src/kernel/http/json-schemas.ts'
import { marketApp } from './market-app.ts'

/** Names of fields that hold a time. */
const MOMENT =
  /^(ts|ts_ms|price_ts|block_time|at|minute|source_minute|server_time_ms|resets_at|.*_at|.*_at_ms)$/

interface Field {
  readonly path: string
  readonly name: string
  readonly description: string
  /** Names of the fields of this object. */
  readonly beside: readonly string[]
}

/** Yields every field of a document that holds a time, except those that are always null. */
function* moments(node: unknown, path: string): Generator<Field> {
  if (typeof node !== 'object' || node === null) return
  const { properties = {} } = node as { properties?: Record<string, JsonSchema> }
  for (const [name, field] of Object.entries(properties)) {
    if (!MOMENT.test(name) || (field as { type?: unknown }).type === 'null') continue
    const { description, anyOf = [] } = field as { description?: string; anyOf?: { description?: string }[] }
    const said = [description, ...anyOf.map((each) => each.description)].filter((text) => text !== undefined)
    yield { path: `${path}.${name}`, name, description: said.join(' '), beside: Object.keys(properties) }
  }
  for (const [name, part] of Object.entries(node))
    if (!/^examples?$/.test(name)) yield* moments(part, `${path}/${name}`)
}

t.test('every moment in the documents names its clock: of blocks, of ingest or of the service', async (t) => {
  const app = await marketApp(t)
  const fields: Record<string, Field[]> = {}
  for (const document of ['/openapi.json', '/asyncapi.json']) {
    const { body } = await app.get(document, {})
    fields[document] = [...moments(body, document)]
    t.ok(fields[document].length > 10)
    for (const { path, description } of fields[document]) {
      const named = Object.values(CLOCKS).filter((clock) => description.includes(clock))
      t.ok(named.length > 0, `${path}: ${description}`)
    }
  }
  const rest = fields['/openapi.json']!.filter(({ name }) => /^(ts|ts_ms|block_time)$/.test(name))
  t.ok(rest.length > 10)
  for (const { path, description } of rest) t.match(description, CLOCKS.block, path)
  // A test event, and a change of a webhook or a submission, have no block.
  const stream = fields['/asyncapi.json']!.filter(
    ({ name, beside, path }) =>
      name === 'ts_ms' && beside.includes('event') && !/TestEvent|WebhookChange|SubmissionChange/.test(path)
  )
  t.ok(stream.length >= 5)
  for (const { path, description } of stream) t.match(description, CLOCKS.ingest, path)
  const ticks = fields['/asyncapi.json']!.filter(
    ({ name, path }) => name === 'ts_ms' && path.includes('PriceTick')
  )
  t.match(ticks, [{ description: CLOCKS.ingest }])
  for (const { path, beside } of [...stream, ...ticks])
    if (!path.includes('Retraction'))
      t.ok(beside.includes('block_time'), `${path} has the block time beside it`)
})
