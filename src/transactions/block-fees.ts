import type { Block } from '../chain/transaction.ts'
import { writeWritable } from '../chain/writable-accounts.ts'
import type { AccountFilter } from './account-filter.ts'
import { AccountIndex } from './account-index.ts'
import { countBelow } from './ascending-runs.ts'
import { computeUnitPrice } from './compute-unit-price.ts'

/** Keys of a transaction. */
const KEYS_MAX = 256
const TWO_32 = 2 ** 32
/** Number of prices below which they are sorted directly. Such a sort takes as long as one pass over all ranks. */
const FEW = 32
/** Accounts of a block that can be scanned in the time of one index look-up, measured with mainnet blocks. */
const SCANNED_PER_LOOKUP = 60

/** A block, and the size of its fees. */
export interface FeesOf {
  readonly slot: number
  /** Base58; null if the source does not state it. */
  readonly blockhash: string | null
  readonly transactions: number
  /** Writable accounts of all transactions together. */
  readonly writes: number
}

/**
 * Fees of a block's non-vote transactions, and the accounts that they wrote to, in one buffer. The first search
 * builds its additional structures: most blocks are never searched.
 */
export class BlockFees {
  readonly slot: number
  readonly blockhash: string | null
  /** All fields below, in their order. */
  readonly bytes: Uint8Array
  /** Micro-lamports per compute unit, by transaction in the order of the block. */
  readonly prices: Float64Array
  /** Index after the last account of each transaction. */
  readonly ends: Uint32Array
  /** Lower 32 bits of the hash (`accountHashes`) of each writable account of each transaction. */
  readonly low: Uint32Array
  /** Upper 16 bits of these hashes. */
  readonly high: Uint16Array
  #ascending: Float64Array | undefined
  #ranks: Uint32Array | undefined
  #index: AccountIndex | undefined

  /** Takes the bytes, which start at a multiple of 8 in their buffer; by default all are 0. */
  constructor(
    { slot, blockhash, transactions, writes }: FeesOf,
    bytes = new Uint8Array(bytesOf(transactions, writes))
  ) {
    const { buffer, byteOffset: at } = bytes
    this.slot = slot
    this.blockhash = blockhash
    this.bytes = bytes
    this.prices = new Float64Array(buffer, at, transactions)
    this.ends = new Uint32Array(buffer, at + 8 * transactions, transactions)
    this.low = new Uint32Array(buffer, at + 12 * transactions, writes)
    this.high = new Uint16Array(buffer, at + 12 * transactions + 4 * writes, writes)
  }

  /** The prices in ascending order; computed on first use. */
  get ascending(): Float64Array {
    return (this.#ascending ??= this.prices.toSorted())
  }

  /** Bytes of the block, including all structures built for searches. */
  get heldBytes(): number {
    return (
      this.bytes.length +
      (this.#ascending?.byteLength ?? 0) +
      (this.#ranks?.byteLength ?? 0) +
      (this.#index?.bytes ?? 0)
    )
  }

  /** Returns whether a search for the accounts would be faster with the index, and the index is not built yet. */
  lacksIndex(filter: AccountFilter): boolean {
    return this.#index === undefined && this.#isForIndex(filter)
  }

  /** Builds the index of accounts, which is as large as the block. */
  index(): void {
    this.#index ??= new AccountIndex(this)
  }

  /** Returns, in ascending order, the prices of transactions that write to an account of the filter. */
  of(filter: AccountFilter): Float64Array {
    const index = this.#isForIndex(filter) ? this.#index : undefined
    const found = index === undefined ? this.#scan(filter) : this.#lookUp(filter, index)
    const run = new Float64Array(found.length)
    if (found.length < FEW) {
      for (let i = 0; i < found.length; i++) run[i] = this.prices[found[i]!]!
      return run.sort()
    }
    const { ascending } = this
    const ranks = (this.#ranks ??= ranksOf(this.prices, ascending))
    const counts = new Uint32Array(ranks.length)
    for (let i = 0; i < found.length; i++) counts[ranks[found[i]!]!]!++
    for (let rank = 0, at = 0; at < run.length; rank++)
      for (let left = counts[rank]!; left > 0; left--) run[at++] = ascending[rank]!
    return run
  }

  #isForIndex({ low }: AccountFilter): boolean {
    return low.length * SCANNED_PER_LOOKUP <= this.low.length
  }

  /** Returns the transactions that write to an account of the filter. */
  #scan(filter: AccountFilter): number[] {
    const { ends, low, high } = this
    const { marks } = filter
    const found: number[] = []
    for (let at = 0, place = 0; at < low.length; at++) {
      if (marks[low[at]! & 0xffff] === 0 || !filter.has(low[at]!, high[at]!)) continue
      while (ends[place]! <= at) place++
      found.push(place)
      // Skip the transaction's other accounts.
      at = ends[place]! - 1
    }
    return found
  }

  #lookUp({ low, high }: AccountFilter, index: AccountIndex): number[] {
    const marks = new Uint8Array(this.ends.length)
    const found: number[] = []
    const take = (place: number): void => {
      if (marks[place] === 0) found.push(place)
      marks[place] = 1
    }
    for (let i = 0; i < low.length; i++) index.find(low[i]!, high[i]!, take)
    return found
  }
}

/** Returns the bytes of a block's fees: 12 per transaction, and 6 per account that a transaction writes to. */
export const bytesOf = (transactions: number, writes: number): number => 12 * transactions + 6 * writes

/** Returns, for each price, the index of the first equal price in ascending order. */
function ranksOf(prices: Float64Array, ascending: Float64Array): Uint32Array {
  const ranks = new Uint32Array(prices.length)
  for (let i = 0; i < prices.length; i++) ranks[i] = countBelow(ascending, prices[i]!)
  return ranks
}

/** Fields of the block being read; they grow to the largest block. */
let scratch = {
  hashes: new Float64Array(2 ** 14),
  prices: new Float64Array(2 ** 11),
  ends: new Uint32Array(2 ** 11)
}

/** Reads the fees of a block. Transactions that failed have paid too. */
export function blockFees(block: Pick<Block, 'slot' | 'blockhash' | 'transactions'>): BlockFees {
  const { slot, blockhash = null, transactions } = block
  const { length } = transactions
  if (length > scratch.prices.length)
    scratch = { ...scratch, prices: new Float64Array(length * 2), ends: new Uint32Array(length * 2) }
  let writes = 0
  for (let place = 0; place < length; place++) {
    const transaction = transactions[place]!
    if (writes + KEYS_MAX > scratch.hashes.length) growHashes()
    scratch.prices[place] = computeUnitPrice(transaction)
    writes = writeWritable(transaction, scratch.hashes, writes)
    scratch.ends[place] = writes
  }
  const fees = new BlockFees({ slot, blockhash, transactions: length, writes })
  const { low, high } = fees
  const { hashes, prices, ends } = scratch
  fees.prices.set(prices.subarray(0, length))
  fees.ends.set(ends.subarray(0, length))
  for (let i = 0; i < writes; i++) {
    low[i] = hashes[i]! >>> 0
    high[i] = hashes[i]! / TWO_32
  }
  return fees
}

function growHashes(): void {
  const hashes = new Float64Array(scratch.hashes.length * 2)
  hashes.set(scratch.hashes)
  scratch = { ...scratch, hashes }
}
