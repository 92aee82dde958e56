import type { HttpKernel } from '../../kernel/http/http-kernel.ts'
import type { MirrorMetrics } from '../metrics.ts'
import type { RpcServices } from '../../rpc/services.ts'

/** Needs of the routes of program accounts. */
export interface ProgramAccountNeeds extends Pick<HttpKernel, 'storage' | 'clock' | 'feed' | 'turns'> {
  /** The newest finalized slot, and whether the process has a node. */
  readonly rpc: Pick<RpcServices, 'hasNode' | 'finalized'>
  readonly mirror: MirrorMetrics
  /** Announces that the whitelist of programs has changed. */
  readonly programsChanged?: () => void
}
