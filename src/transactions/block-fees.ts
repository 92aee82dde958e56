import { accountHashes } from '../chain/account-hash.ts'
import { pubkeyFromBase58 } from '../chain/pubkey.ts'
import type { Block, Transaction } from '../chain/transaction.ts'
import { writeWritable } from '../chain/writable-accounts.ts'

const [BUDGET_BYTES, BUDGET_TEXT] = accountHashes(
  pubkeyFromBase58('ComputeBudget111111111111111111111111111111')
)
const SET_COMPUTE_UNIT_PRICE = 3
const MICRO_LAMPORTS = 1_000_000n
const TWO_32 = 2 ** 32
/** Keys of a transaction. */
const KEYS_MAX = 256
/** Writable accounts per bucket of the index, on average. Chosen: a bucket is read in one cache line. */
const PER_BUCKET = 4

/**
 * Fees of a block's transactions that are no votes, and the accounts that these wrote to. It takes about 9 bytes per writable
 * account of a transaction, and 8 per transaction, or 16 once fees were asked for.
 */
export interface BlockFees {
  readonly slot: number
  /** Micro-lamports per compute unit, by transaction in the order of the block. */
  readonly prices: Float64Array
  /** Lower 32 bits of the hash (`accountHashes`) of each writable account of each transaction, ordered by bucket. */
  readonly low: Uint32Array
  /** Upper 16 bits of the same hashes. */
  readonly high: Uint16Array
  /** Their transactions, as indexes in `prices`. */
  readonly places: Uint32Array | Uint16Array
  /** Where each bucket begins, and the end of the last. A bucket is a hash modulo their number, a power of two. */
  readonly buckets: Uint32Array
}

/** Hashes and transactions of the block being read; grows to the largest block. */
let scratch = { hashes: new Float64Array(2 ** 14), places: new Uint32Array(2 ** 14) }

/** Reads the fees of a block. Transactions that failed have paid too. */
export function blockFees({ slot, transactions }: Pick<Block, 'slot' | 'transactions'>): BlockFees {
  const prices = new Float64Array(transactions.length)
  let count = 0
  for (let place = 0; place < transactions.length; place++) {
    const transaction = transactions[place]!
    prices[place] = computeUnitPrice(transaction)
    if (count + KEYS_MAX > scratch.hashes.length) grow()
    const end = writeWritable(transaction, scratch.hashes, count)
    scratch.places.fill(place, count, end)
    count = end
  }
  return indexed(slot, prices, scratch.hashes.subarray(0, count), scratch.places)
}

/** Returns fees with the index by account. `hashes` and `places` have an entry for each writable account. */
function indexed(slot: number, prices: Float64Array, hashes: Float64Array, places: Uint32Array): BlockFees {
  const count = hashes.length
  const size = 2 ** Math.max(0, Math.ceil(Math.log2(count / PER_BUCKET)))
  const buckets = new Uint32Array(size + 1)
  const low = new Uint32Array(count)
  const high = new Uint16Array(count)
  const ordered = prices.length > 2 ** 16 ? new Uint32Array(count) : new Uint16Array(count)
  for (let i = 0; i < count; i++) buckets[bucketOf(hashes[i]!, size) + 1]!++
  for (let i = 0; i < size; i++) buckets[i + 1]! += buckets[i]!
  for (let i = count - 1; i >= 0; i--) {
    const hash = hashes[i]!
    const bucket = bucketOf(hash, size)
    // Buckets fill from their end, which leaves in the next entry what becomes their beginning.
    const at = --buckets[bucket + 1]!
    low[at] = hash >>> 0
    high[at] = hash / TWO_32
    ordered[at] = places[i]!
  }
  buckets.copyWithin(0, 1)
  buckets[size] = count
  return { slot, prices, low, high, places: ordered, buckets }
}

/**
 * Sets the mark of each transaction that writes to an account of this hash to 1, and returns the number of those that had
 * none.
 */
export function markWriters(
  { low, high, places, buckets }: BlockFees,
  hash: number,
  marks: Uint8Array
): number {
  const bucket = bucketOf(hash, buckets.length - 1)
  const lower = hash >>> 0
  const upper = Math.floor(hash / TWO_32)
  const end = buckets[bucket + 1]!
  let count = 0
  for (let i = buckets[bucket]!; i < end; i++) {
    if (low[i] !== lower || high[i] !== upper) continue
    const place = places[i]!
    if (marks[place] === 0) count++
    marks[place] = 1
  }
  return count
}

const bucketOf = (hash: number, size: number): number => (hash & (size - 1)) >>> 0

function grow(): void {
  const { hashes, places } = scratch
  scratch = { hashes: new Float64Array(hashes.length * 2), places: new Uint32Array(places.length * 2) }
  scratch.hashes.set(hashes)
  scratch.places.set(places)
}

/**
 * Returns the micro-lamports per compute unit that a transaction offers, at most 2^53 - 1. Version 1 states lamports and a
 * limit instead; one that asks for no compute unit has no price, and counts as 0 (SIMD-0385: no limit means the least).
 */
export function computeUnitPrice({ version, config, keys, instructions }: Transaction): number {
  if (version === 1) {
    if (config === undefined) return 0
    const { priorityFeeLamports, computeUnitLimit } = config
    if (priorityFeeLamports === null || computeUnitLimit === null || computeUnitLimit === 0) return 0
    return exact((priorityFeeLamports * MICRO_LAMPORTS) / BigInt(computeUnitLimit))
  }
  for (let i = 0; i < instructions.length; i++) {
    const { innerIndex, program } = instructions[i]!
    if (innerIndex !== null) continue
    const hash = keys.hash(program)
    if (hash !== BUDGET_BYTES && hash !== BUDGET_TEXT) continue
    const { data } = instructions[i]!
    if (data[0] !== SET_COMPUTE_UNIT_PRICE || data.length < 9) continue
    let price = 0
    for (let at = 8; at > 0; at--) price = price * 256 + data[at]!
    return Math.min(price, Number.MAX_SAFE_INTEGER)
  }
  return 0
}

const exact = (price: bigint): number =>
  price > Number.MAX_SAFE_INTEGER ? Number.MAX_SAFE_INTEGER : Number(price)
