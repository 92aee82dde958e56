import { readSanitizedWire } from '../../chain/sanitized-wire.ts'
import { callsOnly } from '../../chain/wire.ts'
import type { WireTransaction } from '../../chain/wire.ts'
import { SendFailure } from '../chain.ts'
import { VOTE } from '../programs.ts'

/** A node's text for every message that it reads and refuses. */
const UNSOUND = 'Transaction failed to sanitize accounts offsets correctly'

/** A transaction that is safe to pass to the engine, which ends the process on bytes that it cannot read. */
export interface ReadTransaction {
  readonly bytes: Uint8Array
  readonly wire: WireTransaction
  /** 64 bytes. */
  readonly signature: Uint8Array
  readonly isVote: boolean
}

/** Reads a transaction as strictly as a node does. Throws a SendFailure `undecodable` otherwise. */
export function readTransaction(bytes: Uint8Array): ReadTransaction {
  const read = readSanitizedWire(bytes)
  if (read.kind !== 'wire') {
    const detail = read.kind === 'unsound' ? UNSOUND : read.reason
    throw new SendFailure({ kind: 'undecodable', detail })
  }
  const { wire } = read
  return { bytes, wire, signature: wire.signatures[0]!, isVote: callsOnly(wire, VOTE) }
}
