import type { ClusterCoordination } from '../../storage/cluster/coordination.ts'
import type { Stored } from '../../storage/documents.ts'
import type { Bundle } from './bundle.ts'
import type { LocalTracking } from './local-tracking.ts'
import type { BundleTracking } from './ports.ts'

/** Tracking of bundles by this process if it has the shard, otherwise by the process that receives the hint. */
export class SharedBundles implements BundleTracking {
  readonly #local: LocalTracking
  readonly #hints: ClusterCoordination['submissions']

  constructor(local: LocalTracking, { submissions }: Pick<ClusterCoordination, 'submissions'>) {
    this.#local = local
    this.#hints = submissions
  }

  begin(stored: Stored<Bundle>): void {
    if (this.#local.served?.beginBundle(stored) === true) return
    const { tenant, bundleId } = stored.value
    this.#hints?.publish({ tenant, signature: bundleId })
  }
}
