import type { DocumentStore } from '../../storage/document-store.ts'
import { Documents, PAGE_MAX } from '../../storage/documents.ts'
import {
  LEDGER_PIECE,
  LEDGER_SUM,
  PIECE_ENTRIES,
  type LedgerPiece,
  type LedgerSum,
  type Sums
} from './ledger-document.ts'
import type { LedgerEntry } from './ledger-entry.ts'
import { NO_SUMS, plus, sumsOf, type MintSums } from './sums.ts'

/** Pieces that are read at once. Chosen: 200 KB. */
const PIECES_PER_READ = 8

/** An address's entries of a block. */
export interface LedgerPart {
  readonly address: string
  readonly slot: number
  /** Unix seconds. */
  readonly blockTime: number
  readonly blockhash: string | null
  readonly entries: readonly LedgerEntry[]
}

/** Writes the ledger of watched addresses. Each method may be repeated after a crash, and then does the rest. */
export class LedgerWriter {
  readonly #pieces: Documents<LedgerPiece>
  readonly #sums: Documents<LedgerSum>

  constructor(store: DocumentStore) {
    this.#pieces = new Documents(store, LEDGER_PIECE)
    this.#sums = new Documents(store, LEDGER_SUM)
  }

  /**
   * Stores an address's entries of a block, and adds them to its sums and to those of later blocks. Entries that are stored
   * already stay, and count with the values that they had then. Resolves with the stored entries. Calls for one address come
   * one after another.
   */
  async put({ entries, ...block }: LedgerPart): Promise<LedgerPart> {
    const stored: LedgerEntry[] = []
    for (let piece = 0; piece * PIECE_ENTRIES < entries.length; piece++) {
      const part = entries.slice(piece * PIECE_ENTRIES, (piece + 1) * PIECE_ENTRIES)
      stored.push(...(await this.#insert({ ...block, piece, entries: part })).entries)
    }
    const whole = { ...block, entries: stored }
    await this.#addAll(whole)
    return whole
  }

  /** Stores a piece unless it is stored already. Resolves with the stored one: its prices may have been others. */
  async #insert(piece: LedgerPiece): Promise<LedgerPiece> {
    const outcome = await this.#pieces.insert(piece)
    if (outcome.ok) return piece
    const before = await this.#pieces.get(piece.address, [piece.slot, piece.piece])
    return before?.value ?? piece
  }

  /** Deletes the entries of an address after a slot, and their sums. Resolves with the deleted entries, newest block first. */
  async rollBack(address: string, after: number): Promise<readonly LedgerPart[]> {
    const removed: LedgerPart[] = []
    for (;;) {
      const { documents } = await this.#pieces.list(address, { above: [after], order: 'desc', limit: 1 })
      const newest = documents[0]?.value
      if (newest === undefined) return removed
      const { slot, blockTime, blockhash } = newest
      const pieces = await this.#pieces.list(address, { prefix: [slot], limit: PAGE_MAX })
      const entries = pieces.documents.flatMap(({ value }) => value.entries)
      // First: a sum without its entries would count in those of later blocks.
      await Promise.all(sumsOf(address, entries).map((each) => this.#removeSum(address, each, slot)))
      for (const piece of pieces.documents.toReversed()) await this.#pieces.delete(piece)
      removed.push({ address, slot, blockTime, blockhash, entries })
    }
  }

  /** Deletes the newest entries of an address that are of blocks which `isOf` denies, up to the first that it confirms. */
  async removeLost(
    address: string,
    isOf: (block: Pick<LedgerPart, 'slot' | 'blockhash'>) => Promise<boolean>
  ): Promise<readonly LedgerPart[]> {
    for (let after: string | null = null; ;) {
      const page = await this.#pieces.list(address, { after, order: 'desc', limit: PIECES_PER_READ })
      for (const { value } of page.documents) if (await isOf(value)) return this.rollBack(address, value.slot)
      if (page.next === null) return this.rollBack(address, -1)
      after = page.next
    }
  }

  async #removeSum(address: string, { mint }: MintSums, slot: number): Promise<void> {
    const stored = await this.#sums.get(address, [mint, slot])
    if (stored !== null) await this.#sums.delete(stored)
  }

  /** Adds the entries of an address after a slot to its sums, which a crash may have prevented. */
  async sumUp(address: string, after: number): Promise<void> {
    const range = { above: [after], limit: PIECES_PER_READ }
    const found: LedgerPiece[] = []
    for (let at: string | null = null; ;) {
      const page = await this.#pieces.list(address, { ...range, after: at })
      found.push(...page.documents.map(({ value }) => value))
      if (page.next === null) break
      at = page.next
    }
    for (const pieces of Map.groupBy(found, ({ slot }) => slot).values())
      await this.#addAll({ ...pieces[0]!, entries: pieces.flatMap(({ entries }) => entries) })
  }

  /** Recomputes an address's totals from a slot on, which a crash may have left behind its entries. */
  async recompute(address: string, from: number): Promise<void> {
    const mints = new Set<string>()
    for (let after: string | null = null; ;) {
      const page = await this.#pieces.list(address, { above: [from - 1], after, limit: PIECES_PER_READ })
      for (const { value } of page.documents)
        for (const { mint } of sumsOf(address, value.entries)) mints.add(mint)
      if (page.next === null) break
      after = page.next
    }
    for (const mint of mints)
      await this.#correct(address, mint, from - 1, await this.#totalBefore(address, mint, from))
  }

  async #addAll({ address, slot, blockTime, entries }: LedgerPart): Promise<void> {
    const sums = sumsOf(address, entries)
    await Promise.all(
      sums.map(({ mint, decimals, sums: own }) =>
        this.#add({ address, mint, slot, blockTime, decimals, own, total: own })
      )
    )
  }

  /** Stores the sums of a block, which follow from those of the block before, and corrects the totals of later blocks. */
  async #add(sum: LedgerSum): Promise<void> {
    const { address, mint, slot, own } = sum
    const total = plus(await this.#totalBefore(address, mint, slot), own)
    const stored = await this.#sums.get(address, [mint, slot])
    if (stored === null) await this.#sums.insert({ ...sum, total })
    // The last entries of a block may not have been stored yet.
    else if (!isEqual(stored.value.own, own)) await this.#sums.update(stored, { ...sum, total })
    await this.#correct(address, mint, slot, total)
  }

  /** Corrects the totals after a slot, which follow from the total at the slot. */
  async #correct(address: string, mint: string, slot: number, total: Sums): Promise<void> {
    let expected = total
    for (let after: string | null = null; ;) {
      const later = await this.#sums.list(address, { prefix: [mint], above: [slot], after, limit: PAGE_MAX })
      for (const document of later.documents) {
        expected = plus(expected, document.value.own)
        const corrected = { ...document.value, total: expected }
        if (!isEqual(document.value.total, expected)) await this.#sums.update(document, corrected)
      }
      if (later.next === null) return
      after = later.next
    }
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

const isEqual = (a: Sums, b: Sums): boolean =>
  a.entries === b.entries &&
  a.inflow === b.inflow &&
  a.outflow === b.outflow &&
  a.inflowMicroUsd === b.inflowMicroUsd &&
  a.outflowMicroUsd === b.outflowMicroUsd
