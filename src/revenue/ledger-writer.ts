import PQueue from 'p-queue'
import { DocumentLedger, type Removing } from './document-ledger.ts'
import type { LedgerStores } from './ledger-stores.ts'
import { PagedLedger, type LedgerWriting } from './paged-ledger.ts'
import type { LedgerPart } from './packed-page.ts'

export interface LedgerWriterOptions extends LedgerWriting {
  /** The last slot whose entries an earlier version has stored, or would have: as documents. -1 before the first. */
  readonly documentsTo: number
}

/** Ledgers that are summed up at once: other users of the store wait for no more. */
const DOCUMENTS_AT_ONCE = 16

const NOTHING: Removing = async () => undefined

/**
 * Writes the ledger of watched addresses: as documents up to the slot at which an earlier version ended, and as pages after
 * it. Each method may be repeated after a crash, and then completes the work.
 */
export class LedgerWriter {
  readonly #documents: DocumentLedger
  readonly #pages: PagedLedger
  readonly #documentsTo: number

  constructor(
    { documents, ledger }: LedgerStores,
    { token, isOurs, documentsTo }: LedgerWriterOptions = { token: 1, isOurs: null, documentsTo: -1 }
  ) {
    this.#documents = new DocumentLedger(documents, isOurs ?? undefined)
    this.#pages = new PagedLedger(ledger, { token, isOurs })
    this.#documentsTo = documentsTo
  }

  /**
   * Stores the entries of addresses in one block, and adds them to their sums. Entries that are already stored are not
   * changed, even if their prices differ. Resolves with the stored entries. Calls must be sequential.
   */
  async put(parts: readonly LedgerPart[]): Promise<readonly LedgerPart[]> {
    if (parts.every(({ slot }) => slot > this.#documentsTo)) return this.#pages.put(parts)
    const stored: LedgerPart[] = []
    for (const part of parts) stored.push(await this.#documents.put(part))
    return stored
  }

  /**
   * Deletes the entries of an address after a slot, and their sums, until another process becomes the writer. `removing`
   * is called with the entries of each block before they are deleted, newest block first, and again by a repeat.
   */
  async rollBack(address: string, after: number, removing: Removing = NOTHING): Promise<void> {
    await this.#pages.rollBack(address, after, removing)
    if (after < this.#documentsTo) await this.#documents.rollBack(address, after, removing)
  }

  /**
   * Deletes the newest entries of an address whose blocks `isOf` denies, up to the first block that it confirms. Calls
   * `removing` like `rollBack`.
   */
  async removeLost(
    address: string,
    isOf: (block: Pick<LedgerPart, 'slot' | 'blockhash'>) => Promise<boolean>,
    removing: Removing = NOTHING
  ): Promise<void> {
    for await (const part of this.#pages.newestFirst(address))
      if (await isOf(part)) return this.#pages.rollBack(address, part.slot, removing)
    await this.#pages.rollBack(address, -1, removing)
    if (this.#documentsTo >= 0) await this.#documents.removeLost(address, isOf, removing)
  }

  /** Deletes the entries of a block, and corrects the sums from its slot on. */
  async remove(part: Omit<LedgerPart, 'entries'>): Promise<void> {
    if (part.slot > this.#documentsTo) await this.#pages.remove(part)
    else await this.#documents.remove(part)
  }

  /**
   * Corrects the sums of addresses after a slot, which a crash may have left behind the entries of documents. Those of pages are
   * never wrong, and are completed by the next page.
   */
  async sumUp(addresses: readonly string[], after: number): Promise<void> {
    if (after >= this.#documentsTo) return
    const ledgers = new PQueue({ concurrency: DOCUMENTS_AT_ONCE })
    await ledgers.addAll(addresses.map((address) => async () => this.#documents.sumUp(address, after)))
  }
}
