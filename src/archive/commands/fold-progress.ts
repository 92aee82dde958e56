import type { SlotRow } from '../../market/rows.ts'
import type { Clock } from '../../ports.ts'
import type { FactList, FactStore } from '../../../storage/port.ts'
import { storedPositionFrom } from '../facts/stored-position.ts'
import { durationText } from './import-report.ts'

type BlockPlace = Pick<SlotRow, 'slot' | 'blockTime'>

/** Positions of facts, both ends included. */
interface Extent {
  readonly first: number
  readonly last: number
}

/** Above every slot and every time of a fact. */
const POSITION_MAX = 2 ** 40
/** Share below which the time left would be a guess. */
const SHARE_MIN = 0.001

/** Counts the blocks and trades of a fold, and tells its rate, its share of the facts and the time left. */
export class FoldProgress {
  readonly #clock: Clock
  #blocks = 0
  #trades = 0
  #last: BlockPlace | null = null
  /** Slots of blocks and rows, and times of rows without a slot, that are to be folded; null if no fact has them. */
  #slots: Extent | null = null
  #times: Extent | null = null
  #startedMs: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#startedMs = clock.now()
  }

  /** Takes the extent of the facts after the head of the store that they are folded into, and before the first indexed block. */
  async begin(
    facts: Pick<FactStore, 'from'>,
    after: BlockPlace | null,
    firstLive: BlockPlace | null
  ): Promise<void> {
    const slots = { from: (after?.slot ?? -1) + 1, below: firstLive?.slot ?? POSITION_MAX }
    const times = { from: after?.blockTime ?? 0, below: firstLive?.blockTime ?? POSITION_MAX }
    const [blocks, rows, timed] = await Promise.all([
      extentOf(facts, 'block', slots),
      extentOf(facts, 'row', slots),
      extentOf(facts, 'timed', times)
    ])
    this.#slots = joined(blocks, rows)
    this.#times = timed
    this.#startedMs = this.#clock.now()
  }

  /** Counts a block that was committed. */
  committed({ slot, blockTime, trades }: Pick<SlotRow, 'slot' | 'blockTime' | 'trades'>): void {
    this.#blocks++
    this.#trades += trades
    this.#last = { slot, blockTime }
  }

  /** Describes the state in one line. */
  line(): string {
    const ms = this.#clock.now() - this.#startedMs
    const rate = (this.#trades / Math.max(ms / 1_000, 0.001)).toFixed(0)
    const share = this.#share()
    const left = share < SHARE_MIN || share >= 1 ? '' : `, ${durationText((ms * (1 - share)) / share)} left`
    const at = `folding, slot ${this.#last?.slot ?? '–'}, ${Math.floor(100 * share)} %`
    return `${at}: ${this.#blocks} blocks, ${this.#trades} trades, ${rate} trades/s${left}`
  }

  /** Returns the share of the facts up to the last committed block, from 0 to 1. Facts count by their slots and times. */
  #share(): number {
    if (this.#last === null) return 0
    const { slot, blockTime } = this.#last
    return Math.min(shareOf(this.#slots, slot), shareOf(this.#times, blockTime))
  }
}

function shareOf(extent: Extent | null, position: number): number {
  if (extent === null) return 1
  const { first, last } = extent
  return Math.min(Math.max((position - first + 1) / (last - first + 1), 0), 1)
}

function joined(one: Extent | null, other: Extent | null): Extent | null {
  if (one === null || other === null) return one ?? other
  return { first: Math.min(one.first, other.first), last: Math.max(one.last, other.last) }
}

/** Finds the first and the last position of the facts in a range, `below` excluded: some forty reads of one page. */
async function extentOf(
  facts: Pick<FactStore, 'from'>,
  list: FactList,
  { from, below }: { readonly from: number; readonly below: number }
): Promise<Extent | null> {
  const first = await storedPositionFrom(facts, list, from)
  if (first === null || first >= below) return null
  let last = first
  for (let end = below; end - last > 1;) {
    const middle = last + Math.ceil((end - last) / 2)
    const found = await storedPositionFrom(facts, list, middle)
    if (found === null || found >= below) end = middle
    else last = found
  }
  return { first, last }
}
