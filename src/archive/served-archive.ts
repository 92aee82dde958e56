import type { Archive } from './archive.ts'

/** An existing archive, and why it is not served; `archive` is null if it cannot be opened. */
export interface ArchiveStanding {
  readonly archive: Archive | null
  /** In one line, for the operator; null while the archive is served. */
  readonly reason: string | null
}

/** The archive of a process, which changes when another process has imported blocks. */
export class ServedArchive {
  #standing: ArchiveStanding | null = null
  readonly #listeners = new Set<() => void>()

  /** Null if nothing was imported. */
  get standing(): ArchiveStanding | null {
    return this.#standing
  }

  /** The archive to read from; null if there is no archive, or while it is not served. */
  get current(): Archive | null {
    return this.#standing?.reason === null ? this.#standing.archive : null
  }

  set(standing: ArchiveStanding | null): void {
    const before = this.current
    this.#standing = standing
    if (this.current !== before) for (const listener of this.#listeners) listener()
  }

  /** Calls `listener` whenever other rows are served, until the returned function is called. `listener` must not throw. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}
