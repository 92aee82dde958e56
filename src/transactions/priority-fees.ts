import { accountHashes } from '../chain/account-hash.ts'
import type { Block } from '../chain/transaction.ts'
import { isReserved } from '../chain/writable-accounts.ts'
import type { SourcedBlock } from '../node/block-source.ts'
import { blockFees, markWriters, type BlockFees } from './block-fees.ts'
import type { BlockObserver } from './committed-blocks.ts'
import type { FeeStatistics, FeeSummary } from './ports.ts'

/** Slots of the window that ends with the newest block (choices, 8; as many as `getRecentPrioritizationFees` has). */
export const FEE_SLOTS = 150
/**
 * Most writable accounts of transactions in the window; the oldest blocks make room. Chosen: twice what 150 blocks of
 * 1,500 transactions with ten each have; 40 MB.
 */
const WRITES_MAX = 4_500_000

/** The answer without any block. */
export const NO_FEES: FeeSummary = { samples: 0, slots: null, p25: 0, p50: 0, p75: 0, p90: 0, max: 0 }

/** Priority fees of the last 150 slots: of each transaction that is no vote, with the accounts that it wrote to. */
export class PriorityFees implements FeeStatistics, BlockObserver {
  /** Ascending by slot. */
  readonly #blocks: BlockFees[] = []
  readonly #writesMax: number
  /** Prices in ascending order, made when fees of all transactions are asked for. */
  readonly #sorted = new WeakMap<BlockFees, Float64Array>()
  #writes = 0
  #marks = new Uint8Array(4096)

  constructor({ writesMax = WRITES_MAX } = {}) {
    this.#writesMax = writesMax
  }

  /** Bytes of the window, with the sorted prices of all blocks. */
  get bytes(): number {
    let bytes = 0
    for (const { prices, low, high, places, buckets } of this.#blocks)
      for (const each of [prices, prices, low, high, places, buckets]) bytes += each.byteLength
    return bytes
  }

  /** Tells whether the window has a block of a slot. */
  has(slot: number): boolean {
    return this.#blocks.some((block) => block.slot === slot)
  }

  /** The newest slot; null without a block. */
  get newest(): number | null {
    return this.#blocks.at(-1)?.slot ?? null
  }

  read({ block }: SourcedBlock): () => void {
    const fees = blockFees(block)
    return () => this.add(fees)
  }

  recall(block: Block): void {
    this.add(blockFees(block))
  }

  /** Adds a block, which takes the place of one in its slot. One below the window is ignored. */
  add(block: BlockFees): void {
    const newest = this.newest
    if (newest !== null && block.slot <= newest - FEE_SLOTS) return
    const at = this.#blocks.findLastIndex(({ slot }) => slot <= block.slot)
    const isReplaced = this.#blocks[at]?.slot === block.slot
    if (isReplaced) this.#writes -= this.#blocks[at]!.low.length
    this.#blocks.splice(isReplaced ? at : at + 1, isReplaced ? 1 : 0, block)
    this.#writes += block.low.length
    const first = this.newest! - FEE_SLOTS + 1
    while (this.#blocks[0]!.slot < first || (this.#writes > this.#writesMax && this.#blocks.length > 1))
      this.#writes -= this.#blocks.shift()!.low.length
  }

  lost(afterSlot: number): void {
    while (this.#blocks.length > 0 && this.#blocks.at(-1)!.slot > afterSlot)
      this.#writes -= this.#blocks.pop()!.low.length
  }

  of(accounts: readonly Uint8Array[]): FeeSummary {
    const runs =
      accounts.length === 0 ? this.#blocks.map((block) => this.#ascending(block)) : this.#runsOf(accounts)
    const samples = runs.reduce((sum, run) => sum + run.length, 0)
    const { length } = this.#blocks
    const slots = length === 0 ? null : ([this.#blocks[0]!.slot, this.#blocks[length - 1]!.slot] as const)
    const percentile = (percent: number): number =>
      samples === 0 ? 0 : nthSmallest(runs, Math.ceil((percent / 100) * samples))
    return {
      samples,
      slots,
      p25: percentile(25),
      p50: percentile(50),
      p75: percentile(75),
      p90: percentile(90),
      max: runs.reduce((max, run) => Math.max(max, run.at(-1) ?? 0), 0)
    }
  }

  #ascending(block: BlockFees): Float64Array {
    const known = this.#sorted.get(block) ?? block.prices.toSorted()
    this.#sorted.set(block, known)
    return known
  }

  /** Returns, by block, the ascending prices of transactions that write to any of the accounts. */
  #runsOf(accounts: readonly Uint8Array[]): Float64Array[] {
    const hashes = accounts.flatMap((account) => (isReserved(account) ? [] : accountHashes(account)))
    return this.#blocks.map((block) => {
      const { prices } = block
      if (this.#marks.length < prices.length) this.#marks = new Uint8Array(prices.length * 2)
      const marks = this.#marks.fill(0, 0, prices.length)
      let count = 0
      for (const hash of hashes) count += markWriters(block, hash, marks)
      const run = new Float64Array(count)
      for (let place = 0, at = 0; at < count; place++) if (marks[place] === 1) run[at++] = prices[place]!
      return run.sort()
    })
  }
}

/** Returns the element of a rank, from 1, among whole numbers in several ascending runs; by bisection of its value. */
function nthSmallest(runs: readonly Float64Array[], rank: number): number {
  let from = 0
  let to = runs.reduce((max, run) => Math.max(max, run.at(-1) ?? 0), 0)
  while (from < to) {
    const middle = from + Math.floor((to - from) / 2)
    let below = 0
    for (const run of runs) below += countUpTo(run, middle)
    if (below >= rank) to = middle
    else from = middle + 1
  }
  return from
}

/** Returns the number of elements of an ascending run that are at most a value. */
function countUpTo(run: Float64Array, value: number): number {
  let from = 0
  let to = run.length
  while (from < to) {
    const middle = (from + to) >>> 1
    if (run[middle]! <= value) from = middle + 1
    else to = middle
  }
  return from
}
