import { z } from 'zod'
import { defineDocument, jsonBytes } from './document-definition.ts'
import type { DocumentStore } from './document-store.ts'
import { Documents } from './documents.ts'

/**
 * The only partition of all tenants, and of all keys. The operator sets their number, and hashes must be unique among all.
 */
export const ALL = 'all'

/** A tenant, which owns keys. Its name is its id. */
const tenant = z
  .object({
    name: z.string(),
    createdAtMs: z.number(),
    /** The request that created it; absent for tenants of earlier versions, and the service's own. */
    madeBy: z.string().optional()
  })
  .readonly()

/** An API key as stored: never the key itself. Times are unix milliseconds. */
const apiKey = z
  .object({
    id: z.string(),
    /** SHA-256 of the whole key. */
    hash: jsonBytes,
    /** The part that may be shown. */
    prefix: z.string(),
    tenant: z.string(),
    name: z.string(),
    scopes: z.array(z.string()).readonly(),
    createdAtMs: z.number(),
    /** Null: the configured default applies. */
    ratePerMinute: z.number().nullable(),
    /** Units of work; null, or absent in keys of earlier versions: the configured default applies. */
    workPerMinute: z.number().nullable().optional(),
    /** Rows of exports; null, or absent in keys of earlier versions: the default applies. */
    exportRowsPerDay: z.number().nullable().optional(),
    /** Valid strictly before; null never ends. */
    expiresAtMs: z.number().nullable(),
    revokedAtMs: z.number().nullable(),
    /** Addresses and CIDR ranges that may use it; empty lets all. */
    allowedIps: z.array(z.string()).readonly(),
    /** Origins whose pages may use it; empty lets none. */
    corsOrigins: z.array(z.string()).readonly(),
    /** The id of the key that took its place. */
    successor: z.string().nullable()
  })
  .readonly()

export type TenantRow = z.infer<typeof tenant>
export type KeyRow = z.infer<typeof apiKey>

/** Tenants in order of creation. */
export const TENANT = defineDocument({
  kind: 'tenant',
  schema: tenant,
  partition: () => ALL,
  key: ({ createdAtMs, name }) => [createdAtMs, name],
  unique: { name: ({ name }) => [name] }
})

/** API keys in order of creation. */
export const API_KEY = defineDocument({
  kind: 'api-key',
  schema: apiKey,
  partition: () => ALL,
  key: ({ createdAtMs, id }) => [createdAtMs, id],
  unique: { hash: ({ hash }) => [hash] }
})

export const tenantsIn = (store: DocumentStore) => new Documents(store, TENANT)
export const apiKeysIn = (store: DocumentStore) => new Documents(store, API_KEY)
