import { RpcAccountNode } from '../../src/accounts/node-client.ts'
import type { TransferFees } from '../../src/accounts/transfer-fees.ts'
import type { Clock } from '../../src/ports.ts'
import { aborted } from '../supervision/aborted.ts'
import type { Run } from '../supervision/process.ts'

/** Owns the connections to the nodes that the decoder's transfer fees are read from. `urls` is read at each request. */
export function transferFees(fees: TransferFees, urls: () => readonly string[], clock: Clock): Run<unknown> {
  return async ({ draining, ready, gauge }) => {
    const node = new RpcAccountNode(urls, clock)
    gauge('mints', () => fees.size)
    gauge('reads_failed', () => fees.failed)
    fees.connect(node)
    try {
      ready(undefined)
      await aborted(draining)
    } finally {
      fees.connect(null)
      await node.close()
    }
  }
}
