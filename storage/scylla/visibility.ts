import { extentOf } from '../../src/market/block-extent.ts'
import type { SlotRow } from '../../src/market/rows.ts'
import type { Version } from './version.ts'
import { Memtable } from './memtable.ts'
import type { MemtableBlock } from './memtable.ts'

/**
 * A snapshot of one moment: a row counts when its commit is at or below the watermark of its epoch. It never changes, so a
 * query on one snapshot sees whole blocks only.
 */
export class Snapshot {
  readonly head: SlotRow | null
  /** The newest epoch and its watermark; 0 and 0 before the first claim. */
  readonly epoch: number
  readonly lastCommit: number
  /** The watermarks of the epochs before, which no longer change. */
  readonly #ended: ReadonlyMap<number, number>

  constructor(newest: Version, head: SlotRow | null, ended: ReadonlyMap<number, number>) {
    this.epoch = newest.epoch
    this.lastCommit = newest.number
    this.head = head
    this.#ended = ended
  }

  isVisible(epoch: number, commit: number): boolean {
    return commit <= (epoch === this.epoch ? this.lastCommit : (this.#ended.get(epoch) ?? 0))
  }

  get ended(): ReadonlyMap<number, number> {
    return this.#ended
  }

  /** The number of the newest commit of all: each epoch continues after the last committed one. */
  get newest(): number {
    if (this.lastCommit > 0) return this.lastCommit
    let newest = 0
    for (const number of this.#ended.values()) newest = Math.max(newest, number)
    return newest
  }
}

/** The two watermarks of each epoch: blocks of the journal count up to one, rows of the tables up to the other. */
export interface Watermarks {
  /** The newest committed version. */
  readonly committed: Snapshot
  /** The newest version that the tables have. */
  readonly flushed: Snapshot
  /** The number of the newest amendment, 0 before the first. Left out if it is unchanged. */
  readonly amended?: number
  /** Left out if it is unchanged; null if nothing was forgotten. */
  readonly forgotten?: Forgotten | null
}

/** Kept blocks that are forgotten: those up to a slot that were written up to a commit. */
export interface Forgotten extends Version {
  readonly until: number
}

const NOTHING = new Snapshot({ epoch: 0, number: 0 }, null, new Map())

/** The newest state that this process knows of, and the blocks between the two watermarks. It only moves forwards. */
export class Visibility {
  #known: Required<Watermarks> = { committed: NOTHING, flushed: NOTHING, amended: 0, forgotten: null }
  #memtable = new Memtable([])
  /** When a tenant last queried rows, in unix milliseconds. */
  queriedAtMs = -Infinity

  /** Snapshot for a query of the tables that begins now. */
  get snapshot(): Snapshot {
    return this.#known.flushed
  }

  get committed(): Snapshot {
    return this.#known.committed
  }

  get known(): Watermarks {
    return this.#known
  }

  /** The number of the newest amendment: caches older than this amendment may be stale. */
  get amended(): number {
    return this.#known.amended
  }

  get forgotten(): Forgotten | null {
    return this.#known.forgotten
  }

  /** Blocks that are committed and not in the tables of the snapshot: both change at once. */
  get memtable(): Memtable {
    return this.#memtable
  }

  /** The numbers of the blocks that must be read before a state can be applied, in their order. */
  missing(next: Watermarks): number[] {
    const missing: number[] = []
    if (!this.#isPassedBy(next)) return missing
    const known = new Set(this.#retained(next).map(({ number }) => number))
    for (let number = next.flushed.newest + 1; number <= next.committed.newest; number++)
      if (!known.has(number)) missing.push(number)
    return missing
  }

  /** Applies a state that was read or reached, unless a newer one is known. `found` are the blocks that were missing. */
  advance(next: Watermarks, found: readonly MemtableBlock[] = []): void {
    if (!this.#isPassedBy(next)) return
    const whole = new Set(found.filter(isWhole).map(({ number }) => number))
    // A block of this writer replaces the one of which a query had found the slot.
    const retained = this.#retained(next).filter((block) => isWhole(block) || !whole.has(block.number))
    const known = new Set(retained.map(({ number }) => number))
    const more = found.filter(({ number }) => !known.has(number) && number > next.flushed.newest)
    const blocks = [...retained, ...more].sort((a, b) => a.number - b.number)
    if (blocks.length !== Math.max(0, next.committed.newest - next.flushed.newest))
      throw new Error(`${blocks.length} blocks are not those between the watermarks`)
    this.#known = { ...this.#known, ...next }
    this.#memtable = new Memtable(blocks)
  }

  /** The known blocks that a state has committed, too, but not in its tables. */
  #retained({ committed, flushed }: Watermarks): MemtableBlock[] {
    return this.#memtable.blocks.filter(
      ({ epoch, number }) => number > flushed.newest && committed.isVisible(epoch, number)
    )
  }

  #isPassedBy({ committed, flushed }: Watermarks): boolean {
    const known = this.#known
    if (committed.epoch !== known.committed.epoch) return committed.epoch > known.committed.epoch
    return isAtLeast(committed, known.committed) && isAtLeast(flushed, known.flushed)
  }
}

const isWhole = ({ block }: MemtableBlock): boolean => extentOf(block) === 'rows'

const isAtLeast = (state: Snapshot, known: Snapshot): boolean =>
  state.epoch === known.epoch ? state.lastCommit >= known.lastCommit : state.epoch > known.epoch
