import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { z } from 'zod'
import { isAddressRange } from '../address-ranges.ts'
import { makeApiKey } from '../api-key.ts'
import type { IssuedKey } from '../key-row.ts'
import { NO_SEAL } from '../text-seal.ts'
import { DEFAULT_SCOPES, SCOPES } from '../scopes.ts'
import { isOriginEntry, ORIGIN_ENTRY_FORMS } from '../origin-entry.ts'
import { issuedKeyAnswer, keyAnswer, keyBody } from '../bodies/api-key.ts'
import { CLOCKS, listOf } from '../../kernel/http/schema.ts'
import type { HttpKernel } from '../../kernel/http/http-kernel.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serve } from '../../kernel/http/serve.ts'
import { EXAMPLE_KEY_ID } from '../../edge/routes/example-values.ts'
import { idPage, idPaging } from '../../kernel/http/id-page.ts'
import { invalid, oneOf } from '../../kernel/http/parameters.ts'
import { tenantName } from './admin-tenants.ts'
import { ACCESS_ERRORS } from '../errors.ts'
import { ERRORS } from '../../kernel/errors.ts'

/** Maximum calls per minute: 16,700 a second, more than one process answers. */
const RATE_MAX = 1_000_000
/** Maximum units of work per minute: those of 166 cores. More would never be reached. */
const WORK_MAX = 1_000_000_000
/** Maximum exported rows per day: 1.2 TB of trades as CSV, more than one process writes in a day. */
const EXPORT_ROWS_MAX = 1_000_000_000
/** Arbitrary; a key with all ranges and origins takes several kilobytes of memory in every process. */
const ADDRESSES_MAX = 64
const ORIGINS_MAX = 16
/** A key that was replaced because it leaked does not work for more than a month. */
const GRACE_SECONDS_MAX = 30 * 86_400

const keyParams = z.object({ id: z.string().min(1).describe('The id of a key') })

/** A limit of a key; null for the default of the service. */
const limitOf = (max: number, min = 1) => {
  const error = `must be a whole number between ${min} and ${max}`
  return z.int(error).min(min, error).max(max, error).nullable().default(null)
}

export const createKey = endpoint({
  method: 'POST',
  path: '/v1/admin/keys',
  tag: 'Administration',
  summary: 'Make a key',
  description:
    'The key is shown only in this answer: the service stores its hash alone. A tenant has at most 1,000 active keys.',
  scope: 'admin',
  body: z.object({
    tenant: tenantName,
    name: z
      .string()
      .regex(/^[^\p{C}]{0,100}$/u, 'must have at most 100 characters and no control characters')
      .default('')
      .describe('A name for people'),
    scopes: z
      .array(oneOf(SCOPES))
      .min(1, 'must name a scope')
      .refine((scopes) => new Set(scopes).size === scopes.length, 'must name a scope once')
      .default([...DEFAULT_SCOPES])
      .describe('Scopes: the permissions of the key; default: all except `admin`'),
    rate_limit_per_minute: limitOf(RATE_MAX).describe(
      'Calls allowed per clock minute; null: the default of the service'
    ),
    work_limit_per_minute: limitOf(WORK_MAX).describe(
      'Units of work allowed per clock minute; null: the default of the service. All keys of a tenant share the larger of this and the default'
    ),
    export_rows_per_day: limitOf(EXPORT_ROWS_MAX, 0).describe(
      'Rows that exports may send in a day of UTC; 0: no exports. Null: 1,000,000'
    ),
    expires_at: z.iso
      .datetime({ offset: true, error: 'must be a time as in 2027-01-31T12:00:00Z' })
      .nullable()
      .default(null)
      .describe(
        `Time from which the key no longer works; ${CLOCKS.service}, ISO 8601 with a zone, in the future. Null: the key does not expire`
      ),
    allowed_ips: z
      .array(z.string().refine(isAddressRange, 'must be an IPv4 or IPv6 address or CIDR range'))
      .max(ADDRESSES_MAX, `must be at most ${ADDRESSES_MAX}`)
      .default([])
      .describe('IP addresses and CIDR ranges that may use the key; empty: all'),
    cors_origins: z
      .array(z.string().refine(isOriginEntry, ORIGIN_ENTRY_FORMS))
      .max(ORIGINS_MAX, `must be at most ${ORIGINS_MAX}`)
      .default([])
      .describe(
        'Origins whose pages may use the key in a browser (CORS): exact ones, `https://*.example.org` for one more label, `chrome-extension://ID` or `moz-extension://ID` (`*` for all), `http://localhost:*` for every port, `*` for every origin but `null`, and `null` by name. With a product in front (`rpc:*`) the entry is for that product alone. Empty: none'
      )
  }),
  status: 201,
  answer: issuedKeyAnswer,
  isIdempotent: true,
  shownBy: 'GET /v1/admin/keys',
  errors: [ACCESS_ERRORS.TENANT_NOT_FOUND, ACCESS_ERRORS.KEY_LIMIT_REACHED],
  examples: [
    { name: 'a key with the usual scopes', body: { tenant: 'demo', name: 'backend' } },
    {
      name: 'a key that reads data for one page, for a while',
      body: {
        tenant: 'demo',
        name: 'charts',
        scopes: ['data:read'],
        rate_limit_per_minute: 60,
        work_limit_per_minute: 300_000,
        export_rows_per_day: 0,
        expires_at: '2099-01-01T00:00:00Z',
        allowed_ips: ['10.0.0.0/8', '2001:db8::/32'],
        cors_origins: ['https://app.example.org']
      }
    }
  ]
})

export const listKeys = endpoint({
  path: '/v1/admin/keys',
  tag: 'Administration',
  summary: 'List keys',
  description: 'Every key, expired and revoked ones included, in order of creation.',
  scope: 'admin',
  query: z.object({ ...idPaging, tenant: tenantName.optional().describe('Only keys of this tenant') }),
  answer: listOf(keyAnswer),
  errors: [ERRORS.CURSOR_INVALID, ACCESS_ERRORS.TENANT_NOT_FOUND],
  examples: [{ name: 'the keys of a tenant', query: { tenant: 'demo', limit: '10' } }]
})

export const getKey = endpoint({
  path: '/v1/admin/keys/{id}',
  tag: 'Administration',
  summary: 'Look at a key',
  scope: 'admin',
  params: keyParams,
  answer: keyAnswer,
  errors: [ACCESS_ERRORS.KEY_NOT_FOUND],
  examples: [{ name: 'a key', params: { id: EXAMPLE_KEY_ID } }]
})

export const revokeKey = endpoint({
  method: 'DELETE',
  path: '/v1/admin/keys/{id}',
  tag: 'Administration',
  summary: 'Revoke a key',
  description:
    'Revokes a key at once and permanently. Revoking it again changes nothing. The last active admin key cannot be revoked.',
  scope: 'admin',
  params: keyParams,
  answer: keyAnswer,
  shownBy: 'GET /v1/admin/keys/{id}',
  errors: [ACCESS_ERRORS.KEY_NOT_FOUND, ACCESS_ERRORS.KEY_LAST],
  examples: [{ name: 'a key', params: { id: EXAMPLE_KEY_ID } }]
})

export const rotateKey = endpoint({
  method: 'POST',
  path: '/v1/admin/keys/{id}/rotate',
  tag: 'Administration',
  summary: 'Rotate a key',
  description:
    'Makes a successor with the same attributes. The new key is shown only in this answer. The old key works until the end of the grace period, or until its own expiry if that is earlier.',
  scope: 'admin',
  params: keyParams,
  body: z.object({
    grace_seconds: z
      .int(`must be a whole number between 0 and ${GRACE_SECONDS_MAX}`)
      .min(0, `must be a whole number between 0 and ${GRACE_SECONDS_MAX}`)
      .max(GRACE_SECONDS_MAX, `must be a whole number between 0 and ${GRACE_SECONDS_MAX}`)
      .default(0)
      .describe('Grace period: seconds for which the old key keeps working; 0: none')
  }),
  status: 201,
  answer: issuedKeyAnswer,
  isIdempotent: true,
  shownBy: 'GET /v1/admin/keys',
  errors: [ACCESS_ERRORS.KEY_NOT_FOUND, ACCESS_ERRORS.KEY_INACTIVE, ACCESS_ERRORS.KEY_LIMIT_REACHED],
  examples: [{ name: 'with a day of grace', params: { id: EXAMPLE_KEY_ID }, body: { grace_seconds: 86_400 } }]
})

/** Purpose of the encrypted secret of a key, stored beside the request that creates the key. */
const PURPOSE = 'api-key'

export const adminKeyRoutes: FastifyPluginAsync<Pick<HttpKernel, 'keys' | 'clock' | 'seal'>> = async (
  app,
  { keys, clock, seal = NO_SEAL }
) => {
  const makeSecret = async (): Promise<string> => seal.sealText(PURPOSE, makeApiKey())

  serve(app, createKey, async ({ body, reply, once }) => {
    const nowMs = clock.now()
    const expiresAtMs = body.expires_at === null ? null : Date.parse(body.expires_at)
    const prepare = async (): Promise<string> => {
      if (expiresAtMs !== null && expiresAtMs <= nowMs) throw invalid('expires_at', 'must be in the future')
      return makeSecret()
    }
    const { tenant, name, scopes } = body
    const attributes = {
      tenant,
      name,
      scopes,
      ratePerMinute: body.rate_limit_per_minute,
      workPerMinute: body.work_limit_per_minute,
      exportRowsPerDay: body.export_rows_per_day,
      expiresAtMs,
      allowedIps: body.allowed_ips,
      corsOrigins: body.cors_origins
    }
    const issued = await once(body, prepare, ({ id }) =>
      keys.issue(attributes, nowMs, seal.openText(PURPOSE, id))
    )
    return showOnce(issued, nowMs, reply)
  })

  serve(app, listKeys, async ({ query }) => {
    const { tenant } = query
    const listed = tenant === undefined ? keys.keys : keys.keysOf(tenant)
    const { page, nextCursor } = idPage(listed, (row) => row.id, query)
    const nowMs = clock.now()
    return { data: page.map((row) => keyBody(row, nowMs)), nextCursor }
  })

  serve(app, getKey, async ({ params }) => keyBody(keys.key(params.id), clock.now()))

  serve(app, revokeKey, async ({ params }) => {
    const nowMs = clock.now()
    return keyBody(await keys.revoke(params.id, nowMs), nowMs)
  })

  serve(app, rotateKey, async ({ params, body, reply, once }) => {
    const nowMs = clock.now()
    const issued = await once(body, makeSecret, ({ id }) =>
      keys.rotate(params.id, body.grace_seconds * 1000, nowMs, seal.openText(PURPOSE, id))
    )
    return showOnce(issued, nowMs, reply)
  })
}

function showOnce({ row, key }: IssuedKey, nowMs: number, reply: FastifyReply) {
  void reply.header('cache-control', 'no-store')
  return { ...keyBody(row, nowMs), key }
}
