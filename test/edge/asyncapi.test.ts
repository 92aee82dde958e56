import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { FATAL_CLOSES } from '../../src/client/connection.ts'
import { asyncApiOf } from '../../src/edge/routes/asyncapi.ts'
import type { JsonSchema } from '../../src/kernel/http/json-schemas.ts'
import { CLOSE_CODES } from '../../src/stream/close-codes.ts'
import { ERROR_MEANINGS, EVENT_MESSAGES, WARNINGS } from '../../src/stream/message-schemas.ts'
import { closed } from '../http/contract.ts'
import { marketApp } from '../http/market-app.ts'

interface Ref {
  readonly $ref: string
}

type Json = Readonly<Record<string, JsonSchema>>

const document = JSON.parse(JSON.stringify(await asyncApiOf({ version: '1.2.3', sourceKind: 'rpc' }))) as Json
const components = document.components as unknown as Readonly<Record<string, Json>>
const channel = document.channels!.stream as Json
const operations = document.operations as Json

/** Yields every reference of a document with its path. */
function* references(value: unknown, path = '#'): Generator<[path: string, target: string]> {
  if (typeof value !== 'object' || value === null) return
  for (const [name, part] of Object.entries(value)) {
    if (name === '$ref' && typeof part === 'string') yield [path, part]
    else yield* references(part, `${path}/${name}`)
  }
}

function resolved(target: string): unknown {
  const names = target.split('/').slice(1)
  return names.reduce<unknown>((value, name) => (value as Json | undefined)?.[name], document)
}

t.test('the document is open to all, and kept by clients until it changes', async (t) => {
  const app = await marketApp(t)
  const answer = await app.get('/asyncapi.json', {})
  t.equal(answer.status, 200)
  t.equal(answer.type, 'application/json; charset=utf-8')
  t.strictSame(JSON.parse(answer.text), document)
  const again = await app.get('/asyncapi.json', { 'if-none-match': String(answer.headers.etag) })
  t.equal(again.status, 304)
})

t.test('the document has the parts that AsyncAPI 3.0 asks for', (t) => {
  t.equal(document.asyncapi, '3.0.0')
  t.match(document.info, { title: /./, version: '1.2.3' })
  for (const server of Object.values(document.servers!)) {
    t.match(server, { host: /./, protocol: /^(ws|https)$/ })
    const { variables, host } = server as { variables: Json; host: string }
    const used = host.match(/(?<={)\w+(?=})/g)
    t.strictSame(used, Object.keys(variables))
  }
  t.equal(channel.address, '/v1/stream')
  t.same(Object.keys(document.channels!), ['stream', 'webhook'])
  t.ok(Object.keys(operations).length > 3)
  for (const [name, operation] of Object.entries(operations)) {
    t.match(operation.action, /^(send|receive)$/, name)
    const { $ref: target } = operation.channel as Ref
    t.equal(target, name === 'postBatch' ? '#/channels/webhook' : '#/channels/stream')
    const { messages, reply } = operation as unknown as { messages: Ref[]; reply?: { messages: Ref[] } }
    const told = [...messages, ...(reply?.messages ?? [])].map(({ $ref }) => $ref)
    t.ok(
      told.every((message) => message.startsWith(`${target}/messages/`)),
      `${name}: through its channel`
    )
  }
  const schemes = { httpApiKey: ['in', 'name'], http: ['scheme'] }
  for (const scheme of Object.values(components.securitySchemes!)) {
    const needed = schemes[scheme.type as keyof typeof schemes]
    t.ok(needed.every((field) => typeof scheme[field] === 'string'))
  }
  for (const [name, message] of Object.entries(components.messages!)) {
    t.match(message, { name, title: /./, summary: /./, contentType: 'application/json', payload: Object })
  }
  t.end()
})

t.test('every reference leads somewhere, and everything is referred to', (t) => {
  const all = [...references(document)]
  t.ok(all.length > 50)
  t.strictSame(
    all.filter(([, target]) => resolved(target) === undefined),
    []
  )
  const targets = new Set(all.map(([, target]) => target))
  for (const kind of ['schemas', 'messages', 'securitySchemes']) {
    const unused = Object.keys(components[kind]!).filter(
      (name) => !targets.has(`#/components/${kind}/${name}`)
    )
    t.strictSame(unused, [], kind)
  }
  for (const [name, { messages }] of Object.entries(document.channels as unknown as Record<string, Json>)) {
    const unsent = Object.keys(messages as Json).filter(
      (message) => !targets.has(`#/channels/${name}/messages/${message}`)
    )
    t.strictSame(unsent, [], 'each message belongs to an operation')
  }
  t.end()
})

t.test('every example is what its message says, with no field that is not named', (t) => {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
  ajv.addSchema({ ...closed(document), $id: 'document' })
  for (const [name, { examples }] of Object.entries(components.messages!)) {
    const check = ajv.getSchema(`document#/components/messages/${name}/payload`)!
    t.ok((examples as JsonSchema[]).length > 0, `${name} has an example`)
    for (const { payload } of examples as { payload: unknown }[]) {
      t.ok(check(payload), `${name}: ${ajv.errorsText(check.errors)}`)
      t.notOk(check({ ...(payload as object), type: 'nothing' }), `${name} is told from others`)
    }
  }
  t.end()
})

t.test('every message, error and close code is documented, and the client heeds the codes', (t) => {
  const text = JSON.stringify(document)
  for (const code of Object.keys(ERROR_MEANINGS)) t.ok(text.includes(`\`${code}\``), code)
  t.strictSame(channel['x-close-codes'], CLOSE_CODES)
  for (const { code } of CLOSE_CODES) t.match(channel.description, `| ${code} |`)
  for (const kind of Object.keys(EVENT_MESSAGES)) t.ok(components.messages![kind], kind)
  for (const warning of WARNINGS) t.ok(text.includes(`"${warning.shape.code.value}"`))
  t.strictSame(
    [...FATAL_CLOSES].sort(),
    CLOSE_CODES.filter(({ again }) => !again).map(({ code }) => code)
  )
  t.end()
})

t.test('every field of every message is described', (t) => {
  const silent: string[] = []
  const look = (name: string, schema: JsonSchema): void => {
    const { properties = {}, anyOf = [] } = schema as unknown as { properties?: Json; anyOf?: JsonSchema[] }
    for (const [index, one] of anyOf.entries()) look(`${name}|${index}`, one)
    for (const [field, property] of Object.entries(properties)) {
      const named = [property, property.items, ...((property.anyOf ?? []) as Json[])] as (
        | JsonSchema
        | undefined
      )[]
      if (!named.some((one) => one?.$ref !== undefined || one?.description !== undefined))
        silent.push(`${name}.${field}`)
      look(`${name}.${field}`, property)
    }
  }
  for (const [name, schema] of Object.entries(components.schemas!)) look(name, schema)
  for (const [name, message] of Object.entries(components.messages!))
    look(name, message.payload as JsonSchema)
  t.strictSame(silent, [])
  t.end()
})
