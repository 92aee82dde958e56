import { openAdministration, type Administration } from './administration.ts'
import type { CommandContext, Invocation } from './command.ts'
import { Unreachable, type Order, type Outcome } from './service-client.ts'
import { tableOf } from './table.ts'

/** Options of every command that uses the admin API. */
export interface AdministrationOptions {
  readonly json?: true | undefined
  readonly url?: string | undefined
}

/**
 * Carries out a request of the admin API: in the store if no service has it open, else through the service. Prints a
 * table, or with `--json` one JSON object a line. Resolves with the exit code.
 */
export async function administer(
  { config, options, stdout, stderr }: Invocation<AdministrationOptions>,
  columns: readonly string[],
  order: Order
): Promise<number> {
  const complain = (line: string): void => stderr(`millrace: ${line}`)
  try {
    const administration = await openAdministration(config, options.url ?? null)
    try {
      return await carryOut(administration, order, {
        columns,
        asJson: options.json === true,
        stdout,
        complain
      })
    } finally {
      await administration.close()
    }
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error
    complain(error.message)
    return 1
  }
}

interface Printing {
  readonly columns: readonly string[]
  readonly asJson: boolean
  readonly stdout: CommandContext['stdout']
  readonly complain: (line: string) => void
}

/** Sends the request, page by page for a list, and prints the answers. Resolves with the exit code. */
async function carryOut(
  administration: Administration,
  order: Order,
  { columns, asJson, stdout, complain }: Printing
): Promise<number> {
  const rows: Outcome['body'][] = []
  let path: string | null = order.path
  while (path !== null) {
    const { status, body } = await administration.ask({ ...order, path })
    if (status >= 300) {
      complain(String(body.detail))
      return status === 400 ? 2 : 1
    }
    const isList = Array.isArray(body.data)
    rows.push(...(isList ? (body.data as Outcome['body'][]) : [body]))
    path = isList && typeof body.nextCursor === 'string' ? withAfter(order.path, body.nextCursor) : null
  }
  if (asJson) for (const row of rows) stdout(JSON.stringify(row))
  else {
    for (const line of tableOf(columns, rows)) stdout(line)
    for (const { key } of rows) if (typeof key === 'string') stdout(`key, shown only now:  ${key}`)
  }
  return 0
}

function withAfter(path: string, after: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams({ after }).toString()}`
}
