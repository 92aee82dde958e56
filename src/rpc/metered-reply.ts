import type { RpcReply } from './gateway.ts'
import type { RpcWork } from './rpc-work.ts'

/** Returns a reply whose body is charged as it is sent, if it is still arriving. */
export const meteredReply = (reply: RpcReply, work: RpcWork): RpcReply =>
  isWhole(reply) ? reply : { ...reply, body: metered(reply.body as AsyncIterable<Buffer>, work) }

/** Returns whether a reply has its whole body, so that its cost is known before the first byte is sent. */
export const isWhole = ({ body }: RpcReply): boolean => body === null || Buffer.isBuffer(body)

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
