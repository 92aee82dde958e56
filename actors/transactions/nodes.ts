import type { Clock } from '../../src/ports.ts'
import { RpcTransactionNode } from '../../src/transactions/node-client.ts'
import { aborted } from '../supervision/aborted.ts'
import type { Run } from '../supervision/process.ts'

/** Owns the connections to the operator's nodes that transactions are sent by. `urls` is read at each request. */
export function transactionNodes(
  urls: () => readonly string[],
  clock: Clock
): Run<unknown, RpcTransactionNode> {
  return async ({ draining, ready, gauge }) => {
    const node = new RpcTransactionNode(urls, clock)
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
