import { RpcAccountNode } from '../../src/accounts/node-client.ts'
import type { Clock } from '../../src/ports.ts'
import { aborted } from '../supervision/aborted.ts'
import type { Run } from '../supervision/process.ts'

/** Owns the connections to the operator's nodes that accounts are read from. `urls` is read at each request. */
export function accountNodes(urls: () => readonly string[], clock: Clock): Run<unknown, RpcAccountNode> {
  return async ({ draining, ready, gauge }) => {
    const node = new RpcAccountNode(urls, clock)
    gauge('nodes', () => urls().length)
    gauge('requests_waiting', () => node.waiting)
    try {
      ready(node)
      await aborted(draining)
    } finally {
      await node.close()
    }
  }
}
