import { createHash } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import type { WebSocket } from 'ws'
import type { Clock } from '../../ports.ts'
import type { CacheUse } from '../../kernel/memory/second-chance-cache.ts'
import type { LocalChain } from '../chain.ts'
import { engineRoutes } from '../engine/engine-routes.ts'
import { LocalEngine } from '../engine/local-engine.ts'
import { BlockStatistics } from './block-statistics.ts'
import { runner } from './json-rpc.ts'
import type { Method, NodeContext } from './method.ts'
import { accountMethods } from './methods/accounts.ts'
import { blockMethods } from './methods/blocks.ts'
import { clusterMethods } from './methods/cluster.ts'
import { submissionMethods } from './methods/submission.ts'
import { transactionMethods } from './methods/transactions.ts'
import { NodeFaults } from './node-faults.ts'
import { PubsubConnection, PUBSUB_LIMITS, type PubsubLimits } from './pubsub-connection.ts'
import { RenderedBlocks } from './rendered-blocks.ts'
import { pubsubApp, rpcApp } from './rpc-app.ts'
import { SubscriptionHub } from './subscription-hub.ts'

/** Every JSON-RPC method that the node answers, by name. */
export const METHODS: ReadonlyMap<string, Method> = new Map([
  ...Object.entries(accountMethods),
  ...Object.entries(blockMethods),
  ...Object.entries(clusterMethods),
  ...Object.entries(submissionMethods),
  ...Object.entries(transactionMethods)
])

export interface LocalNodeOptions {
  readonly chain: LocalChain
  readonly clock: Clock
  readonly host: string
  /** Port of JSON-RPC, and of pubsub, which is on the next port too; 0 uses two free ports. */
  readonly port: number
  /** Called for bugs; the client gets only -32603. */
  readonly onFault: (error: unknown) => void
  readonly limits?: PubsubLimits
  /** Memory for rendered blocks; by default the largest useful amount. */
  readonly renderedBytes?: number | undefined
}

/** A localnet's node that listens. */
export interface LocalNode {
  readonly host: string
  /** Port of JSON-RPC by POST and pubsub by upgrade. */
  readonly port: number
  /** Separate port for pubsub. Clients like web3.js derive this address from that of JSON-RPC. */
  readonly pubsubPort: number
  readonly faults: NodeFaults
  /** Returns the memory use of rendered blocks. */
  readonly renderedBlocks: () => CacheUse
  /** Closes all connections and stops following the chain. */
  close(): Promise<void>
}

/** Maximum number of pairs of free ports that are tried. */
const PORT_TRIES = 20

/**
 * Serves a chain as a node does: JSON-RPC over HTTP and pubsub over WebSocket on one port. Pubsub is on the next port too,
 * so that a client given only the HTTP address finds it. A block engine answers under `/api/v1`. Rejects if a port is in
 * use.
 */
export async function startLocalNode(options: LocalNodeOptions): Promise<LocalNode> {
  const { chain, clock, host, limits = PUBSUB_LIMITS } = options
  const node: NodeContext = {
    chain,
    identity: identityOf(chain.genesisHash),
    blocks: new RenderedBlocks(options.renderedBytes),
    statistics: new BlockStatistics(chain)
  }
  const sockets = new Set<WebSocket>()
  const faults = new NodeFaults(() => {
    for (const socket of sockets) socket.terminate()
    return sockets.size
  })
  const run = runner(node, METHODS, options.onFault, (name) => faults.check(name))
  const delayed = async (): Promise<void> => {
    const ms = faults.takeDelay()
    if (ms > 0) await new Promise<void>((resolve) => clock.setTimeout(resolve, ms))
  }
  const hub = new SubscriptionHub(chain)
  const connect = (socket: WebSocket): void => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    new PubsubConnection(socket, hub, clock, limits)
  }
  const engine = new LocalEngine(chain, clock)
  for (let left = options.port === 0 ? PORT_TRIES : 1; ; left--) {
    const rpc = rpcApp(run, connect, delayed, (app) => engineRoutes(app, engine, options.onFault))
    const pubsub = pubsubApp(connect)
    try {
      await rpc.listen({ host, port: options.port })
      const { port } = rpc.server.address() as AddressInfo
      await pubsub.listen({ host, port: port + 1 })
      const unfollow = [node.statistics.follow(), hub.follow()]
      return {
        host,
        port,
        pubsubPort: port + 1,
        faults,
        renderedBlocks: () => node.blocks.cache,
        close: async () => {
          for (const stop of unfollow) stop()
          await Promise.all([rpc.close(), pubsub.close()])
        }
      }
    } catch (error) {
      await Promise.all([rpc.close(), pubsub.close()])
      if (left <= 1 || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    }
  }
}

/** Returns the key of the only validator, derived from the genesis, so that the key stays constant. */
function identityOf(genesisHash: Uint8Array): Uint8Array {
  return createHash('sha256').update('localnet identity').update(genesisHash).digest()
}
