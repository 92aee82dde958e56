import { z } from 'zod'
import { DESCRIPTION_MAX } from '../off-chain-fields.ts'
import { OFF_CHAIN_ERRORS, type KnownOffChain, type OffChainFields } from '../ports.ts'
import * as schema from '../../kernel/http/schema.ts'
import { ageSeconds, secondsText } from '../../kernel/http/time.ts'

const stated = (meaning: string) =>
  z
    .string()
    .nullable()
    .describe(`${meaning}, as the JSON states it; null if it is missing or has another form`)
const web = (meaning: string) => stated(`${meaning}, a URL with http or https`)

/** Schema of the fields of the JSON at the URI of a mint. */
export const OFF_CHAIN = z
  .object({
    state: z
      .enum(['none', 'pending', 'read', 'failed'])
      .describe(
        '`none`: there is no `uri`; `pending`: not fetched yet, retry later; `read`: fetched; `failed`: the fetch failed, see `error`'
      ),
    error: z.enum(OFF_CHAIN_ERRORS).nullable().describe('Why the fetch failed; null otherwise'),
    image: stated('URL of the image with http, https, ipfs or ar'),
    description: stated(`Description, its first ${DESCRIPTION_MAX} characters`),
    website: web('Website'),
    twitter: web('Page on X'),
    telegram: web('Page on Telegram'),
    discord: web('Page on Discord'),
    updated_at: schema
      .time('When it was fetched', 'service')
      .nullable()
      .describe('When it was fetched; by the clock of the service, UTC, `YYYY-MM-DD HH:MM:SS`; null before'),
    age_seconds: schema.count('Age').nullable().describe('Whole seconds since then; null before')
  })
  .meta({
    id: 'OffChainMetadata',
    description: 'The JSON at the URI of a mint. Its creator writes it, and its content is not verified'
  })

/** Renders the known fields of the JSON at a URI, at a time; undefined for a mint without a URI. */
export function offChainBody(known: KnownOffChain | undefined, nowMs: number): z.input<typeof OFF_CHAIN> {
  const fields = known?.kind === 'read' ? known.fields : NO_FIELDS
  const readAtMs = known === undefined || known.kind === 'pending' ? null : known.readAtMs
  return {
    state: known?.kind ?? 'none',
    error: known?.kind === 'failed' ? known.error : null,
    ...fields,
    updated_at: readAtMs === null ? null : secondsText(Math.floor(readAtMs / 1000)),
    age_seconds: readAtMs === null ? null : ageSeconds(readAtMs, nowMs)
  }
}

const NO_FIELDS: OffChainFields = {
  image: null,
  description: null,
  website: null,
  twitter: null,
  telegram: null,
  discord: null
}
