import type { HttpKernel } from '../../kernel/http/http-kernel.ts'
import type { SourceStatus } from '../../node/source-status.ts'
import type { StreamGateway } from '../gateway.ts'

/** Sources of the progress of a starting localnet. */
export interface StartNeeds extends Pick<HttpKernel, 'feed'> {
  /** Returns the status of a live source of blocks; null if the source is not live. */
  readonly source: () => SourceStatus | null
  /** Returns the last slot of the past that this process's localnet generates; null once the past is complete. */
  readonly pastEnd?: (() => number | null) | undefined
}

/** Needs of the routes of the stream. */
export interface StreamNeeds extends StartNeeds, Pick<HttpKernel, 'nodeHead' | 'clock' | 'draining'> {
  readonly stream: StreamGateway
}
