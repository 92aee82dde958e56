import { pubkeyMapKey } from '../../chain/pubkey.ts'
import type { Commitment } from '../../market/rows.ts'
import { addressesOf, addressIndexOf, addressPrefix, INDEXES, transactionsAt } from './address-index.ts'
import type { BlockAnswer, FoundTransaction, LatestBlockhash, LocalAccount, LocalBlock } from '../chain.ts'
import { unpackBlock, unpackTransaction } from './block-records.ts'
import type { BlockHeader, PackedBlock } from './block-records.ts'

/** Number of blocks after its blockhash's block in which a transaction can land. */
const BLOCKHASH_BLOCKS = 150

/** A block of the chain, with the data that is still needed. */
export interface RetainedBlock {
  packed: PackedBlock
  /** The accounts that it changed, packed; set until the block is finalized, for reporting. */
  accounts: Uint8Array | null
  /**
   * The block unpacked, until it is confirmed and reported. If it were cached longer, its thousands of objects would
   * survive each collection, which costs more than unpacking the block again for later readers.
   */
  whole: { readonly block: LocalBlock; readonly accounts: readonly LocalAccount[] } | null
  /** Whether the block is on disk. */
  isDurable: boolean
}

export interface SettlingRule {
  /** Numbers of durable blocks on top of a confirmed and of a finalized one. */
  readonly confirmedAfter: number
  readonly finalizedAfter: number
}

/** Slots up to which blocks were reported as confirmed and finalized. */
export interface SettledSlots {
  readonly confirmed: number
  readonly finalized: number
}

/**
 * The blocks of the newest slots in one chain, each the parent of the next.
 *
 * K1. A confirmed block stays, even after a fork and a restart.
 * K2. Finalized blocks are unpacked on demand, from the disk if the chain has one: in memory they would take 40 MB.
 */
export class RetainedBlocks {
  readonly #rule: SettlingRule
  /** Ascending by slot and height, without gaps in height. */
  #blocks: RetainedBlock[] = []
  readonly #bySlot = new Map<number, RetainedBlock>()
  /** Slots by signature; keys have one character per byte. */
  readonly #slotOfSignature = new Map<string, number>()
  readonly #heightOfBlockhash = new Map<string, number>()
  /** The signatures of a block, one after another. */
  readonly #signatures = new WeakMap<RetainedBlock, Uint8Array>()
  /** Indexes of addresses by block. */
  readonly #addresses = new WeakMap<RetainedBlock, Float64Array>()
  #firstSlot = 0
  #settled: SettledSlots = { confirmed: -1, finalized: -1 }

  constructor(rule: SettlingRule) {
    this.#rule = rule
  }

  /** The first retained slot; earlier slots were pruned. */
  get firstSlot(): number {
    return this.#firstSlot
  }

  get settled(): SettledSlots {
    return this.#settled
  }

  get head(): RetainedBlock {
    return this.#blocks.at(-1)!
  }

  get isEmpty(): boolean {
    return this.#blocks.length === 0
  }

  append(block: RetainedBlock): void {
    const { header } = block.packed
    this.#blocks.push(block)
    this.#bySlot.set(header.slot, block)
    this.#heightOfBlockhash.set(pubkeyMapKey(header.blockhash), header.blockHeight)
    this.#signatures.set(block, signaturesIn(block.packed))
    for (const signature of this.#signaturesOf(block))
      this.#slotOfSignature.set(signatureKey(signature), header.slot)
    this.#addresses.set(block, addressIndexOf(block.packed))
  }

  /** Removes the newest block, which must not have been reported as confirmed. */
  removeHead(): RetainedBlock {
    const removed = this.#blocks.pop()!
    this.#forget(removed)
    return removed
  }

  /** Returns the slot of the oldest of the newest `count` blocks; the first retained slot if there are fewer. */
  slotFromEnd(count: number): number {
    return this.#blocks.at(-count)?.packed.header.slot ?? this.#firstSlot
  }

  /** Returns the slots of blocks between two slots, both included, ascending, at most `limit`. */
  slotsBetween(first: number, last: number, limit: number): number[] {
    const slots: number[] = []
    for (let at = this.#indexOf(first); at < this.#blocks.length && slots.length < limit; at++) {
      const { slot } = this.#blocks[at]!.packed.header
      if (slot > last) break
      slots.push(slot)
    }
    return slots
  }

  /** Removes the blocks of slots before this one; returns their slots. */
  prune(firstSlot: number): number[] {
    const retained = this.#blocks.findIndex(({ packed }) => packed.header.slot >= firstSlot)
    const pruned = this.#blocks.splice(0, retained)
    for (const block of pruned) this.#forget(block)
    this.#firstSlot = Math.max(this.#firstSlot, firstSlot)
    return pruned.map(({ packed }) => packed.header.slot)
  }

  /** Sets the start of a loaded chain, and the slots up to which it was settled. */
  resume(firstSlot: number, settled: SettledSlots): void {
    this.#firstSlot = firstSlot
    this.#settled = settled
  }

  /**
   * Settles durable blocks by the rule. Returns those that are newly confirmed or finalized, oldest first; each is
   * returned once per commitment.
   */
  settle(
    { confirmedAfter, finalizedAfter } = this.#rule
  ): { readonly commitment: 'confirmed' | 'finalized'; readonly retained: RetainedBlock }[] {
    const durable = this.#blocks.findLastIndex(({ isDurable }) => isDurable)
    const confirmed = this.#between(this.#settled.confirmed, durable - confirmedAfter)
    const finalized = this.#between(this.#settled.finalized, durable - finalizedAfter)
    this.#settled = {
      confirmed: confirmed.at(-1)?.packed.header.slot ?? this.#settled.confirmed,
      finalized: finalized.at(-1)?.packed.header.slot ?? this.#settled.finalized
    }
    return [
      ...confirmed.map((retained) => ({ commitment: 'confirmed' as const, retained })),
      ...finalized.map((retained) => ({ commitment: 'finalized' as const, retained }))
    ]
  }

  headerAt(commitment: Commitment): BlockHeader {
    if (commitment === 'processed') return this.head.packed.header
    return this.#bySlot.get(this.#settled[commitment])!.packed.header
  }

  header(slot: number): BlockHeader | null {
    return this.#bySlot.get(slot)?.packed.header ?? null
  }

  transactionsIn(slot: number): number {
    return this.#bySlot.get(slot)?.packed.offsets.length ?? 0
  }

  latestBlockhash(commitment: Commitment): LatestBlockhash {
    const { blockhash, blockHeight, slot } = this.headerAt(commitment)
    return { blockhash, lastValidBlockHeight: blockHeight + BLOCKHASH_BLOCKS, slot }
  }

  /** Tells whether a transaction with this blockhash can land in a block of this height. */
  isValid(blockhash: Uint8Array, height: number): boolean {
    const since = this.#heightOfBlockhash.get(pubkeyMapKey(blockhash))
    return since !== undefined && since < height && height - since <= BLOCKHASH_BLOCKS
  }

  /** Yields the headers, newest first. */
  *headers(): Generator<BlockHeader> {
    for (let at = this.#blocks.length - 1; at >= 0; at--) yield this.#blocks[at]!.packed.header
  }

  answer(slot: number, commitment: Commitment): BlockAnswer {
    if (slot > this.headerAt(commitment).slot) return { kind: 'pending' }
    if (slot < this.#firstSlot) return { kind: 'pruned' }
    const retained = this.#bySlot.get(slot)
    if (retained === undefined) return { kind: 'skipped' }
    return { kind: 'block', block: retained.whole?.block ?? unpackBlock(retained.packed) }
  }

  has(signature: Uint8Array): boolean {
    return this.#slotOfSignature.has(signatureKey(signature))
  }

  transaction(signature: Uint8Array): FoundTransaction | null {
    const slot = this.#slotOfSignature.get(signatureKey(signature))
    if (slot === undefined) return null
    const retained = this.#bySlot.get(slot)!
    const index = this.#signaturesOf(retained).findIndex((each) => Buffer.compare(each, signature) === 0)
    return this.#found(retained, index)
  }

  /**
   * Returns transactions of an address, newest first. Checks every retained block: about 0.1 ms if few contain the address.
   */
  page(
    address: Uint8Array,
    page: { readonly before?: Uint8Array; readonly until?: Uint8Array; readonly limit: number }
  ): FoundTransaction[] {
    const before = page.before === undefined ? null : this.#placeOf(page.before)
    // No transaction is known to precede an unknown one.
    if (page.before !== undefined && before === null) return []
    const until = page.until === undefined ? null : this.#placeOf(page.until)
    const found: FoundTransaction[] = []
    for (const transaction of this.#transactionsOf(address)) {
      if (found.length >= page.limit) break
      const place = transaction.slot * INDEXES + transaction.indexInBlock
      if (until !== null && place <= until) break
      if (before === null || place < before) found.push(transaction)
    }
    return found
  }

  #placeOf(signature: Uint8Array): number | null {
    const found = this.transaction(signature)
    return found === null ? null : found.slot * INDEXES + found.indexInBlock
  }

  *#transactionsOf(address: Uint8Array): Generator<FoundTransaction> {
    const prefix = addressPrefix(address)
    for (let at = this.#blocks.length - 1; at >= 0; at--) {
      const retained = this.#blocks[at]!
      for (const index of transactionsAt(this.#addresses.get(retained)!, prefix)) {
        const found = this.#found(retained, index)
        if (addressesOf(found.transaction).some((key) => Buffer.compare(key, address) === 0)) yield found
      }
    }
  }

  #found(retained: RetainedBlock, index: number): FoundTransaction {
    const { slot, blockTime } = retained.packed.header
    const transaction = retained.whole?.block.transactions[index] ?? unpackTransaction(retained.packed, index)
    const { confirmed, finalized } = this.#settled
    const commitment = slot <= finalized ? 'finalized' : slot <= confirmed ? 'confirmed' : 'processed'
    return { transaction, slot, blockTime, indexInBlock: index, commitment }
  }

  /** Returns the index of the first block at a slot or after it. */
  #indexOf(slot: number): number {
    let low = 0
    let end = this.#blocks.length
    while (low < end) {
      const middle = (low + end) >>> 1
      if (this.#blocks[middle]!.packed.header.slot < slot) low = middle + 1
      else end = middle
    }
    return low
  }

  /** Returns the blocks after a slot, up to an index. */
  #between(slot: number, end: number): RetainedBlock[] {
    let start = end + 1
    while (start > 0 && this.#blocks[start - 1]!.packed.header.slot > slot) start--
    return this.#blocks.slice(start, Math.max(start, end + 1))
  }

  #forget(block: RetainedBlock): void {
    const { header } = block.packed
    this.#bySlot.delete(header.slot)
    this.#heightOfBlockhash.delete(pubkeyMapKey(header.blockhash))
    for (const signature of this.#signaturesOf(block)) this.#slotOfSignature.delete(signatureKey(signature))
  }

  #signaturesOf(block: RetainedBlock): Uint8Array[] {
    const signatures = this.#signatures.get(block)!
    return Array.from({ length: signatures.length / SIGNATURE_BYTES }, (_, index) =>
      signatures.subarray(index * SIGNATURE_BYTES, (index + 1) * SIGNATURE_BYTES)
    )
  }
}

const SIGNATURE_BYTES = 64

export const signatureKey = (signature: Uint8Array): string =>
  Buffer.from(signature.buffer, signature.byteOffset, signature.byteLength).toString('latin1')

/** Returns the signatures of a block, with which the records of its transactions begin. */
function signaturesIn({ bytes, offsets }: PackedBlock): Uint8Array {
  const signatures = new Uint8Array(offsets.length * SIGNATURE_BYTES)
  for (const [index, offset] of offsets.entries())
    signatures.set(bytes.subarray(offset, offset + SIGNATURE_BYTES), index * SIGNATURE_BYTES)
  return signatures
}
