import type { DemoKeyFile } from '../../access/demo-key.ts'
import type { DecodingReport } from '../../ingest/decoding-report.ts'
import type { ErrorKind } from '../../kernel/error-kind.ts'
import type { SourceKind } from '../../kernel/config/config.ts'
import type { HttpKernel } from '../../kernel/http/http-kernel.ts'
import type { StartNeeds } from '../../stream/routes/needs.ts'
import type { Role } from '../../fleet/work.ts'
import type { TreeBody } from '../bodies/tree.ts'

/** Needs of the routes of every process, and the documents. */
export interface EdgeNeeds extends HttpKernel, StartNeeds {
  readonly decoding: DecodingReport
  /** Every error that has a page, in the order of the documents that list them. */
  readonly errors: readonly ErrorKind[]
  /** The kind of source that this process reads; null if it reads none. */
  readonly sourceKind: SourceKind | null
  /** Absent if `/docs` offers no demo key. */
  readonly demoKey?: Pick<DemoKeyFile, 'read'> | undefined
  /** Tells whether Redis is configured and unavailable. */
  readonly redisAway: () => boolean
  /** The processes of the service, as health shows them. */
  readonly fleet: {
    readonly missingRoles: readonly string[]
    readonly differing: readonly string[]
  }
  /** Roles of this process. */
  readonly roles: readonly Role[]
  /** Tells whether answers of a gateway wait for data that is loaded from the store. */
  readonly isLoading: () => boolean
  /** Returns the supervision tree as plain JSON. */
  readonly tree: () => TreeBody
}
