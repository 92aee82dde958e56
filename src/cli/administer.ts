import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'
import { flagOf, readConfig, SETTING_NAMES } from '../config.ts'
import {
  openAdministration,
  Unreachable,
  type Administration,
  type Order,
  type Outcome
} from './administration.ts'
import type { Command, CommandContext } from './command.ts'
import { tableOf } from './table.ts'

export type Flags = Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>

/** What one word after `tenants` or `keys` does. */
export interface Verb {
  readonly usage: string
  readonly flags: ParseArgsOptionsConfig
  /** What it names, beside its flags. */
  readonly operands: number
  /** The request that does it. Throws BadUsage. */
  readonly order: (flags: Flags, operands: readonly string[]) => Order
}

/** An argument that cannot be meant. */
export class BadUsage extends Error {}

/** Settings that say where tenants and keys are; others come from the environment alone. */
const SETTING_FLAGS = SETTING_NAMES.filter((name) =>
  /^(dataDir|host|port|storage|scylla[A-Z].*|redisUrl)$/.test(name)
).map(flagOf)

const EVERYWHERE: ParseArgsOptionsConfig = {
  json: { type: 'boolean' },
  url: { type: 'string' },
  ...Object.fromEntries(SETTING_FLAGS.map((flag) => [flag, { type: 'string' as const }]))
}

/**
 * A command with verbs over the admin API: in the store when no service has it open, else through the service. Prints
 * a table, or with `--json` a JSON object a line.
 */
export function administer(
  noun: string,
  columns: readonly string[],
  verbs: Readonly<Record<string, Verb>>
): Command {
  return async ({ args: [word = '', ...args], stdout, stderr }) => {
    const verb = Object.hasOwn(verbs, word) ? verbs[word] : undefined
    const complain = (...lines: readonly string[]): void =>
      lines.forEach((line) => stderr(`millrace: ${line}`))
    if (verb === undefined) {
      complain(...Object.values(verbs).map(({ usage }) => `usage: millrace ${noun} ${usage}`))
      return 2
    }
    try {
      const { order, url, asJson, settings } = understand(verb, args)
      const reading = readConfig(settings)
      if (reading.kind === 'invalid') {
        complain(...reading.problems)
        return 2
      }
      const administration = await openAdministration(reading.config, url)
      try {
        return await carryOut(administration, order, { columns, asJson, stdout, complain })
      } finally {
        await administration.close()
      }
    } catch (error) {
      if (!(error instanceof BadUsage || error instanceof Unreachable)) throw error
      complain(error.message)
      if (error instanceof Unreachable) return 1
      complain(`usage: millrace ${noun} ${verb.usage}`)
      return 2
    }
  }
}

function understand(verb: Verb, args: readonly string[]) {
  const { values, positionals } = parse({ ...EVERYWHERE, ...verb.flags }, args)
  if (positionals.length !== verb.operands)
    throw new BadUsage(`names ${verb.operands} and not ${positionals.length}`)
  const { json, url } = values
  return {
    order: verb.order(values, positionals),
    url: typeof url === 'string' ? url : null,
    asJson: json === true,
    settings: SETTING_FLAGS.flatMap((name) =>
      typeof values[name] === 'string' ? [`--${name}`, values[name]] : []
    )
  }
}

function parse(options: ParseArgsOptionsConfig, args: readonly string[]) {
  try {
    const parsed = parseArgs({ args: [...args], options, allowPositionals: true })
    return { values: parsed.values as Flags, positionals: parsed.positionals }
  } catch (error) {
    throw new BadUsage(error instanceof Error ? error.message : String(error))
  }
}

interface Printing {
  readonly columns: readonly string[]
  readonly asJson: boolean
  readonly stdout: CommandContext['stdout']
  readonly complain: (line: string) => void
}

/** Asks, a list page by page, and prints; gives the exit code. */
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
