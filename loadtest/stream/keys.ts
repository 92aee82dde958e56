import { SOCKETS_PER_KEY_MAX } from '../../src/access/key-sockets.ts'
import { newKey } from '../../src/access/key-row.ts'
import { apiKeysIn, tenantsIn } from '../../storage/access-documents.ts'
import type { Storage } from '../../storage/port.ts'

/** Returns the key of the n-th connection; a key serves as many connections as its limit allows. */
export const keyOf = (connection: number): string =>
  `mr_live_loadtest_${Math.floor(connection / SOCKETS_PER_KEY_MAX)}`

/** Stores the keys for a number of connections. */
export async function storeKeys({ documents }: Storage, connections: number): Promise<void> {
  const keys = apiKeysIn(documents)
  await tenantsIn(documents).insert({ name: 'loadtest', createdAtMs: 1 })
  for (let i = 0; i < connections; i += SOCKETS_PER_KEY_MAX) {
    const { row } = newKey(
      keyOf(i),
      {
        tenant: 'loadtest',
        name: `of connection ${i}`,
        scopes: ['stream'],
        ratePerMinute: null,
        expiresAtMs: null,
        allowedIps: [],
        corsOrigins: []
      },
      1
    )
    await keys.insert(row)
  }
}
