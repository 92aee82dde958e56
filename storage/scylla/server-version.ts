import { ERRORS, ServiceError } from '../../src/kernel/errors.ts'
import type { CqlClient } from './client.ts'

/** The oldest versions with which this store's statements are known to work. */
const OLDEST = { 'Apache Cassandra': [5, 0], ScyllaDB: [6, 0] } as const

export interface ServerVersion {
  readonly product: keyof typeof OLDEST
  readonly version: string
}

/** Version of the server. ScyllaDB says which Cassandra it is like, and its own version in a table that only it has. */
export async function serverVersion(client: Pick<CqlClient, 'read'>): Promise<ServerVersion> {
  const tables =
    "SELECT table_name FROM system_schema.tables WHERE keyspace_name = 'system' AND table_name = 'versions'"
  if ((await client.read(tables, [])).length > 0) {
    const [row] = await client.read("SELECT version FROM system.versions WHERE key = 'local'", [])
    return { product: 'ScyllaDB', version: row?.['version'] as string }
  }
  const [row] = await client.read("SELECT release_version FROM system.local WHERE key = 'local'", [])
  return { product: 'Apache Cassandra', version: row?.['release_version'] as string }
}

/** Throws unless a server is new enough. */
export function refuseOldServer({ product, version }: ServerVersion): void {
  const [major, minor] = OLDEST[product]
  if (!isAtLeast(version, [major, minor]))
    throw new ServiceError(
      ERRORS.STORAGE_UNAVAILABLE,
      `the cluster runs ${product} ${version}, which is too old: upgrade it to ${major}.${minor} or newer`
    )
}

/** Tells whether a version is this one or newer; false for a version of another form. */
export function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [, foundMajor, foundMinor] = /^(\d+)\.(\d+)/.exec(version) ?? []
  if (foundMajor === undefined) return false
  return Number(foundMajor) > major || (Number(foundMajor) === major && Number(foundMinor) >= minor)
}
