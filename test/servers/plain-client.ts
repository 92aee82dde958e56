import { auth, Client, policies } from 'cassandra-driver'
import type { CqlServer } from './cql.ts'

const CONNECTS_AGAIN_MS = 500
/** A change of the schema takes a busy server many seconds. */
const ANSWERS_WITHIN_MS = 60_000

/** Returns a client that is not connected yet, to inspect and change a store's data. Ends with `endClient`. */
export function plainClient({ contactPoints, datacenter, port, credentials }: CqlServer): Client {
  return new Client({
    contactPoints: [...contactPoints],
    localDataCenter: datacenter,
    protocolOptions: { port },
    socketOptions: { readTimeout: ANSWERS_WITHIN_MS },
    policies: { reconnection: new policies.reconnection.ConstantReconnectionPolicy(CONNECTS_AGAIN_MS) },
    ...(credentials && {
      authProvider: new auth.PlainTextAuthProvider(credentials.username, credentials.password)
    })
  })
}

/** The control connection of the driver, which its types leave out. */
interface Internals {
  readonly controlConnection: { _refresh: () => Promise<void> }
}

/**
 * Shuts a client down. If a connection had failed, the driver forgets that it is shut down: its control connection would
 * reconnect for ever and keep the process of the test alive.
 */
export async function endClient(client: Client): Promise<void> {
  const { controlConnection } = client as unknown as Internals
  controlConnection._refresh = async () => undefined
  await client.shutdown()
}
