import { randomBytes } from 'node:crypto'
import { tenantKey } from '../codec/keys.ts'
import { packRecord, unpackRecord } from '../codec/record.ts'
import { byTenantCreation, tenantKind } from '../codec/tenant.ts'
import type { TenantRow, TenantStore } from '../port.ts'
import type { CqlClient, CqlRow } from './client.ts'
import { readSettled } from './conditional-writes.ts'
import type { ConditionalWrites } from './conditional-writes.ts'
import { isOutage, refused, unanswered } from './errors.ts'

/** All tenants are one partition: their number is the operator's. */
const ALL = 'all'
const SELECT = 'SELECT name, tenant, writer FROM tenants WHERE collection = ? AND name = ?'
const SELECT_ALL = 'SELECT name, tenant FROM tenants WHERE collection = ?'
const INSERT = 'INSERT INTO tenants (collection, name, tenant, writer) VALUES (?, ?, ?, ?) IF NOT EXISTS'
/** Times that a creation is sent again after it was found not done. */
const TRIES = 3

export function tenantStore(client: CqlClient, writes: ConditionalWrites): TenantStore {
  return {
    create: (tenant) => writes.run('tenants', () => create(client, tenant)),
    async get(name) {
      const [row] = await client.read(SELECT, [ALL, name])
      return row === undefined ? null : tenantIn(row)
    },
    async all() {
      const rows = await client.read(SELECT_ALL, [ALL])
      return rows.map(tenantIn).sort(byTenantCreation)
    }
  }
}

/** Whether this creation is the one that was first. What an answer would have said is found by who wrote the row. */
async function create(client: CqlClient, tenant: TenantRow): Promise<boolean> {
  const writer = randomBytes(16)
  const value = Buffer.from(packRecord(tenantKind, tenantKey(tenant.name), tenant))
  const statement = { statement: INSERT, params: [ALL, tenant.name, value, writer] }
  for (let tries = 1; ; tries++)
    try {
      const { applied, row } = await client.conditional([statement])
      return applied || isBy(writer, row)
    } catch (error) {
      if (!isOutage(error)) throw refused(error)
      const [row] = await readSettled(client, { statement: SELECT, params: [ALL, tenant.name] })
      if (row !== undefined) return isBy(writer, row)
      if (tries === TRIES) throw unanswered(error)
    }
}

const isBy = (writer: Buffer, row: CqlRow): boolean => writer.equals(row['writer'] as Buffer)

const tenantIn = (row: CqlRow): TenantRow =>
  unpackRecord(tenantKind, tenantKey(row['name'] as string), row['tenant'] as Buffer)
