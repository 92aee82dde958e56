import { ERRORS, ServiceError } from '../../src/kernel/errors.ts'
import type { CqlClient } from './client.ts'
import { isAtLeast, serverVersion, type ServerVersion } from './server-version.ts'

/** Replicas of a row: in the local datacenter, or in each of several datacenters, by their names. */
export type Replication = number | Readonly<Record<string, number>>

/**
 * The first ScyllaDB whose conditional writes work on tablets (https://github.com/scylladb/scylladb/pull/28336). Claims,
 * watermarks and documents are conditional writes.
 */
const TABLETS_SINCE = [2025, 4] as const

export interface KeyspaceLayout {
  readonly keyspace: string
  /** The local datacenter. */
  readonly datacenter: string
  readonly replication: Replication
  /** Whether a new keyspace has tablets. An existing one stays as it is. */
  readonly hasTablets?: boolean
}

/** Creates a keyspace if it is missing. Refuses one with another number of replicas than the layout states. */
export async function makeKeyspace(
  client: Pick<CqlClient, 'read' | 'define'>,
  layout: KeyspaceLayout
): Promise<void> {
  const statement = 'SELECT replication FROM system_schema.keyspaces WHERE keyspace_name = ?'
  const [found] = await client.read(statement, [layout.keyspace])
  if (found !== undefined)
    return refuseOther(layout, found['replication'] as Readonly<Record<string, string>>)
  await client.define(keyspaceStatement(layout, await serverVersion(client)))
}

/** Returns the statement that creates a keyspace. Throws STORAGE_UNAVAILABLE for a layout that the server cannot have. */
export function keyspaceStatement(layout: KeyspaceLayout, server: ServerVersion): string {
  const replicas = Object.entries(replicasOf(layout)).map(([name, count]) => `'${name}': ${count}`)
  return `CREATE KEYSPACE IF NOT EXISTS ${layout.keyspace} WITH replication = {'class': 'NetworkTopologyStrategy', ${replicas.join(', ')}}${tabletsOf(layout, server)}`
}

function tabletsOf({ hasTablets = false }: KeyspaceLayout, server: ServerVersion): string {
  const { product, version } = server
  if (hasTablets && (product !== 'ScyllaDB' || !isAtLeast(version, TABLETS_SINCE)))
    throw new ServiceError(
      ERRORS.STORAGE_UNAVAILABLE,
      `the cluster runs ${product} ${version}, which has no conditional writes on tablets (ScyllaDB has, from ${TABLETS_SINCE.join('.')} on): unset MILLRACE_SCYLLA_TABLETS`
    )
  return product === 'ScyllaDB' ? ` AND tablets = {'enabled': ${hasTablets}}` : ''
}

/** The replicas of each datacenter. Throws STORAGE_UNAVAILABLE if the local one has none. */
function replicasOf({ datacenter, replication }: KeyspaceLayout): Readonly<Record<string, number>> {
  if (typeof replication === 'number') return { [datacenter]: replication }
  if (replication[datacenter] !== undefined) return replication
  throw new ServiceError(
    ERRORS.STORAGE_UNAVAILABLE,
    `MILLRACE_SCYLLA_REPLICATION states no replicas in ${datacenter}, the local datacenter: add ${datacenter}:3 to it, or set MILLRACE_SCYLLA_DATACENTER to one of ${Object.keys(replication).join(', ')}`
  )
}

/** Datacenters that the layout does not name are ignored: an operator adds one to the keyspace before the setting. */
function refuseOther(layout: KeyspaceLayout, stored: Readonly<Record<string, string>>): void {
  for (const [name, replicas] of Object.entries(replicasOf(layout))) {
    const found = Number(stored[name] ?? stored['replication_factor'])
    if (found === replicas) continue
    throw new ServiceError(
      ERRORS.STORAGE_UNAVAILABLE,
      `the keyspace ${layout.keyspace} has ${found || 'no'} replicas in ${name}, not ${replicas}: set MILLRACE_SCYLLA_REPLICATION, or alter the keyspace and repair it`
    )
  }
}
