import type { Handle } from './handle.ts'
import type { RpcSocketGateway } from '../../rpc/pubsub/gateway.ts'

/** The close code of a connection whose owner restarts (RFC 6455: service restart). */
const RESTARTS = 1012

/** Returns the owner of sockets as the HTTP side uses it. While it restarts, a new connection is closed with `reason`. */
export const socketOwner = (
  owner: Pick<Handle<RpcSocketGateway>, 'current' | 'get'>,
  reason: string
): RpcSocketGateway => ({
  admits: (caller) => owner.get().admits(caller),
  open: (ws, socket, caller) => {
    if (owner.current === null) ws.close(RESTARTS, reason)
    else owner.current.open(ws, socket, caller)
  }
})
