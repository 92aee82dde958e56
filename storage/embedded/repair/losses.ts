import { rm } from 'node:fs/promises'
import type { Amendment, Edit } from '../../../src/market/amendment.ts'
import type { StoredBlock } from '../../../src/market/stored-block.ts'
import { activityKind } from '../../codec/activity.ts'
import { curveKind } from '../../codec/curve.ts'
import { keysOf, lostRangesKey, slotKey, type KeyRange } from '../../codec/keys.ts'
import { solPriceKind } from '../../codec/kinds.ts'
import { launchKind } from '../../codec/launch.ts'
import { logEntryKind } from '../../codec/log-entry.ts'
import { lostRangesKind } from '../../codec/lost-ranges.ts'
import { pairsKind } from '../../codec/pair.ts'
import { poolKind } from '../../codec/pool.ts'
import type { RecordKind } from '../../codec/record.ts'
import { tokenKind } from '../../codec/token.ts'
import { totalsKind } from '../../codec/totals.ts'
import type { GapRow, Losses, Storage } from '../../port.ts'
import { stageGaps } from '../coverage.ts'
import { Database } from '../database.ts'
import { lettersIn, nameOf, type Letter } from './lost-records.ts'
import { recordsIn, storedBlocks } from './stored-blocks.ts'

type Made = Partial<Amendment>

/** Gives the records of a kind in a range as parts of amendments that put them. */
type Folded = (database: Database, range: KeyRange) => AsyncGenerator<Made>

const put = <Row>(rows: readonly Row[]): { readonly put: readonly Row[]; readonly remove: [] } => ({
  put: rows,
  remove: []
})

/** Kinds whose records follow from all blocks before them. */
const FOLDED: Readonly<Record<Letter, Folded>> = {
  a: folded(activityKind, (rows) => ({ activity: put(rows) })),
  g: folded(curveKind, (rows) => ({ curves: put(rows) })),
  j: folded(logEntryKind, (rows) => ({ log: put(rows) })),
  l: folded(launchKind, (rows) => ({ launches: put(rows) })),
  m: folded(tokenKind, (rows) => ({ tokens: put(rows) })),
  p: folded(pairsKind, (rows) => ({ pairs: put(rows.flat()) })),
  q: folded(poolKind, (rows) => ({ pools: put(rows) })),
  x: folded(solPriceKind, (rows) => ({ solPrices: put(rows) })),
  z: folded(totalsKind, ([totals]) => ({ totals: totals! }))
}

function folded<T>(kind: RecordKind<T>, partOf: (rows: readonly T[]) => Made): Folded {
  return async function* (database, range) {
    for await (const entries of recordsIn(database, kind, range)) yield partOf(entries.map(([, row]) => row))
  }
}

/** Opens the store in a directory whose writes may be undone by a crash. */
export type OpenScratch = (directory: string) => Promise<Storage>

/** Ranges of keys that a repair has lost, until their records are recomputed. */
export class EmbeddedLosses implements Losses {
  readonly #database: Database
  readonly #directory: string
  readonly #openScratch: OpenScratch
  readonly #ranges: readonly KeyRange[]
  readonly #letters: ReadonlySet<Letter>
  isSettled = false

  private constructor(
    database: Database,
    directory: string,
    openScratch: OpenScratch,
    ranges: readonly KeyRange[]
  ) {
    this.#database = database
    this.#directory = directory
    this.#openScratch = openScratch
    this.#ranges = ranges
    this.#letters = new Set(ranges.flatMap(lettersIn))
  }

  /** The losses that a store has recorded, or null; also null for a store that is damaged itself. */
  static async open(
    database: Database,
    directory: string,
    openScratch: OpenScratch
  ): Promise<EmbeddedLosses | null> {
    if (database.damaged.lines.length > 0) return null
    const ranges = await database.read((view) => view.get(lostRangesKind, lostRangesKey()))
    return ranges === null ? null : new EmbeddedLosses(database, directory, openScratch, ranges)
  }

  get folded(): readonly string[] {
    // Candles are folded from rows. Trades are usually restored from their other list, but not always.
    const isTwice = this.#letters.has('t') && this.#letters.has('w')
    const others = [...(isTwice ? ['t'] : []), ...(this.#letters.has('c') ? ['c'] : [])]
    return [...Object.keys(FOLDED).filter((letter) => this.#letters.has(letter)), ...others].map(nameOf)
  }

  get gapsMayBeLost(): boolean {
    return this.#letters.has('u')
  }

  mayHaveHeld(slot: number): boolean {
    const key = slotKey(slot)
    return this.#ranges.some(({ gte, lt }) => Buffer.compare(gte, key) <= 0 && Buffer.compare(key, lt) < 0)
  }

  blocks(): AsyncGenerator<StoredBlock> {
    return storedBlocks(this.#database, `${this.#directory}.sorting`)
  }

  async scratch(): Promise<Storage> {
    await rm(this.#scratchDirectory, { recursive: true, force: true })
    return this.#openScratch(this.#scratchDirectory)
  }

  async *made(): AsyncGenerator<Made> {
    const directory = this.#scratchDirectory
    const database = await Database.open({ directory, hotBytesMax: 0, reached: () => undefined })
    try {
      for (const range of this.#ranges)
        for (const letter of lettersIn(range)) {
          const records = FOLDED[letter]
          if (records !== undefined) yield* records(database, clipped(range, letter))
        }
    } finally {
      await database.close()
    }
  }

  async settle(gaps: Edit<GapRow, number>): Promise<void> {
    await this.#database.write(async (_, batch) => {
      batch.delete(lostRangesKey())
      stageGaps(batch, gaps)
      return { kind: 'control', durable: 'coverage.durable' }
    })
    this.isSettled = true
    await rm(this.#scratchDirectory, { recursive: true, force: true })
  }

  get #scratchDirectory(): string {
    return `${this.#directory}.folding`
  }
}

/** The part of a range that keys of a kind can be in. */
function clipped({ gte, lt }: KeyRange, letter: Letter): KeyRange {
  const all = keysOf(letter)
  return {
    gte: Buffer.compare(gte, all.gte) < 0 ? all.gte : gte,
    lt: Buffer.compare(lt, all.lt) > 0 ? all.lt : lt
  }
}
