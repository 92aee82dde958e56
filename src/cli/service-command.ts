import type { Scope } from '../access/scopes.ts'
import { BadUsage, type Invocation } from './command.ts'
import { askService, Unreachable, type Order, type Outcome } from './service-client.ts'
import { tableOf } from './table.ts'
import { urlHost } from './url-host.ts'

/** Options of every command that uses a running service. */
export interface ServiceOptions {
  readonly json?: true | undefined
  readonly url?: string | undefined
}
export type Row = Outcome['body']

/** A running service, and the key for its requests. */
export interface ServiceAccess {
  readonly url: string
  readonly key: string
}

/** An answer in its printed form. */
export interface Printed {
  /** One JSON object a line. */
  readonly rows: readonly Row[]
  readonly table: readonly string[]
  readonly code?: number
}

/** A refusal of the service; the message is for the user. */
export class Refused extends Error {
  /** 2 for an invalid request, else 1. */
  readonly exitCode: number

  constructor({ status, body }: Outcome) {
    super(String(body.detail))
    this.exitCode = status === 400 ? 2 : 1
  }
}

/** Returns the service of the settings and options. Throws BadUsage. */
export function serviceOf(
  scope: Scope,
  { config: { key, host, port }, options }: Invocation<ServiceOptions>
): ServiceAccess {
  if (key === null) throw new BadUsage(`set an API key with the scope ${scope}: --key, or MILLRACE_KEY`)
  const url = options.url ?? `http://${urlHost(host)}:${port}`
  if (!/^https?:/.test(url) || !URL.canParse(url)) throw new BadUsage(`${url} is not a URL`)
  return { url, key }
}

/** Sends a request. Rejects with Refused for an error status, or with Unreachable. */
export async function ask({ url, key }: ServiceAccess, order: Order): Promise<Row> {
  const outcome = await askService(url, key, order)
  if (outcome.status >= 300) throw new Refused(outcome)
  return outcome.body
}

/**
 * Runs work that sends requests to a service. Resolves with its exit code. Refusals and timeouts go to standard
 * error.
 */
export async function withRefusals(
  { stderr }: Pick<Invocation, 'stderr'>,
  work: () => Promise<number>
): Promise<number> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Refused || error instanceof Unreachable)) throw error
    stderr(`millrace: ${error.message}`)
    return error instanceof Refused ? error.exitCode : 1
  }
}

/** Sends a request and prints its answer. Resolves with the exit code. */
export function carryOut(
  scope: Scope,
  invocation: Invocation<ServiceOptions>,
  order: Order,
  print: (body: Row) => Printed
): Promise<number> {
  const service = serviceOf(scope, invocation)
  return withRefusals(invocation, async () => {
    const body = await ask(service, order)
    const { rows, table, code = 0 } = print(body)
    for (const { message } of warningsOf(body)) invocation.stderr(`millrace: ${message}`)
    const lines = invocation.options.json === true ? rows.map((row) => JSON.stringify(row)) : table
    for (const line of lines) invocation.stdout(line)
    return code
  })
}

/** Prints an object with a line for each field. */
export function printOne(body: Row): Printed {
  const { warnings: _, ...fields } = body
  const lines = Object.entries(fields).map(([field, value]) => ({ field, value }))
  return { rows: [body], table: tableOf(['field', 'value'], lines) }
}

/** Reads the value of a flag. Throws BadUsage. */
export function wholeNumber(flag: string, text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new BadUsage(`${flag} is not a whole number`)
  return Number(text)
}

function warningsOf({ warnings = [] }: Row): readonly { readonly message: string }[] {
  return warnings as readonly { readonly message: string }[]
}
