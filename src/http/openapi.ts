import type { SourceKind } from '../config.ts'
import type { Served } from './endpoint.ts'
import { JsonSchemas, type JsonSchema } from './json-schemas.ts'
import { operationOf } from './operation.ts'
import { ProblemResponses } from './problem-responses.ts'
import { PROBLEM } from './problem-schema.ts'

const DATA = 'executed trades, candles, prices, launches, pools and wallets'

/** Where the data is from, by the source of blocks. */
const ORIGINS: Readonly<Record<SourceKind, string>> = {
  localnet: `**This is a localnet**: a Solana chain inside this process, with a simulated market. It has ${DATA} like a \
real chain; nothing here is from mainnet.`,
  recorded: `DEX data of Solana: ${DATA}, indexed from recorded blocks.`,
  rpc: `DEX data of Solana: ${DATA}, indexed live from the operator's own nodes.`,
  yellowstone: `DEX data of Solana: ${DATA}, indexed live from the operator's own nodes.`
}
/** A process that does not ingest cannot know the source of those that do. */
const UNKNOWN_ORIGIN = `DEX data of Solana: ${DATA}.`

const CONVENTIONS = `**Numbers.** \`…_raw\` fields are base units as text; amounts without it have the decimals applied. What is not known is
\`null\`, never 0. Percentages are 0 to 100. Fields may be added to answers; those there are keep their meaning.

**Time.** \`ts\` is the block's time in UTC, \`ts_ms\` the same in unix milliseconds. Windows such as 24 h end with the
minute of the newest indexed block, whose age is in \`X-Data-Freshness-Seconds\`.

**Lists** are newest first unless they say otherwise. \`nextCursor\` of a page is \`after\` of the next one.

**Errors** are [problem+json](https://www.rfc-editor.org/rfc/rfc9457) with a stable \`code\`; \`type\` is a page that
explains it. Methods that a path does not have are refused with 405 and \`Allow\`. Wherever there is GET there is HEAD.`

const TAGS = [
  ['Market', 'All tokens together'],
  ['Tokens', 'One token, by its mint'],
  ['Pools', 'One pool, by its address'],
  ['Wallets', 'One wallet, by its address'],
  ['Account', 'The key that asks'],
  ['Service', 'Health, metrics and this document'],
  ['Administration', 'Tenants and keys, and what the service is doing; for operators']
] as const

const HEADERS = {
  'X-Request-Id': ['string', 'Names the request in logs and problems'],
  'X-Data-Freshness-Seconds': [
    'integer',
    'Age of the newest indexed block, in seconds; absent while there is none'
  ],
  ETag: ['string', 'Names the answer; send it as `If-None-Match` to hear 304 while it holds'],
  'RateLimit-Policy': ['string', 'The quota of the key (draft-ietf-httpapi-ratelimit-headers)'],
  RateLimit: ['string', 'What is left of it (the same draft)'],
  'X-RateLimit-Limit': ['integer', 'Calls that the key may make in a minute'],
  'X-RateLimit-Remaining': ['integer', 'Calls left in this minute'],
  'X-RateLimit-Reset': ['integer', 'When the next minute begins, in unix seconds'],
  'Retry-After': ['integer', 'Seconds after which to ask again'],
  'WWW-Authenticate': ['string', '`Bearer`']
} as const

export interface DocumentFacts {
  readonly version: string
  /** Null where this process takes no blocks from a source itself. */
  readonly sourceKind: SourceKind | null
}

/** The OpenAPI 3.1 document of what is served. */
export function openApiOf(served: readonly Served[], { version, sourceKind }: DocumentFacts): JsonSchema {
  const schemas = new JsonSchemas()
  const problems = new ProblemResponses(schemas.ofOutput(PROBLEM))
  const paths: Record<string, JsonSchema> = {}
  for (const one of served) {
    const { path, method } = one.endpoint
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationOf(one, schemas, problems) }
  }
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
        Bearer: { type: 'http', scheme: 'bearer', description: 'The same key, as a bearer token' }
      }
    }
  }
}
