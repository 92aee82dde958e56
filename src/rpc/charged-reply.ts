import type { RateUse } from '../../storage/cluster/coordination.ts'
import type { RpcReply } from './gateway.ts'
import { MadePieces } from './reply-body.ts'
import type { RpcWork } from './rpc-work.ts'

/** A reply whose work is charged. */
export interface ChargedReply {
  readonly reply: RpcReply
  /** Units of the whole body; null while the body is still arriving, whose bytes are charged when it ends. */
  readonly units: number | null
  /** State of the key's quota. */
  readonly left: RateUse
}

/** Charges the work of a reply. */
export function chargedReply(reply: RpcReply, work: RpcWork): ChargedReply {
  const { units, left } = work.charge()
  const { body } = reply
  // The bytes of a body in memory are counted where it was made.
  if (body === null || Buffer.isBuffer(body) || body instanceof MadePieces) return { reply, units, left }
  return { reply: { ...reply, body: metered(body, work) }, units: null, left }
}

/** Passes the pieces of a body on, and charges their bytes when it ends, however it ends. */
async function* metered(body: AsyncIterable<Buffer>, work: RpcWork): AsyncGenerator<Buffer> {
  try {
    for await (const piece of body) {
      work.count('kibibyte', piece.length / 1024)
      yield piece
    }
  } finally {
    work.charge()
  }
}
