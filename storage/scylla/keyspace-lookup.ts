import type { Ports } from '../../src/ports.ts'
import { CqlClient } from './client.ts'
import type { DriverOptions } from './driver.ts'
import { startProblem } from './errors.ts'

type KeyspaceOptions = DriverOptions & { readonly keyspace: string }

/** Tells whether a keyspace exists, and creates nothing. Rejects with STORAGE_UNAVAILABLE. */
export function isKeyspaceThere(options: KeyspaceOptions, ports: Ports): Promise<boolean> {
  return connected(options, ports, async (client) => {
    const statement = 'SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = ?'
    return (await client.read(statement, [options.keyspace])).length > 0
  })
}

/** Removes a keyspace with everything in it, if it exists. Rejects with STORAGE_UNAVAILABLE. */
export function dropKeyspace(options: KeyspaceOptions, ports: Ports): Promise<void> {
  return connected(options, ports, (client) => client.define(`DROP KEYSPACE IF EXISTS ${options.keyspace}`))
}

async function connected<T>(
  options: KeyspaceOptions,
  ports: Ports,
  run: (client: CqlClient) => Promise<T>
): Promise<T> {
  try {
    const client = await CqlClient.connect(options, null, ports)
    try {
      return await run(client)
    } finally {
      await client.close()
    }
  } catch (error) {
    throw startProblem(error, options)
  }
}
