import type { SourceKind } from '../../kernel/config/config.ts'
import type { ErrorKind } from '../../kernel/error-kind.ts'
import { openSlices } from '../../kernel/work/slices.ts'
import type { Served } from '../../kernel/http/endpoint.ts'
import { filledExample, type ExampleValues } from './example-values.ts'
import { JsonSchemas, type JsonSchema } from '../../kernel/http/json-schemas.ts'
import { operationOf } from '../../kernel/http/operation.ts'
import { ProblemResponses } from '../../kernel/http/problem-responses.ts'
import { problemSchema } from '../../kernel/http/problem-schema.ts'

const DATA = 'executed trades, candles, prices, launches, pools and wallets'

/** Description of the data's origin, by kind of source. */
const ORIGINS: Readonly<Record<SourceKind, string>> = {
  localnet: `**This is a localnet**: a Solana chain inside this process, with a simulated market. It has ${DATA} like a \
real chain; nothing here is from mainnet. Its node accepts transactions, but none can call its DEX programs.`,
  recorded: `DEX data of Solana: ${DATA}, indexed from recorded blocks.`,
  rpc: `DEX data of Solana: ${DATA}, indexed live from the operator's own nodes.`,
  yellowstone: `DEX data of Solana: ${DATA}, indexed live from the operator's own nodes.`
}
/** Origin for a process that does not ingest, which cannot know the source of the other processes. */
const UNKNOWN_ORIGIN = `DEX data of Solana: ${DATA}.`

const CONVENTIONS = `**Numbers.** Fields that end in \`_raw\` are base units as text. Other amounts have the decimals applied. An unknown
value is \`null\`, never 0. Percentages run from 0 to 100. Fields may be added; existing fields keep their meaning.

**Time.** \`ts\` (UTC text), \`ts_ms\` (Unix milliseconds) and \`block_time\` (Unix seconds) are the block time. On
the stream, \`ts_ms\` is the time of ingest and \`block_time\` the block time. A window such as 24 h ends with the
minute of the newest indexed block. \`X-Data-Freshness-Seconds\` is the age of that block.

**Lists** are newest first unless the endpoint says otherwise. Pass \`nextCursor\` of a page as \`after\` to get the next page.

**Errors** are [problem+json](https://www.rfc-editor.org/rfc/rfc9457) with a stable \`code\`; \`type\` links to a page
that explains it. A path that accepts GET also accepts HEAD. Other methods are refused with 405 and \`Allow\`.`

const TAGS = [
  ['Market', 'All tokens together'],
  ['Tokens', 'One token, by its mint'],
  ['Pools', 'One pool, by its address'],
  ['Wallets', 'One wallet, by its address'],
  [
    'Transactions',
    'Sends transactions, repeats them until they land, and tracks their status; of the tenant of the key in use'
  ],
  ['JSON-RPC', 'A drop-in RPC URL for wallets, bots and SDKs'],
  ['Webhooks', 'Signed batches of events by POST to your own URL; of the tenant of the key in use'],
  [
    'Revenue',
    'A ledger of the balance changes of watched addresses, with their sums; of the tenant of the key in use'
  ],
  ['Account', 'The key in use'],
  ['Service', 'Health, metrics and this document'],
  ['Accounts', 'Accounts of the chain, with the slot at which they were read'],
  ['Administration', 'Tenants, keys and the state of the service; for operators']
] as const

const HEADERS = {
  'X-Request-Id': ['string', 'Identifies the request in logs and problems'],
  'X-Data-Freshness-Seconds': [
    'integer',
    'Age of the newest indexed block, in seconds; absent while no block is indexed'
  ],
  ETag: [
    'string',
    'Identifies the answer; send it as `If-None-Match` to get 304 while the answer is unchanged'
  ],
  Link: [
    'string',
    'The next page of a table, with `rel="next"`; absent on the last page, and for JSON, which has `nextCursor`'
  ],
  'RateLimit-Policy': [
    'string',
    'The quotas of the key, calls as `per-minute` and units as `work` (draft-ietf-httpapi-ratelimit-headers)'
  ],
  RateLimit: ['string', 'Calls and units that are left of both quotas (by that draft)'],
  'X-RateLimit-Limit': ['integer', 'Calls that the key may make in a minute'],
  'X-RateLimit-Remaining': ['integer', 'Calls left in this minute'],
  'X-RateLimit-Reset': ['integer', 'When the next minute begins, in Unix seconds'],
  'X-Work-Units': [
    'integer',
    'Units of work that this answer cost; absent if it is refused by a quota, or its length is not known when it begins'
  ],
  'Retry-After': ['integer', 'Seconds to wait before a retry'],
  'WWW-Authenticate': ['string', '`Bearer`']
} as const

/** Facts of this process that the document states. */
export interface DocumentFacts {
  readonly version: string
  /** Null if this process reads no source itself. */
  readonly sourceKind: SourceKind | null
}

/** Facts that the document of the API states. */
export interface ApiFacts extends DocumentFacts {
  /** Every error of the service. */
  readonly errors: readonly ErrorKind[]
}

/** Endpoints whose schemas are made before other work runs: 0.2 ms each. */
const ENDPOINTS_AT_ONCE = 4

/** Makes the OpenAPI 3.1 document of the served endpoints, with the given example values, in slices. */
export async function openApiOf(
  served: readonly Served[],
  { version, sourceKind, errors }: ApiFacts,
  values: ExampleValues = new Map()
): Promise<JsonSchema> {
  const schemas = new JsonSchemas()
  const problems = new ProblemResponses(schemas.ofOutput(problemSchema(errors)))
  const paths: Record<string, JsonSchema> = {}
  for (const [at, one] of served.entries()) {
    if (at % ENDPOINTS_AT_ONCE === 0) await openSlices.pause()
    const { path, method, examples } = one.endpoint
    const shown = { ...one.endpoint, examples: examples.map((example) => filledExample(example, values)) }
    const operation = operationOf({ ...one, endpoint: shown }, schemas, problems)
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation }
  }
  await openSlices.pause()
  return {
    openapi: '3.1.0',
    info: {
      title: sourceKind === 'localnet' ? 'Millrace (localnet)' : 'Millrace',
      version,
      summary: 'Real-time DEX data of Solana, self-hosted',
      description: `${sourceKind === null ? UNKNOWN_ORIGIN : ORIGINS[sourceKind]}\n\n${CONVENTIONS}`
    },
    servers: [{ url: '/', description: 'This service' }],
    tags: TAGS.map(([name, description]) => ({ name, description })),
    security: [{ ApiKey: [] }, { Bearer: [] }],
    paths,
    components: {
      schemas: schemas.components,
      responses: problems.components,
      headers: Object.fromEntries(
        Object.entries(HEADERS).map(([name, [type, description]]) => [
          name,
          { description, schema: { type } }
        ])
      ),
      securitySchemes: {
        ApiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'The API key' },
        Bearer: { type: 'http', scheme: 'bearer', description: 'The API key, as a bearer token' }
      }
    }
  }
}
