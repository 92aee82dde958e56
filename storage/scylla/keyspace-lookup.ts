import type { Ports } from '../../src/ports.ts'
import { CqlClient } from './client.ts'
import type { DriverOptions } from './driver.ts'
import { startProblem } from './errors.ts'

/** Tells whether a keyspace exists, and creates nothing. Rejects with STORAGE_UNAVAILABLE. */
export async function isKeyspaceThere(
  options: DriverOptions & { readonly keyspace: string },
  ports: Ports
): Promise<boolean> {
  const { keyspace } = options
  try {
    const client = await CqlClient.connect(options, null, ports)
    try {
      const statement = 'SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = ?'
      return (await client.read(statement, [keyspace])).length > 0
    } finally {
      await client.close()
    }
  } catch (error) {
    throw startProblem(error, options)
  }
}
