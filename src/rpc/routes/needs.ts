import type { HttpKernel } from '../../kernel/http/http-kernel.ts'
import type { RpcServices } from '../services.ts'

/** Needs of the routes of JSON-RPC. */
export interface RpcNeeds extends HttpKernel {
  readonly rpc: RpcServices
}
