/** Limits on connections and requests that clients may hold open at the HTTP server. */
export interface HttpBounds {
  /** Time from the start of a request until all of it has arrived, body included. */
  readonly requestMs: number
  /** Interval of the check for late requests: a request may take this much longer than `requestMs`. */
  readonly checkMs: number
  /** Idle time in both directions after which a connection is closed. Between requests, Node's own limit applies. */
  readonly stalledMs: number
  /** Time without progress after which the connection of a client that does not read a complete answer is closed. */
  readonly unreadMs: number
  /** Time for which a client that still sends can read the last answer of a connection. */
  readonly lingerMs: number
  /** Connections from one address. Streams are not counted: their limit is per key. */
  readonly connectionsPerAddress: number
  /** Connections from all addresses, streams included. */
  readonly connections: number
}

/**
 * File descriptors that stay free for the store's files, nodes, the cluster and Redis. The embedded store keeps at most
 * 1,000 files open.
 */
const DESCRIPTORS_RESERVED = 2_000
/** The 50,000 streams that the service admits, and other connections up to 16 bits. */
const CONNECTIONS_MAX = 65_536
/**
 * Above 5,000 clients behind one proxy that reconnect at once after a restart (loadtest/stream-storm.ts). All of them
 * wait for their handshake at once.
 */
const CONNECTIONS_PER_ADDRESS_MAX = 8_192

/**
 * Returns the bounds of a process that may open a given number of files. One address gets at most half of the connections,
 * so that it cannot lock out others.
 */
export function httpBounds(descriptorsMax: number): HttpBounds {
  const reserved = Math.min(DESCRIPTORS_RESERVED, Math.ceil(descriptorsMax / 2))
  const connections = Math.min(CONNECTIONS_MAX, descriptorsMax - reserved)
  return {
    // A body has at most 64 KiB, which takes 17 s at 32 kbit/s.
    requestMs: 30_000,
    checkMs: 1_000,
    // Above the deadline of a request, so that a stalled request is refused with a response before it is cut off.
    stalledMs: 60_000,
    // Three times the longest pause of a mobile network that changes its cell.
    unreadMs: 20_000,
    // Several intercontinental round trips.
    lingerMs: 2_000,
    connectionsPerAddress: Math.min(CONNECTIONS_PER_ADDRESS_MAX, Math.floor(connections / 2)),
    connections
  }
}
