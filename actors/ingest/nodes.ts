import { aborted } from '../supervision/aborted.ts'
import type { Run } from '../supervision/process.ts'

/** A client of the operator's nodes, of the kind that a product needs. */
interface NodeClient {
  /** Requests that wait for a node. */
  readonly waiting: number
  close(): Promise<void>
}

/** Owns a client of the operator's nodes with its connections. `urls` is read at each request. */
export function nodes<Client extends NodeClient>(
  urls: () => readonly string[],
  open: (urls: () => readonly string[]) => Client
): Run<unknown, Client> {
  return async ({ draining, ready, gauge }) => {
    const client = open(urls)
    gauge('nodes', () => urls().length)
    gauge('requests_waiting', () => client.waiting)
    try {
      ready(client)
      await aborted(draining)
    } finally {
      await client.close()
    }
  }
}
