import { SecondChanceCache } from '../../src/kernel/memory/second-chance-cache.ts'
import type { CqlClient } from './client.ts'
import type { Version } from './version.ts'
import type { Visibility } from './visibility.ts'

/** Parts that every table of the store uses. */
export interface ScyllaBase {
  readonly client: CqlClient
  readonly visibility: Visibility
  /**
   * Reads the watermarks and the blocks between them. All blocks that were committed before the call are visible after it.
   */
  refresh(): Promise<void>
  /** Whether the store is an archive: wallets refer to trades (`archived-trades.ts`). */
  readonly isArchive: boolean
  /** Retention of rows of events; null means for ever. */
  readonly retentionSeconds: number | null
  /** Time to live of rows of the log; null means for ever. */
  readonly logTtlSeconds: number | null
  /** Estimated bytes of the cached buckets of one list. */
  readonly indexBytesMax: number
}

export interface CommittedVersion extends Version {
  /** The packed record, in a buffer of its own. */
  readonly value: Buffer
}

/** Versions by table and key, the least used of which are forgotten when they become too many. */
export class CommittedVersions {
  readonly #versions: SecondChanceCache<CommittedVersion | null>

  constructor(bytesMax: number) {
    this.#versions = new SecondChanceCache(bytesMax)
  }

  /** Estimated bytes in use. */
  get bytes(): number {
    return this.#versions.bytes
  }

  /** Undefined if nothing is known, null if the record is absent. */
  get(text: string): CommittedVersion | null | undefined {
    return this.#versions.get(text)
  }

  set(text: string, version: CommittedVersion | null): void {
    this.#versions.set(text, version, text.length + (version?.value.length ?? 0))
  }
}
