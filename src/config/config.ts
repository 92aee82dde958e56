import { z } from 'zod'
import { pubkeyFromBase58 } from '../chain/pubkey.ts'
import { VENUE_IDS } from '../chain/venue-id.ts'
import { readFlags, type Flag, type FlagReading } from './flags.ts'

/**
 * What an operator sets (spec choices, section 13). Each variable `MILLRACE_X_Y` is also the flag `--x-y` of
 * `millrace serve`; a flag wins over the variable. This file alone reads the environment.
 */
export interface Setting {
  readonly schema: z.ZodType
  readonly fallback: string
  readonly secret?: boolean
  /** Part of the contract that this version reads and checks, and nothing more. */
  readonly inert?: boolean
  readonly meaning: string
}

const list = <T>(item: z.ZodType<T, string>, least = 0) =>
  z
    .string()
    .transform((text) =>
      text
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== '')
    )
    .pipe(z.array(item).min(least, 'is empty'))

const integer = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, 'is no whole number')
    .transform(Number)
    .pipe(z.number().min(min, `is below ${min}`).max(max, `is above ${max}`))

const url = (...protocols: string[]) =>
  z.string().refine((text) => URL.canParse(text) && protocols.includes(new URL(text).protocol), {
    message: `is no URL with ${protocols.join(' or ')}`
  })

const optional = <T>(schema: z.ZodType<T, string>) => z.union([z.literal('').transform(() => null), schema])

const flag = z.enum(['true', 'false'], 'is neither true nor false').transform((text) => text === 'true')

const choice = <const T extends readonly [string, ...string[]]>(...values: T) =>
  z.enum(values, `is none of ${values.join(', ')}`)

const mint = z.string().refine(isAddress, 'is no base58 address of 32 bytes')

const factor = z
  .string()
  .regex(/^\d+(\.\d+)?$/, 'is neither max nor a positive number')
  .transform(Number)
  .pipe(z.number().positive('is not above 0'))

/** A list of names, where `all` stands for every one of them. */
const listOrAll = <const T extends readonly [string, ...string[]]>(...names: T) =>
  z
    .string()
    .transform((text) => (text === 'all' ? names.join(',') : text))
    .pipe(list(choice(...names), 1))

export const SETTINGS = {
  host: {
    schema: z.string().min(1),
    fallback: '127.0.0.1',
    meaning: 'address that HTTP and sockets listen on'
  },
  port: { schema: integer(0, 65535), fallback: '8900', meaning: 'port; 0 picks a free one' },
  dataDir: {
    schema: z.string().min(1),
    fallback: './data',
    meaning: 'the embedded store and all else on disk'
  },
  source: {
    schema: choice('localnet', 'recorded', 'rpc', 'yellowstone'),
    fallback: 'localnet',
    meaning: 'where blocks come from'
  },
  localnetSlotMs: {
    schema: integer(10, 10_000),
    fallback: '400',
    meaning: 'milliseconds from one slot of the localnet to the next'
  },
  recordedDir: { schema: optional(z.string()), fallback: '', meaning: 'a folder of recorded blocks' },
  recordedSpeed: {
    schema: z.union([z.literal('max'), factor]),
    fallback: 'max',
    meaning: '`max`, or a factor of real time'
  },
  rpcUrl: {
    schema: list(url('http:', 'https:')),
    fallback: '',
    secret: true,
    meaning: "the operator's nodes"
  },
  rpcWsUrl: {
    inert: true,
    schema: list(url('ws:', 'wss:')),
    fallback: '',
    secret: true,
    meaning: 'their pubsub'
  },
  archiveRpcUrl: {
    schema: list(url('http:', 'https:')),
    fallback: '',
    secret: true,
    meaning: 'archive nodes'
  },
  yellowstoneUrl: {
    schema: optional(url('http:', 'https:')),
    fallback: '',
    meaning: 'gRPC source'
  },
  yellowstoneToken: {
    schema: optional(z.string()),
    fallback: '',
    secret: true,
    meaning: 'its token'
  },
  storage: { schema: choice('embedded', 'scylla'), fallback: 'embedded', meaning: 'what keeps the data' },
  scyllaContactPoints: {
    schema: list(z.string().regex(/^[\w.:-]+$/, 'is no host'), 1),
    fallback: '127.0.0.1',
    meaning: 'nodes of the cluster, any of them'
  },
  scyllaPort: { schema: integer(1, 65535), fallback: '9042', meaning: 'its CQL port' },
  scyllaDatacenter: {
    schema: z.string().min(1),
    fallback: 'datacenter1',
    meaning: 'the local datacenter'
  },
  scyllaKeyspace: {
    schema: z.string().regex(/^[a-z][a-z0-9_]{0,47}$/, 'is no name of a keyspace: a-z, 0-9, _, at most 48'),
    fallback: 'millrace',
    meaning: 'the keyspace'
  },
  scyllaUsername: { schema: optional(z.string()), fallback: '', meaning: 'its user' },
  scyllaPassword: {
    schema: optional(z.string()),
    fallback: '',
    secret: true,
    meaning: "the user's password"
  },
  scyllaReplication: { schema: integer(1, 10), fallback: '1', meaning: 'replicas of a row' },
  redisUrl: {
    schema: optional(url('redis:', 'rediss:')),
    fallback: '',
    secret: true,
    meaning: 'shared counters, live feed and leases between processes'
  },
  role: {
    schema: listOrAll('ingest', 'gateway', 'delivery'),
    fallback: 'all',
    meaning: '`all`, or a list of `ingest`, `gateway`, `delivery` (which has nothing to do yet)'
  },
  adminKey: {
    schema: optional(
      z
        .string()
        .min(16, 'is shorter than 16 characters')
        .regex(/^[\x21-\x7e]+$/, 'has characters that a header cannot carry')
    ),
    fallback: '',
    secret: true,
    meaning: 'bootstrap admin key; without it, an empty store makes one and prints it once'
  },
  key: {
    schema: optional(z.string().regex(/^[\x21-\x7e]+$/, 'has characters that a header cannot carry')),
    fallback: '',
    secret: true,
    meaning: 'the API key of `millrace tail`'
  },
  rateLimitPerMinute: {
    schema: integer(1, 1e9),
    fallback: '600',
    meaning: 'calls a minute of a key that has no rate of its own'
  },
  venues: { schema: listOrAll(...VENUE_IDS), fallback: 'all', meaning: 'venues that are decoded' },
  indexCommitment: {
    schema: choice('confirmed', 'processed', 'finalized'),
    fallback: 'confirmed',
    meaning: 'how settled a block is before it is indexed'
  },
  usdMints: { schema: list(mint), fallback: '', meaning: 'further mints worth 1 USD each' },
  solUsd: { schema: optional(factor), fallback: '', meaning: 'SOL price used until the chain gives one' },
  retentionDays: {
    schema: optional(integer(1, 36500)),
    fallback: '',
    meaning:
      'days that trades, pool events and hourly activity are kept; empty: 2 of a localnet, 90 of a node, all of a recorded source'
  },
  replayHorizonSeconds: {
    schema: integer(1, 3.2e9),
    fallback: '86400',
    meaning: 'how far `since` reaches: so long is kept what the stream sent, of a recorded source for ever'
  },
  allowPrivateWebhooks: {
    inert: true,
    schema: flag,
    fallback: 'false',
    meaning: 'webhooks to loopback, for development'
  },
  metricsKeyRequired: {
    schema: flag,
    fallback: 'false',
    meaning: '`/metrics` needs the admin key on loopback, too: for a proxy on the same machine'
  },
  startupWaitSeconds: {
    schema: integer(0, 86_400),
    fallback: '120',
    meaning:
      'how long a start waits for a CQL server that does not answer, and for others that make its tables'
  },
  memoryMb: {
    schema: optional(integer(32, 1_000_000)),
    fallback: '',
    meaning: 'megabytes that all caches together may take; 64 on a localnet and 512 elsewhere unless set'
  },
  logLevel: {
    schema: choice('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    fallback: 'info',
    meaning: 'least severe level that is logged'
  },
  logFormat: {
    schema: optional(choice('pretty', 'json')),
    fallback: '',
    meaning: '`pretty` on a terminal, else `json`'
  }
} satisfies Record<string, Setting>

export type SettingName = keyof typeof SETTINGS
export type Config = { readonly [K in SettingName]: z.output<(typeof SETTINGS)[K]['schema']> }

/** Where blocks come from. */
export type SourceKind = Config['source']

export type ConfigReading =
  | { readonly kind: 'config'; readonly config: Config }
  | { readonly kind: 'invalid'; readonly problems: readonly string[] }

export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[]

/** `dataDir` → `MILLRACE_DATA_DIR`. */
export function variableOf(name: SettingName): string {
  return 'MILLRACE_' + name.replace(/[A-Z]/g, '_$&').toUpperCase()
}

/** `dataDir` → `data-dir`. */
export function flagOf(name: SettingName): string {
  return name.replace(/[A-Z]/g, '-$&').toLowerCase()
}

/** Settings as flags, by name. */
export function settingFlags(names: readonly SettingName[] = SETTING_NAMES): Readonly<Record<string, Flag>> {
  return Object.fromEntries(names.map((name) => [flagOf(name), { type: 'string' as const }]))
}

/**
 * The effective configuration of flags over environment over defaults; or every problem, one line each, naming the
 * variable or flag.
 */
export function readConfig(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>> = process.env
): ConfigReading {
  const { values, operands, problems } = readFlags(args, settingFlags())
  const config = configOf(values, environment)
  const all = [
    ...problems,
    ...operands.map((word) => `${JSON.stringify(word)} is no flag`),
    ...(config.kind === 'invalid' ? config.problems : [])
  ]
  return all.length > 0 ? { kind: 'invalid', problems: all } : config
}

/** The configuration of flags that were read already, by name. */
export function configOf(
  flags: FlagReading['values'],
  environment: Readonly<Record<string, string | undefined>> = process.env
): ConfigReading {
  const problems: string[] = []
  const variables = new Map(SETTING_NAMES.map((name) => [variableOf(name), name]))
  for (const variable of Object.keys(environment)) {
    if (variable.startsWith('MILLRACE_') && !variables.has(variable)) problems.push(`${variable} is unknown`)
  }
  const config: Record<string, unknown> = {}
  for (const name of SETTING_NAMES) {
    const setting: Setting = SETTINGS[name]
    const flag = flags[flagOf(name)]
    const given = flag ?? environment[variableOf(name)]
    const result: z.ZodSafeParseResult<unknown> = setting.schema.safeParse(given ?? setting.fallback)
    if (result.success) config[name] = result.data
    else {
      const said = flag === undefined ? variableOf(name) : `--${flagOf(name)}`
      const value = setting.secret === true ? '' : `=${JSON.stringify(given)}`
      problems.push(`${said}${value} ${firstMessage(result.error)}`)
    }
  }
  if (problems.length > 0) return { kind: 'invalid', problems }
  return { kind: 'config', config: Object.freeze(config) as Config }
}

/** A union's own message says only that nothing fitted; that of its last branch says why. */
function firstMessage(error: z.ZodError): string {
  const issue = error.issues[0]
  if (issue?.code === 'invalid_union') {
    const branch = issue.errors.at(-1)?.[0]
    if (branch !== undefined) return branch.message
  }
  return issue?.message ?? 'is invalid'
}

/** Variables that were set to something and change nothing in this version. */
export function inertVariables(config: Config): string[] {
  const isInert = (name: SettingName): boolean => (SETTINGS[name] as Setting).inert === true
  return SETTING_NAMES.filter((name) => isInert(name) && !isDefault(name, config[name])).map(variableOf)
}

/** Whether a setting's value is the one that it has when nobody sets it. */
export function isDefault<Name extends SettingName>(name: Name, value: Config[Name]): boolean {
  const { schema, fallback }: Setting = SETTINGS[name]
  return JSON.stringify(value) === JSON.stringify(schema.parse(fallback))
}

/** The configuration as text values, secrets masked: what `millrace config` prints. */
export function maskedConfig(config: Config): Record<string, unknown> {
  return Object.fromEntries(
    SETTING_NAMES.map((name) => {
      const value = config[name]
      const setting: Setting = SETTINGS[name]
      const empty = value === null || (Array.isArray(value) && value.length === 0)
      return [variableOf(name), setting.secret === true && !empty ? '********' : value]
    })
  )
}

function isAddress(text: string): boolean {
  try {
    pubkeyFromBase58(text)
    return true
  } catch {
    return false
  }
}
