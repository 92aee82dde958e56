import { isAdjacent } from './adjacency.ts'
import type { ArchiveStanding, ServedArchive } from '../../src/archive/served-archive.ts'
import { archiveStanding } from '../../src/archive/standing.ts'
import { ServiceError } from '../../src/kernel/errors.ts'
import { sleep, type Clock } from '../../src/ports.ts'
import type { Logger } from '../../src/kernel/telemetry/logger.ts'
import type { Storage } from '../../storage/port.ts'
import type { Run } from '../supervision/process.ts'

/** Poll interval for imported blocks, in milliseconds. A poll reads the attributes of a file, or one row. */
const POLL_INTERVAL_MS = 30_000
/** Poll interval while the first live slot is unknown, in milliseconds: the archive must end before that slot. */
const EMPTY_POLL_INTERVAL_MS = 1_000
/** Milliseconds for which a start waits. A sound archive is open within 0.2 s; others are verified for minutes. */
const READY_MS = 2_000
/** Milliseconds until a replaced snapshot is closed: several times the deadline of any answer that reads it. */
const CLOSE_MS = 60_000

export interface ArchiveDeps {
  readonly served: ServedArchive
  /** Opens the archive as it is now; null if nothing was imported. */
  readonly open: () => Promise<Storage | null>
  /**
   * Resolves with a text that changes whenever `open` would give a different store; null if nothing was imported. `current`
   * is the last opened store, or null.
   */
  readonly stamp: (current: Storage | null) => Promise<string | null>
  /** Poll interval while nothing was imported, in milliseconds. Default: the regular interval. */
  readonly absentMs?: number
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Opens the archive for reading, and reopens it after each import by another process. Ready after the first poll, or two
 * seconds. An archive that cannot be opened is reported, and harms nothing else.
 */
export function archive(deps: ArchiveDeps): Run<{ readonly storage: Storage }> {
  return async ({ input: { storage: live }, draining, ready, gauge, report }) => {
    const reader = new ArchiveReader(live, deps, report)
    gauge('last_slot', () => deps.served.current?.last.slot ?? 0)
    try {
      const opened = reader.poll()
      await Promise.race([opened, sleep(deps.clock, READY_MS, draining)])
      ready()
      await opened
      while (!draining.aborted) {
        await sleep(deps.clock, reader.pauseMs, draining)
        if (!draining.aborted) await reader.poll()
      }
    } finally {
      await reader.close()
    }
  }
}

class ArchiveReader {
  readonly #live: Storage
  readonly #deps: ArchiveDeps
  readonly #report: (error: unknown) => void
  #storage: Storage | null = null
  /** The stamp of the open store, or null. */
  #stamp: string | null = null
  /** Replaced snapshots, with the timers that close them. */
  readonly #replaced = new Map<Storage, unknown>()
  /** Fault of the last poll, or null. */
  #fault: string | null = null
  #isLiveEmpty = false

  constructor(live: Storage, deps: ArchiveDeps, report: (error: unknown) => void) {
    this.#live = live
    this.#deps = deps
    this.#report = report
  }

  /** Milliseconds until the next poll. */
  get pauseMs(): number {
    if (this.#storage === null) return this.#deps.absentMs ?? POLL_INTERVAL_MS
    return this.#isLiveEmpty ? EMPTY_POLL_INTERVAL_MS : POLL_INTERVAL_MS
  }

  /** Opens what was imported since the last poll. Logs one line if that changes what is served, and why. */
  async poll(): Promise<void> {
    const { served } = this.#deps
    const before = served.standing
    try {
      await this.#openAgain()
      const standing = this.#storage === null ? null : await this.#standingOf(this.#storage)
      this.#fault = null
      if (isSame(standing, before)) return
      served.set(standing)
      if (standing !== null) this.#logStanding(standing)
    } catch (error) {
      const reason = error instanceof ServiceError ? error.detail : (error as Error).message
      const isServed = before?.archive != null
      // The rows that were served stay, as when a cluster does not answer.
      if (!isServed) served.set({ archive: null, reason })
      const said = isServed ? 'later imports are not served' : 'the archive is not served'
      if (reason !== this.#fault) this.#report(new Error(`${said}: ${reason}`, { cause: error }))
      this.#fault = reason
    }
  }

  #logStanding({ archive, reason }: ArchiveStanding): void {
    const { logger } = this.#deps
    const slots =
      archive === null
        ? {}
        : { first: archive.first.slot, last: archive.last.slot, adjacent: archive.isAdjacent }
    if (reason === null) logger.info(slots, 'the archive is served')
    // A reported fault is in the log and in the tree of processes.
    else if (archive?.storage.damage.length !== 0)
      this.#report(new Error(`the archive is not served: ${reason}`))
    else logger.warn(slots, `the archive is not served: ${reason}`)
  }

  async close(): Promise<void> {
    this.#deps.served.set(null)
    for (const timer of this.#replaced.values()) this.#deps.clock.clearTimeout(timer)
    const open = [...this.#replaced.keys(), ...(this.#storage === null ? [] : [this.#storage])]
    await Promise.all(open.map((storage) => storage.close()))
  }

  async #openAgain(): Promise<void> {
    const { open, stamp, clock } = this.#deps
    const found = await stamp(this.#storage)
    if (found === null || found === this.#stamp) return
    const [old, opened] = [this.#storage, await open()]
    // The keyspace of a cluster may be made later, under the same stamp.
    if (opened === null) return
    this.#stamp = found
    this.#storage = opened
    if (old === null) return
    const timer = clock.setTimeout(() => {
      this.#replaced.delete(old)
      old.close().catch(this.#report)
    }, CLOSE_MS)
    this.#replaced.set(old, timer)
  }

  async #standingOf(storage: Storage): Promise<ArchiveStanding | null> {
    const firstLive = await this.#live.blocks.firstSince(0)
    this.#isLiveEmpty = firstLive === null
    const standing = await archiveStanding(storage, firstLive)
    if (standing?.reason !== null || firstLive === null) return standing
    const adjacent = await isAdjacent(standing.archive, this.#live, firstLive)
    return { ...standing, archive: { ...standing.archive, isAdjacent: adjacent } }
  }
}

function isSame(a: ArchiveStanding | null, b: ArchiveStanding | null): boolean {
  return (
    a?.archive?.storage === b?.archive?.storage &&
    a?.archive?.last.slot === b?.archive?.last.slot &&
    a?.archive?.isAdjacent === b?.archive?.isAdjacent &&
    a?.reason === b?.reason
  )
}
