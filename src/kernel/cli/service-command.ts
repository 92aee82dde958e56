import type { RouteScope } from '../http/plugins/access.ts'
import { BadUsage, type Invocation, type Row } from './command.ts'
import { askService, Unreachable, type Order, type Outcome } from './service-client.ts'
import { tableOf } from './table.ts'
import { urlHost } from './url-host.ts'

/** Options of every command that uses a running service. */
export interface ServiceOptions {
  readonly json?: true | undefined
  readonly url?: string | undefined
}

/** A running service, and the key for its requests. */
export interface ServiceAccess {
  readonly url: string
  readonly key: string
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
  scope: RouteScope,
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

/** Formats an object as a table with a line for each field. */
export function fieldTable({ warnings: _, ...fields }: Row): readonly string[] {
  const lines = Object.entries(fields).map(([field, value]) => ({ field, value }))
  return tableOf(['field', 'value'], lines)
}
