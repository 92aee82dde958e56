import { ALL, API_KEY, TENANT, type KeyRow, type TenantRow } from '../access-documents.ts'
import { Documents } from '../documents.ts'
import type { Storage } from '../port.ts'
import { sampleBytes } from './choices.ts'
import { FIRST_TIME } from './sample-addresses.ts'

export function sampleKey(n: number): KeyRow {
  return {
    id: `key-${n}`,
    hash: sampleBytes(32, 70_000 + n),
    prefix: `mr_${n}`,
    tenant: `tenant-${n % 3}`,
    name: `key number ${n}`,
    scopes: n % 2 === 0 ? ['data:read', 'stream:read'] : [],
    createdAtMs: FIRST_TIME * 1_000 + n,
    ratePerMinute: n % 2 === 0 ? null : 60 * n,
    // Keys of earlier versions have none.
    ...(n % 3 !== 0 && { workPerMinute: n % 3 === 1 ? null : 900 * n }),
    expiresAtMs: n % 3 === 0 ? null : FIRST_TIME * 2_000 + n,
    revokedAtMs: n % 5 === 0 ? FIRST_TIME * 1_500 : null,
    allowedIps: n % 2 === 0 ? [] : ['10.0.0.0/8', '::1'],
    corsOrigins: n % 3 === 0 ? ['https://example.org'] : [],
    successor: n % 4 === 0 ? `key-${n + 1}` : null
  }
}

export function sampleTenant(n: number): TenantRow {
  return { name: `tenant-${n}`, createdAtMs: FIRST_TIME * 1_000 + n }
}

type Stores = Pick<Storage, 'documents'>

/** Stores a tenant unless one of its name exists. */
export async function putTenant({ documents }: Stores, tenant: TenantRow): Promise<void> {
  await new Documents(documents, TENANT).insert(tenant)
}

/** Stores a key unless one of its hash exists. */
export async function putKey({ documents }: Stores, key: KeyRow): Promise<void> {
  await new Documents(documents, API_KEY).insert(key)
}

/** All tenants in order of creation. */
export async function storedTenants({ documents }: Stores): Promise<TenantRow[]> {
  return (await new Documents(documents, TENANT).all(ALL)).map(({ value }) => value)
}

/** All keys in order of creation. */
export async function storedKeys({ documents }: Stores): Promise<KeyRow[]> {
  return (await new Documents(documents, API_KEY).all(ALL)).map(({ value }) => value)
}
