import type { HttpKernel } from '../../kernel/http/http-kernel.ts'
import type { ServedArchive } from '../served-archive.ts'

/** Needs of the routes of the archive. */
export interface ArchiveNeeds extends Pick<HttpKernel, 'storage'> {
  /** The imported archive; absent if none is served. */
  readonly archive?: ServedArchive | undefined
}
