import type { LeaderAddress } from './leader-node.ts'

/** The reasons for which a connection or a write fails. */
export type QuicFault =
  /** No handshake, or no credit for a write, in time. */
  | 'timeout'
  /** The leader closed the connection, before or after its handshake. */
  | 'refused'
  /** The leader allows no further stream on the connection. */
  | 'stream_limit'
  /** The connection was closed by this process, or had ended before the write. */
  | 'closed'
  /** Any other error of the QUIC library. */
  | 'failed'

export class QuicError extends Error {
  readonly reason: QuicFault

  constructor(reason: QuicFault, detail: string) {
    super(detail)
    this.name = 'QuicError'
    this.reason = reason
  }
}

/** A connection to the QUIC port of a leader. Its promises reject with QuicError only. */
export interface QuicConnection {
  /** Resolves when the handshake is done. */
  readonly opened: Promise<void>
  /** Resolves when the connection has ended, or could not be opened. Never rejects. */
  readonly closed: Promise<void>
  /** Writes bytes to a new unidirectional stream, and ends it. */
  write(bytes: Uint8Array): Promise<void>
  /** Closes the connection at once; bytes in flight may be lost. */
  close(): void
}

export interface QuicTransport {
  connect(address: LeaderAddress): QuicConnection
}
