import t from 'tap'
import { z } from 'zod'
import { SCOPES } from '../../src/access/scopes.ts'
import type { ParameterFlag, RequestCommand } from '../../src/kernel/cli/command.ts'
import { CONFIGURATION } from '../../src/configuration.ts'
import { PROGRAM } from '../../src/program.ts'
import { commandHelp } from '../../src/kernel/cli/help.ts'
import { orderOf, type RequestOptions } from '../../src/kernel/cli/request.ts'
import type { Endpoint } from '../../src/kernel/http/endpoint.ts'
import { strictly } from '../../src/kernel/http/parameters.ts'
import { marketApp } from '../http/market-app.ts'

const ADDRESS = 'So11111111111111111111111111111111111111112'
/** A valid value for each placeholder of an operand or a flag. */
const SAMPLES: Readonly<Record<string, string>> = {
  'A,B': 'data:read,stream',
  ADDRESS,
  CALLS: '60',
  'CHANNEL …': 'launches',
  COUNT: '5',
  CURSOR: '77',
  ID: '7',
  KIND: 'fee',
  MINT: ADDRESS,
  NAME: 'acme',
  'OFFSET:LENGTH,…': '0:32,32:32',
  ORIGIN: 'https://app.example.org',
  PROGRAM: ADDRESS,
  RANGE: '10.0.0.0/8',
  RECEIVER: 'https://receiver.example.org/hook',
  ROLE: 'fee_wallet',
  ROWS: '1000',
  SECONDS: '60',
  STATE: 'failed',
  TENANT: 'acme',
  TEXT: 'Fees',
  TIME: '2099-01-01T00:00:00Z',
  UNITS: '300000'
}

interface NamedRow {
  readonly name: string
  readonly command: RequestCommand
  readonly endpoint: Endpoint
}

/** Every command that sends one request, with its endpoint. */
async function allRows(): Promise<readonly NamedRow[]> {
  const rows: NamedRow[] = []
  for (const [noun, found] of Object.entries(PROGRAM.commands)) {
    if (!('verbs' in found)) continue
    for (const [verb, command] of Object.entries(found.verbs))
      if ('endpoint' in command)
        rows.push({ name: `${noun} ${verb}`, command, endpoint: await command.endpoint() })
  }
  return rows
}

/** Returns the request of a row with a sample for each operand, and for each flag that passes. */
function sampleOrder({ command, endpoint }: NamedRow, passes: (flag: ParameterFlag) => boolean) {
  const flags = Object.entries(command.flags ?? {}).filter(([, flag]) => passes(flag))
  const options = flags.map(([name, { value, multiple }]) => {
    const sample = SAMPLES[value!]!
    return [name, multiple === true ? [sample] : sample] as const
  })
  // A word is an operand, unless it only says that the last one repeats.
  const words = (command.operands ?? '').split(/ (?!…)/).filter((word) => word !== '')
  const operands = words.map((word) => SAMPLES[word]!)
  return orderOf(command, endpoint, { operands, options: Object.fromEntries(options) as RequestOptions })
}

/** Returns the complaints of the endpoint's schemas about a request. */
function faultsOf(order: ReturnType<typeof orderOf>, { method, path, params, query, body }: Endpoint) {
  const url = new URL(order.path, 'http://x')
  const template = new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`)
  const found = template.exec(url.pathname)
  const inPath = found === null ? { path: url.pathname } : { ...found.groups }
  const shape = body instanceof z.ZodOptional ? body.unwrap() : body
  const read = [
    strictly(params).safeParse(
      Object.fromEntries(Object.entries(inPath).map(([name, text]) => [name, decodeURIComponent(text)]))
    ),
    strictly(query).safeParse(Object.fromEntries(url.searchParams)),
    (shape instanceof z.ZodObject ? shape.strict() : body).safeParse(order.body)
  ]
  return [
    ...(order.method === method ? [] : [`method ${order.method}`]),
    ...read.flatMap(
      ({ error }) => error?.issues.map(({ path: at, message }) => `${at.join('.')} ${message}`) ?? []
    )
  ]
}

t.test('every row names an endpoint that is served, and one of a service a scope of a key', async (t) => {
  const rows = await allRows()
  t.ok(rows.length >= 26)
  const { app } = await marketApp(t)
  await app.ready()
  const served = new Set(app.served.map(({ endpoint }) => endpoint))
  for (const { name, command, endpoint } of rows) {
    t.ok(served.has(endpoint), `${name}: ${endpoint.path}`)
    if (command.answeredBy === 'store') continue
    t.ok((SCOPES as readonly string[]).includes(endpoint.scope), name)
    t.ok(command.details?.includes(`\`${endpoint.scope}\``), `${name} names the scope ${endpoint.scope}`)
  }
})

t.test('an endpoint accepts what a row sends: with all flags, and with the required ones', async (t) => {
  for (const row of await allRows()) {
    for (const name of Object.keys(row.endpoint.params.shape))
      t.ok(row.command.parameters?.includes(name), `${row.name} has an operand for ${name}`)
    const all = sampleOrder(row, () => true)
    const required = sampleOrder(row, ({ missing }) => missing !== undefined)
    t.strictSame(faultsOf(all, row.endpoint), [], `${row.name} with all flags`)
    t.strictSame(faultsOf(required, row.endpoint), [], `${row.name} with the required flags`)
  }
})

t.test('a flag without which the endpoint refuses has a refusal of its own', async (t) => {
  for (const row of await allRows())
    for (const [name, { missing }] of Object.entries(row.command.flags ?? {}))
      if (missing !== undefined)
        t.throws(() => sampleOrder(row, (flag) => flag.missing === undefined), { message: missing }, name)
})

t.test('a request of another method, an unknown, a missing and a wrong parameter are found', async (t) => {
  const rows = await allRows()
  const row = (name: string) => rows.find((each) => each.name === name)!
  const changed = (name: string, command: Partial<RequestCommand>) => {
    const found = row(name)
    const other = { ...found, command: { ...found.command, ...command } }
    return faultsOf(
      sampleOrder(other, () => true),
      found.endpoint
    )
  }
  t.match(changed('webhooks create', { operands: 'RECEIVER' }), ['channels Invalid input'])
  t.match(changed('webhooks get', { parameters: ['hook'] }), [/^id must be/])
  t.match(changed('keys rotate', { flags: { grace: { value: 'SECONDS', meaning: '' } } }), [/grace/])
  t.match(changed('keys create', { fixed: { rate_limit_per_minute: '5' }, flags: {} }), [/^tenant/, /^rate/])
  t.match(changed('tx list', { fixed: { state: 'failed' } }), [/state/])
  const { endpoint } = row('nodes cordon')
  const listing = sampleOrder(row('nodes list'), () => true)
  t.match(faultsOf(listing, endpoint), ['method GET', /^id/])
})

t.test('the help describes every flag and names every operand of a row', async (t) => {
  for (const { name, command } of await allRows()) {
    const help = commandHelp(name, command, CONFIGURATION)
    for (const [flag, { value, meaning }] of Object.entries(command.flags ?? {})) {
      t.ok(Object.hasOwn(command.options ?? {}, flag), `${name} takes --${flag}`)
      t.ok(
        help.some((line) => line.startsWith(`  --${flag} ${value}  `) && line.endsWith(`  ${meaning}`)),
        `${name} --${flag}`
      )
    }
    for (const word of (command.operands ?? '').split(' ')) t.ok(help[0]!.includes(word), `${name} ${word}`)
    for (const common of ['--json', '--url URL'])
      t.ok(
        help.some((line) => line.startsWith(`  ${common}  `)),
        `${name} ${common}`
      )
  }
})
