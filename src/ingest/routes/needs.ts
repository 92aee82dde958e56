import type { HttpKernel } from '../../kernel/http/http-kernel.ts'
import type { RecordedReport } from '../../recorded/report.ts'

/** Needs of the routes of ingest. */
export interface IngestNeeds extends Pick<HttpKernel, 'storage'> {
  /** The state of the recorded folder that this process reads; absent if it cannot read a folder. */
  readonly recorded?: RecordedReport | undefined
}
