import type { DocumentStore } from '../../storage/document-store.ts'
import { Documents, PAGE_MAX, type Stored } from '../../storage/documents.ts'
import {
  LEDGER_PIECE,
  LEDGER_SUM,
  PIECE_ENTRIES,
  type LedgerPiece,
  type LedgerSum,
  type Sums
} from './ledger-document.ts'
import type { LedgerEntry } from './ledger-entry.ts'
import { NewestSums, type NewestSum } from './newest-sums.ts'
import type { LedgerPart } from './packed-page.ts'
import { NO_SUMS, plus, sumsOf } from './sums.ts'

/** Maximum pieces that are read at once: 200 KB. */
const PIECES_PER_READ = 8
/** Maximum pieces that are written at once: 400 KB. A crash may leave holes between them, which a repeated write fills. */
const PIECES_PER_WRITE = 16

/** Maximum totals that a late block corrects at once. The embedded store writes up to that many without a wait. */
const UPDATES_AT_ONCE = 64

/** Receives an address's entries of a block before they are deleted. */
export type Removing = (part: LedgerPart) => Promise<void>

/**
 * Writes entries of the slots that an earlier version has recorded, as documents with running sums. Each method may be
 * repeated after a crash, and then completes the work.
 */
export class DocumentLedger {
  readonly #pieces: Documents<LedgerPiece>
  readonly #sums: Documents<LedgerSum>
  readonly #newest = new NewestSums()
  readonly #isOurs: () => Promise<boolean>

  /** `isOurs` resolves with whether this process is still the only writer. */
  constructor(store: DocumentStore, isOurs: () => Promise<boolean> = async () => true) {
    this.#isOurs = isOurs
    this.#pieces = new Documents(store, LEDGER_PIECE)
    this.#sums = new Documents(store, LEDGER_SUM)
  }

  /**
   * Stores an address's entries of a block, and adds them to its sums and to those of later blocks. Entries that are already
   * stored are not changed, even if their prices differ. Resolves with the stored entries. Calls for one address must be
   * sequential.
   */
  async put(part: LedgerPart): Promise<LedgerPart> {
    const pieces = piecesOf(part)
    const entries: LedgerEntry[] = []
    for (let from = 0; from < pieces.length; from += PIECES_PER_WRITE) {
      const some = pieces.slice(from, from + PIECES_PER_WRITE)
      const stored = await Promise.all(some.map(async (piece) => this.#insertPiece(piece)))
      entries.push(...stored.flat())
    }
    const stored = { ...part, entries }
    await this.#addAll(stored)
    return stored
  }

  /** Returns the slot of the newest entries of an address; -1 before the first. */
  async newestSlot(address: string): Promise<number> {
    const { documents } = await this.#pieces.list(address, { order: 'desc', limit: 1 })
    return documents[0]?.value.slot ?? -1
  }

  /** Stores a piece, unless it is stored. Resolves with the stored entries. */
  async #insertPiece(piece: LedgerPiece): Promise<readonly LedgerEntry[]> {
    if ((await this.#pieces.insert(piece)).ok) return piece.entries
    const before = await this.#pieces.get(piece.address, [piece.slot, piece.piece])
    return before === null ? this.#insertPiece(piece) : before.value.entries
  }

  /**
   * Deletes the entries of an address after a slot, and their sums, until another process becomes the writer. `removing`
   * is called with the entries of each block before they are deleted, newest block first, and again by a repeat.
   */
  async rollBack(address: string, after: number, removing: Removing = async () => undefined): Promise<void> {
    this.#newest.forget(address)
    for (;;) {
      const { documents } = await this.#pieces.list(address, { above: [after], order: 'desc', limit: 1 })
      const newest = documents[0]?.value
      if (newest === undefined) return
      const { slot, blockTime, blockhash } = newest
      const pieces = await this.#pieces.list(address, { prefix: [slot], limit: PAGE_MAX })
      const entries = pieces.documents.flatMap(({ value }) => value.entries)
      const sums = await this.#sumsAt(address, slot, entries)
      // After the reads, so that no other process has written these documents.
      if (!(await this.#isOurs())) return
      await removing({ address, slot, blockTime, blockhash, entries })
      // The sums go first: a sum without its entries would count in those of later blocks.
      await Promise.all(sums.map(async (sum) => this.#sums.delete(sum)))
      for (const piece of pieces.documents.toReversed()) await this.#pieces.delete(piece)
    }
  }

  /**
   * Deletes the newest entries of an address whose blocks `isOf` denies, up to the first block that it confirms. Calls
   * `removing` like `rollBack`.
   */
  async removeLost(
    address: string,
    isOf: (block: Pick<LedgerPart, 'slot' | 'blockhash'>) => Promise<boolean>,
    removing?: Removing
  ): Promise<void> {
    for (let after: string | null = null; ;) {
      const page = await this.#pieces.list(address, { after, order: 'desc', limit: PIECES_PER_READ })
      for (const { value } of page.documents)
        if (await isOf(value)) return this.rollBack(address, value.slot, removing)
      if (page.next === null) return this.rollBack(address, -1, removing)
      after = page.next
    }
  }

  /** Deletes the entries of a block, and corrects the sums from its slot on. */
  async remove({ address, slot, blockhash }: Omit<LedgerPart, 'entries'>): Promise<void> {
    const { documents } = await this.#pieces.list(address, { prefix: [slot], limit: PAGE_MAX })
    const pieces = documents.filter(({ value }) => value.blockhash === blockhash)
    const entries = pieces.flatMap(({ value }) => value.entries)
    const sums = await this.#sumsAt(address, slot, entries)
    await Promise.all(sums.map(async (sum) => this.#sums.delete(sum)))
    for (const piece of pieces.toReversed()) await this.#pieces.delete(piece)
    await this.sumUp(address, slot - 1)
  }

  /** Reads the sums of a slot that include the given entries. */
  async #sumsAt(
    address: string,
    slot: number,
    entries: readonly LedgerEntry[]
  ): Promise<readonly Stored<LedgerSum>[]> {
    const found = sumsOf(address, entries).map(async ({ mint }) => this.#sums.get(address, [mint, slot]))
    return (await Promise.all(found)).filter((sum) => sum !== null)
  }

  /** Corrects the sums of an address after a slot, which a crash may have left behind its entries. */
  async sumUp(address: string, after: number): Promise<void> {
    const totals = new Map<string, Sums>()
    this.#newest.forget(address)
    for await (const { slot, blockTime, entries } of this.#partsAfter(address, after))
      await Promise.all(
        sumsOf(address, entries).map(async ({ mint, decimals, sums: own }) => {
          const total = plus(totals.get(mint) ?? (await this.#totalBefore(address, mint, slot)), own)
          totals.set(mint, total)
          await this.#store({ address, mint, slot, blockTime, decimals, own, total })
        })
      )
  }

  /** Lists the entries of each block after a slot, ascending. */
  async *#partsAfter(address: string, slot: number): AsyncGenerator<LedgerPart, void, undefined> {
    let part: LedgerPart | null = null
    for (let after: string | null = null; ;) {
      const page = await this.#pieces.list(address, { above: [slot], after, limit: PIECES_PER_READ })
      for (const { value } of page.documents) {
        if (part !== null && part.slot !== value.slot) yield part
        const earlier: readonly LedgerEntry[] = part?.slot === value.slot ? part.entries : []
        part = { ...value, entries: [...earlier, ...value.entries] }
      }
      if (page.next === null) break
      after = page.next
    }
    if (part !== null) yield part
  }

  async #addAll({ address, slot, blockTime, entries }: LedgerPart): Promise<void> {
    const sums = sumsOf(address, entries)
    await Promise.all(
      sums.map(async ({ mint, decimals, sums: own }) =>
        this.#add({ address, mint, slot, blockTime, decimals, own, total: own })
      )
    )
  }

  /** Stores the sums of a block, which follow from those of the previous block, and corrects the totals of later blocks. */
  async #add(sum: LedgerSum): Promise<void> {
    const { address, mint, slot, own } = sum
    const newest = this.#newest.take(address, mint) ?? (await this.#newestOf(address, mint))
    const isNewest = newest.slot < slot
    const total = plus(isNewest ? newest.total : await this.#totalBefore(address, mint, slot), own)
    if (isNewest && (await this.#sums.insert({ ...sum, total })).ok)
      return this.#newest.put(address, mint, { slot, total })
    await this.#store({ ...sum, total })
    await this.#correct(address, mint, slot, total)
  }

  /** Stores the sums of a block, replacing earlier ones. */
  async #store(sum: LedgerSum): Promise<void> {
    const stored = await this.#sums.get(sum.address, [sum.mint, sum.slot])
    if (stored === null) await this.#sums.insert(sum)
    // The last entries of a block are possibly not stored yet.
    else if (!isEqual(stored.value.own, sum.own) || !isEqual(stored.value.total, sum.total))
      await this.#sums.update(stored, sum)
  }

  /** Corrects the totals after a slot, which follow from the total at the slot. */
  async #correct(address: string, mint: string, slot: number, total: Sums): Promise<void> {
    let expected = total
    for (let after: string | null = null; ;) {
      const later = await this.#sums.list(address, { prefix: [mint], above: [slot], after, limit: PAGE_MAX })
      const corrected = later.documents.flatMap((document) => {
        expected = plus(expected, document.value.own)
        return isEqual(document.value.total, expected)
          ? []
          : [{ document, value: { ...document.value, total: expected } }]
      })
      for (let from = 0; from < corrected.length; from += UPDATES_AT_ONCE)
        await Promise.all(
          corrected
            .slice(from, from + UPDATES_AT_ONCE)
            .map(async ({ document, value }) => this.#sums.update(document, value))
        )
      if (later.next === null) return
      after = later.next
    }
  }

  async #newestOf(address: string, mint: string): Promise<NewestSum> {
    const { documents } = await this.#sums.list(address, { prefix: [mint], order: 'desc', limit: 1 })
    return documents[0]?.value ?? { slot: -1, total: NO_SUMS }
  }

  /** Returns the total of the last block before a slot. */
  async #totalBefore(address: string, mint: string, slot: number): Promise<Sums> {
    const { documents } = await this.#sums.list(address, {
      prefix: [mint],
      until: [slot - 1],
      order: 'desc',
      limit: 1
    })
    return documents[0]?.value.total ?? NO_SUMS
  }
}

/** Cuts an address's entries of a block into documents. */
function piecesOf({ entries, ...block }: LedgerPart): readonly LedgerPiece[] {
  return Array.from({ length: Math.ceil(entries.length / PIECE_ENTRIES) }, (_, piece) => ({
    ...block,
    piece,
    entries: entries.slice(piece * PIECE_ENTRIES, (piece + 1) * PIECE_ENTRIES)
  }))
}

const isEqual = (a: Sums, b: Sums): boolean =>
  a.entries === b.entries &&
  a.inflow === b.inflow &&
  a.outflow === b.outflow &&
  a.inflowMicroUsd === b.inflowMicroUsd &&
  a.outflowMicroUsd === b.outflowMicroUsd &&
  a.counted === b.counted &&
  a.unpriced === b.unpriced
