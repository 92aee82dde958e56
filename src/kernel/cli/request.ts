import { z } from 'zod'
import type { Endpoint } from '../http/endpoint.ts'
import { readCursor } from '../../market/cursor.ts'
import type { Administration } from '../../access/commands/administration.ts'
import { BadUsage, type Invocation, type ParameterFlag, type RequestCommand, type Row } from './command.ts'
import { askService, type Order } from './service-client.ts'
import { fieldTable, Refused, serviceOf, withRefusals, type ServiceOptions } from './service-command.ts'
import { tableOf } from './table.ts'

/** The options of every row, and the flags of one. */
export interface RequestOptions extends ServiceOptions {
  readonly [flag: string]: string | readonly string[] | true | undefined
}

/** Sends the request of a command, and prints the answer. Resolves with the exit code. */
export async function sendRequest(
  command: RequestCommand,
  invocation: Invocation<RequestOptions>
): Promise<number> {
  const { options, stdout, stderr } = invocation
  const endpoint = await command.endpoint()
  const order = orderOf(command, endpoint, invocation)
  return withRefusals(invocation, async () => {
    const access = await accessOf(command, endpoint, invocation)
    try {
      const bodies = await answersTo(order, access, command.flags?.limit === undefined)
      const rows = bodies.flatMap((body) => rowsOf(command, body))
      for (const { message } of bodies.flatMap(warningsOf)) stderr(`millrace: ${message}`)
      const isJson = options.json === true
      const lines = isJson ? rows.map((row) => JSON.stringify(row)) : tableLines(command, rows)
      for (const line of lines) stdout(line)
      return bodies.every((body) => command.isSuccess?.(body) ?? true) ? 0 : 1
    } finally {
      await access.close()
    }
  })
}

/** Returns the request of a command: each argument at the place of its parameter. Throws BadUsage. */
export function orderOf(
  { parameters = [], operands: declared = '', flags = {}, fixed, answerMs }: RequestCommand,
  { method, path, params, body }: Endpoint,
  { operands, options }: Pick<Invocation<RequestOptions>, 'operands' | 'options'>
): Order {
  const values: Record<string, unknown> = { ...fixed }
  parameters.forEach((name, at) => {
    const takesRest = declared.endsWith('…') && at === parameters.length - 1
    values[name] = takesRest ? operands.slice(at) : operands[at]
  })
  for (const [name, flag] of Object.entries(flags)) {
    const given = options[name] ?? flag.fallback
    if (given !== undefined) values[flag.parameter ?? name] = valueOf(`--${name}`, flag, given)
    else if (flag.missing !== undefined) throw new BadUsage(flag.missing)
  }
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])))
  const others = Object.entries(values).filter(([name]) => !Object.hasOwn(params.shape, name))
  const order = { method, path: filled, ...(answerMs !== undefined && { answerMs }) }
  if (!(body instanceof z.ZodUndefined)) return { ...order, body: Object.fromEntries(others) }
  const query = new URLSearchParams(others.map(([name, value]) => [name, String(value)]))
  query.sort()
  return query.size === 0 ? order : { ...order, path: `${filled}?${query.toString()}` }
}

/** Readers of a flag's value, by its placeholder in the help; any other value is sent as text. They throw BadUsage. */
const READERS: Readonly<Record<string, (flag: string, text: string) => unknown>> = {
  'A,B': (_, text) => text.split(','),
  CALLS: wholeNumber,
  COUNT: wholeNumber,
  CURSOR: cursor,
  'OFFSET:LENGTH,…': ranges,
  SECONDS: wholeNumber,
  ROWS: wholeNumber,
  UNITS: wholeNumber
}

function valueOf(
  name: string,
  { value = '' }: ParameterFlag,
  given: string | readonly string[] | true
): unknown {
  return typeof given === 'string' ? (READERS[value]?.(name, given) ?? given) : given
}

function wholeNumber(flag: string, text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new BadUsage(`${flag} is not a whole number`)
  return Number(text)
}

function cursor(_: string, text: string): string {
  if (readCursor(text) === null)
    throw new BadUsage(`${text} is not a cursor: use the decimal cursor of an event`)
  return text
}

/** Reads `OFFSET:LENGTH,…`, or `none`. */
function ranges(flag: string, text: string): { readonly offset: number; readonly length: number }[] {
  if (text === 'none') return []
  return text.split(',').map((each) => {
    const [, offset, length] = /^(\d{1,9}):(\d{1,3})$/.exec(each) ?? []
    if (offset === undefined) throw new BadUsage(`${flag} must be OFFSET:LENGTH,… or none, not ${text}`)
    return { offset: Number(offset), length: Number(length) }
  })
}

async function accessOf(
  { answeredBy }: RequestCommand,
  { scope }: Endpoint,
  invocation: Invocation<RequestOptions>
): Promise<Administration> {
  const { config, options } = invocation
  if (answeredBy === 'store')
    return (await import('../../access/commands/administration.ts')).openAdministration(
      config,
      options.url ?? null
    )
  const { url, key } = serviceOf(scope, invocation)
  return { ask: (order) => askService(url, key, order), close: async () => undefined }
}

/** Sends a request, and for a whole list those of its further pages. Rejects with Refused or Unreachable. */
async function answersTo(order: Order, { ask }: Administration, isWhole: boolean): Promise<readonly Row[]> {
  const bodies: Row[] = []
  let path: string | null = order.path
  while (path !== null) {
    const outcome = await ask({ ...order, path })
    if (outcome.status >= 300) throw new Refused(outcome)
    bodies.push(outcome.body)
    const { nextCursor } = outcome.body
    path = isWhole && typeof nextCursor === 'string' ? withAfter(order.path, nextCursor) : null
  }
  return bodies
}

function withAfter(path: string, after: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams({ after }).toString()}`
}

function rowsOf({ list = 'data' }: RequestCommand, body: Row): readonly Row[] {
  return Array.isArray(body[list]) ? (body[list] as Row[]) : [body]
}

function warningsOf({ warnings = [] }: Row): readonly { readonly message: string }[] {
  return warnings as readonly { readonly message: string }[]
}

/** Formats rows for people. An API key, which only its creation shows, follows the table. */
function tableLines(
  { columns, lines = (row) => row }: RequestCommand,
  rows: readonly Row[]
): readonly string[] {
  const shown = rows.flatMap((row) => lines(row))
  if (columns === undefined) return shown.flatMap(fieldTable)
  const keys = rows.flatMap(({ key }) => (typeof key === 'string' ? [`key, shown only now:  ${key}`] : []))
  return [...tableOf(columns.split(' '), shown), ...keys]
}
