import { SOCKETS_PER_KEY_MAX } from '../../src/access/key-sockets.ts'
import { newKey } from '../../src/access/key-row.ts'
import { apiKeysIn, tenantsIn } from '../../storage/access-documents.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'

const TENANT = 'disturbing'

/** Returns the URL path of the other tenant's n-th connection. */
export const otherPath = (connection: number): string => `/v1/stream?key=${keyOf(connection)}`

const keyOf = (connection: number): string =>
  `mr_live_${TENANT}_${Math.floor(connection / SOCKETS_PER_KEY_MAX)}`

/** Stores keys of a second tenant for a number of connections. No server may have the store open. */
export async function storeOtherTenant(
  directory: string,
  connections: number,
  ratePerMinute: number
): Promise<void> {
  const storage = await openEmbeddedStorage({ directory })
  const keys = apiKeysIn(storage.documents)
  await tenantsIn(storage.documents).insert({ name: TENANT, createdAtMs: 1 })
  for (let i = 0; i < connections; i += SOCKETS_PER_KEY_MAX) {
    const attributes = {
      tenant: TENANT,
      name: `of connection ${i}`,
      scopes: ['stream'],
      ratePerMinute,
      expiresAtMs: null,
      allowedIps: [],
      corsOrigins: []
    }
    await keys.insert(newKey(keyOf(i), attributes, 1).row)
  }
  await storage.close()
}
