import type { RpcGateway } from './gateway.ts'
import type { MethodTable } from './methods.ts'
import type { FinalizedSlots } from './mirrored-accounts.ts'
import type { NodeControl } from './node-control.ts'

/** The services of JSON-RPC that the HTTP side uses. */
export interface RpcServices {
  readonly gateway: RpcGateway
  readonly methods: MethodTable
  /** Whether the process has a node; if not, methods that need it are refused. */
  readonly hasNode: boolean
  /** Null if the process has no node. */
  readonly nodes: NodeControl | null
  /** The newest finalized slot of the nodes; null if the process has no node. */
  readonly finalized: FinalizedSlots | null
}
