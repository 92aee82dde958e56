import type { OffChainCache } from '../../actors/accounts/off-chain-cache.ts'
import type { OpenRpc } from '../../actors/rpc/rpc.ts'
import type { RpcSockets } from '../../actors/rpc/pubsub/rpc-sockets.ts'
import type { Channels } from '../../actors/stream/channels.ts'
import type { Tenants } from '../../actors/stream/tenants.ts'
import type { OpenBlockEngine } from '../../actors/transactions/engine/block-engine.ts'
import type { OpenOutgoing } from '../../actors/webhooks/outgoing.ts'
import type { MintDirectory } from '../accounts/mint-directory.ts'
import type { RpcAccountNode } from '../accounts/node-client.ts'
import type { PoolDirectory } from '../accounts/pools/pool-directory.ts'
import { Handle } from '../compose/handle.ts'
import type { RpcParts } from '../http/deps.ts'
import type { RpcTransactionNode } from '../transactions/node-client.ts'
import type { LeaderSender, TransactionParts } from '../transactions/ports.ts'

/** Resources that products provide to processes outside their own supervision. Absent in a process without the product. */
export const openHandles = () => ({
  channels: new Handle<Channels>('the channels of the stream'),
  tenants: new Handle<Tenants>('the connections of the stream'),
  outgoing: new Handle<OpenOutgoing>('the connections to receivers'),
  nodes: new Handle<RpcTransactionNode>('the connections to nodes'),
  engine: new Handle<OpenBlockEngine>('the connections to the block engine'),
  leaders: new Handle<LeaderSender>('the connections to leaders'),
  transactions: new Handle<TransactionParts>('the transactions'),
  accounts: new Handle<RpcAccountNode>('the connections to nodes'),
  mints: new Handle<MintDirectory>('the reads of mints'),
  pools: new Handle<PoolDirectory>('the reads of pools'),
  offChain: new Handle<OffChainCache>('the reads of metadata'),
  rpc: new Handle<OpenRpc>('the connections to nodes'),
  calls: new Handle<RpcParts>('the calls of the RPC URL'),
  rpcSockets: new Handle<RpcSockets>('the sockets of the RPC URL')
})

export type Handles = ReturnType<typeof openHandles>
