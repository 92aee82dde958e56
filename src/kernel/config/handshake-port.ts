import type { Config } from './config.ts'

/** The port for handshakes of clients that add one to the RPC URL's port: a number, `next` to the service's, or null. */
export type HandshakePort = number | 'next' | null

/** Returns the port that also accepts handshakes. A localnet has such a port by default: its URL states a port. */
export function handshakePortOf({
  rpcWsCompatPort: port,
  role,
  source
}: Pick<Config, 'rpcWsCompatPort' | 'role' | 'source'>): HandshakePort {
  if (typeof port === 'number') return port
  // Only the process that ingests runs the localnet.
  return port === 'auto' && role.includes('ingest') && source === 'localnet' ? 'next' : null
}

/**
 * Returns the port of the localnet's node; its pubsub is on the following port. These are the first two ports after the
 * service's port that are not for handshakes. 0 if the service picks a free port.
 */
export function localnetNodePort(
  config: Pick<Config, 'rpcWsCompatPort' | 'role' | 'source' | 'port'>
): number {
  const { port } = config
  if (port === 0) return 0
  const handshakePort = handshakePortOf(config)
  const taken = handshakePort === 'next' ? port + 1 : handshakePort
  const first = port + 1
  return taken === first || taken === first + 1 ? taken + 1 : first
}
