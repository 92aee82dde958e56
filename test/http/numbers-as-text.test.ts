import t from 'tap'
import { z } from 'zod'
import type { Endpoint } from '../../src/kernel/http/endpoint.ts'
import { JsonSchemas } from '../../src/kernel/http/json-schemas.ts'
import { SCOPES } from '../../src/access/scopes.ts'
import { reader } from '../../src/kernel/http/parameters.ts'
import { marketApp } from './market-app.ts'

type Place = readonly (string | number)[]

/** Yields the place of every number inside a value of a JSON schema that takes no text in its place. */
function* numbersIn(schema: unknown, place: Place = []): Generator<Place> {
  const { type, properties, items, anyOf } = (schema ?? {}) as {
    readonly type?: unknown
    readonly properties?: Readonly<Record<string, unknown>>
    readonly items?: unknown
    readonly anyOf?: readonly { readonly type?: unknown }[]
  }
  if (type === 'integer' || type === 'number') yield place
  for (const [name, property] of Object.entries(properties ?? {}))
    yield* numbersIn(property, [...place, name])
  yield* numbersOf(items, [...place, 0])
  if (anyOf?.some((each) => each.type === 'string') !== true)
    for (const each of anyOf ?? []) yield* numbersIn(each, place)
}

function* numbersOf(items: unknown, place: Place): Generator<Place> {
  if (items !== undefined) yield* numbersIn(items, place)
}

/** Returns a copy of a value with a different one at a place. */
function withValue(value: unknown, [step, ...rest]: Place, text: string): unknown {
  if (step === undefined) return text
  if (typeof step === 'number') return [withValue((value as unknown[] | undefined)?.[step], rest, text)]
  const fields = (value ?? {}) as Readonly<Record<string, unknown>>
  return { ...fields, [step]: withValue(fields[step], rest, text) }
}

const pathOf = ({ path, examples }: Endpoint): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => examples[0]!.params![name]!)

t.test('a number given as text is refused by every body that takes one, with its full place', async (t) => {
  const app = await marketApp(t)
  const key = await app.makeKey([...SCOPES])
  await app.app.ready()
  const found: string[] = []
  for (const { endpoint } of app.app.served) {
    // Bodies of JSON-RPC have no declared fields with numbers: their params are a node's.
    if (endpoint.body instanceof z.ZodUndefined || endpoint.path === '/v1/rpc') continue
    const body =
      endpoint.body instanceof z.ZodOptional ? (endpoint.body.unwrap() as z.ZodType) : endpoint.body
    for (const place of numbersIn(new JsonSchemas().ofInput(body))) {
      const field = place.join('.')
      const example = endpoint.examples.find((each) => each.body !== undefined)?.body
      const headers = { 'x-api-key': key, 'content-type': 'application/json' }
      const payload = JSON.stringify(withValue(example, place, '3'))
      const answer = await app.ask(endpoint.method, pathOf(endpoint), headers, payload)
      const { status, body: problem } = answer
      t.match([status, problem.code], [400, 'invalid_parameter'], `${endpoint.path} ${payload}`)
      const refused = problem.errors?.map((each) => each.field) ?? [problem.detail.split(' ')[0]]
      t.ok(refused.includes(field), `${endpoint.path} ${field}: ${problem.detail}`)
      found.push(`${endpoint.path} ${field}`)
    }
  }
  for (const known of ['rate_limit_per_minute', 'index.0.offset', 'index.0.length', 'grace_seconds'])
    t.ok(
      found.some((each) => each.endsWith(` ${known}`)),
      known
    )
})

t.test('a number given as text inside a union is refused with its full place', (t) => {
  const kinds = z.union([
    z.strictObject({ size: z.int() }),
    z.strictObject({ range: z.strictObject({ offset: z.int() }) })
  ])
  const read = reader(z.object({ list: z.array(kinds) }), 'body')
  const refusal = (list: unknown) => {
    try {
      return read({ list })
    } catch (error) {
      return (error as Error).message
    }
  }
  t.match(refusal([{ size: 1 }, { range: { offset: '3' } }]), /: list\.1\.range\.offset must be given as/)
  t.match(refusal([{ size: '1' }]), /: list\.0\.size must be given as/)
  t.match(refusal([5]), /: list\.0 has none of the accepted forms/)
  t.end()
})
