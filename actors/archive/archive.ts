import type { Archive } from '../../src/archive/archive.ts'
import type { ArchiveStanding, ServedArchive } from '../../src/archive/served-archive.ts'
import { ServiceError } from '../../src/errors.ts'
import { sleep, type Clock } from '../../src/ports.ts'
import type { Logger } from '../../src/telemetry/logger.ts'
import type { Storage } from '../../storage/port.ts'
import type { Run } from '../supervision/process.ts'

/** Milliseconds between two looks for imported blocks. Chosen: a look reads the attributes of a file, or one row. */
const LOOK_MS = 30_000
/** The same while the first live slot is unknown: the archive must end before it. */
const LOOK_EMPTY_MS = 1_000
/** Milliseconds until a replaced snapshot is closed. Chosen: several times the deadline of any answer that reads it. */
const CLOSE_MS = 60_000

export interface ArchiveDeps {
  readonly served: ServedArchive
  /** Opens the archive as it is now; null if nothing was imported. */
  readonly open: () => Promise<Storage | null>
  /** Resolves with a text that differs when `open` gives another store than before; null if nothing was imported. */
  readonly stamp: () => Promise<string | null>
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Opens the archive for reading, and opens it again after each import by another process. Ready after the first look. An
 * archive that cannot be opened is reported, and harms nothing else.
 */
export function archive(deps: ArchiveDeps): Run<{ readonly storage: Storage }> {
  return async ({ input: { storage: live }, draining, ready, gauge, report }) => {
    const reader = new ArchiveReader(live, deps, report)
    gauge('last_slot', () => deps.served.current?.last.slot ?? 0)
    try {
      await reader.look()
      ready()
      while (!draining.aborted) {
        await sleep(deps.clock, reader.isLiveEmpty ? LOOK_EMPTY_MS : LOOK_MS, draining)
        if (!draining.aborted) await reader.look()
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
  /** As of the last opening. */
  #stamp: string | null = null
  /** Replaced snapshots, with the timers that close them. */
  readonly #replaced = new Map<Storage, unknown>()
  isLiveEmpty = false

  constructor(live: Storage, deps: ArchiveDeps, report: (error: unknown) => void) {
    this.#live = live
    this.#deps = deps
    this.#report = report
  }

  /** Takes up what was imported since the last look. */
  async look(): Promise<void> {
    const { served, logger } = this.#deps
    const before = served.standing
    try {
      await this.#openAgain()
      const standing = this.#storage === null ? null : await this.#standingOf(this.#storage)
      if (isSame(standing, before)) return
      served.set(standing)
    } catch (error) {
      const reason = error instanceof ServiceError ? error.detail : (error as Error).message
      // A cluster that does not answer: the rows that were served stay.
      if (before?.archive != null || before?.reason === reason) return
      served.set({ archive: null, reason })
      this.#report(error)
    }
    const { standing } = served
    if (standing === null) return
    const { archive, reason } = standing
    const slots = archive === null ? {} : { first: archive.first.slot, last: archive.last.slot }
    if (reason === null) logger.info(slots, 'the archive is served')
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
    const found = await stamp()
    if (found === null || found === this.#stamp) return
    const [old, opened] = [this.#storage, await open()]
    this.#stamp = found
    this.#storage = opened ?? old
    if (opened === null || old === null) return
    const timer = clock.setTimeout(() => {
      this.#replaced.delete(old)
      old.close().catch(this.#report)
    }, CLOSE_MS)
    this.#replaced.set(old, timer)
  }

  async #standingOf(storage: Storage): Promise<ArchiveStanding | null> {
    const [last, oldest, liveFirst] = await Promise.all([
      storage.blocks.head(),
      storage.blocks.firstSince(0),
      this.#live.blocks.firstSince(0)
    ])
    const first = oldest === null ? null : await storage.blocks.at(oldest)
    if (last === null || first === null) return null
    this.isLiveEmpty = liveFirst === null
    const archive: Archive = { storage, first, last }
    const overlaps = liveFirst !== null && last.slot >= liveFirst
    const reason = overlaps
      ? `it ends at slot ${last.slot}, not before the first indexed slot ${liveFirst}: it belongs to another chain, or the index was begun anew at an earlier slot`
      : null
    return { archive, reason: storage.damage[0] ?? reason }
  }
}

function isSame(a: ArchiveStanding | null, b: ArchiveStanding | null): boolean {
  return (
    a?.archive?.storage === b?.archive?.storage &&
    a?.archive?.last.slot === b?.archive?.last.slot &&
    a?.reason === b?.reason
  )
}
