import type { LedgerMark, LedgerPage, LedgerStore, LedgerSum } from '../../storage/port/ledger.ts'
import type { Removing } from './document-ledger.ts'
import { completesRange, isNext, OpenLedgers, type OpenLedger } from './open-ledger.ts'
import { packPage, partOf, sumsIn, type LedgerPart } from './packed-page.ts'
import { markIn, packMark, type SumMark } from './sum-mark.ts'
import { rangeStart, sealedSums, type NumberedSums } from './sum-ranges.ts'

/** Pages of one read: 64 of a busy wallet are 64 KB. */
const PAGES_PER_READ = 64
/** Addresses whose ledgers are opened or summed up at once: other users of the store wait for no more. */
const AT_ONCE = 16

/** How a process writes ledgers. */
export interface LedgerWriting {
  /** Fencing token of the process. */
  readonly token: number
  /** Resolves with whether this process is still the only writer; null if no other process can write. */
  readonly isOurs: (() => Promise<boolean>) | null
}

/** Pages of one write of `insert`: 64 of a busy wallet are 64 KB. */
const PAGES_PER_WRITE = 64

/** A set of ledgers, such as the archives of a tenant. */
export interface LedgerSet {
  /** The owner of a ledger's rows in the store is its address after this text. */
  readonly prefix: string
  /** Lets other work run between two reads of a long ledger. */
  readonly pause: () => Promise<void>
}

/** The ledgers of watched addresses. */
const LIVE: LedgerSet = { prefix: '', pause: async () => undefined }

/** Rows that a new page adds to the store. */
interface Appended {
  readonly page: LedgerPage
  readonly sums: readonly LedgerSum[]
  readonly marks: readonly LedgerMark[]
  readonly ledger: OpenLedger
}

/**
 * Writes entries as pages, one for each address and block, with sums of ranges of slots.
 *
 * P1. A page is stored whole or not at all, and never changes.
 * P2. Sums before an address's mark are those of its pages. A change of earlier pages lowers the mark first, and raises it
 *     once the sums are stored again. So readers are exact at any moment: what is not summed up, they read from pages.
 * P3. `edits` of the mark is greater after a change of pages before the newest one than before and during it, so that readers
 *     can cache. Those of the progress report the rest.
 */
export class PagedLedger {
  readonly #store: LedgerStore
  readonly #writing: LedgerWriting
  readonly #set: LedgerSet
  readonly #open = new OpenLedgers()

  constructor(store: LedgerStore, writing: LedgerWriting, set: LedgerSet = LIVE) {
    this.#store = store
    this.#writing = writing
    this.#set = set
  }

  /**
   * Stores the entries of addresses in a block. Entries that are already stored are not changed, even if their prices differ.
   * Resolves with the stored entries, in the order of the parts. Calls must be sequential.
   */
  async put(parts: readonly LedgerPart[]): Promise<readonly LedgerPart[]> {
    const stored = [...parts]
    const appended: Appended[] = []
    // Nearly all pages of a block follow one in memory, in the same range of sums: they need no read.
    const others: number[] = []
    for (const [place, part] of parts.entries()) {
      const ledger = this.#open.get(this.#ownerOf(part.address))
      if (ledger !== undefined && isNext(part, ledger) && !completesRange(part, ledger))
        appended.push(this.#inRange(part, ledger))
      else others.push(place)
    }
    for (let from = 0; from < others.length; from += AT_ONCE) {
      const some = others.slice(from, from + AT_ONCE).map(async (place) => {
        const part = parts[place]!
        const ledger = await this.#opened(this.#ownerOf(part.address))
        if (!isNext(part, ledger)) stored[place] = await this.#putLate(part)
        else if (completesRange(part, ledger)) appended.push(await this.#completing(part, ledger))
        else appended.push(this.#inRange(part, ledger))
      })
      await Promise.all(some)
    }
    if (appended.length > 0) await this.#append(appended)
    return stored
  }

  /** Deletes the pages of an address after a slot, as `LedgerWriter.rollBack` does. */
  async rollBack(address: string, after: number, removing: Removing): Promise<void> {
    const owner = this.#ownerOf(address)
    if ((await this.#newest(owner, after)) === null) return
    if (!(await this.#isOurs())) return
    await this.#edit(owner, after + 1, async () => {
      for (;;) {
        const page = await this.#newest(owner, after)
        // After the read, so that no other process has written the page.
        if (page === null || !(await this.#isOurs())) return
        await removing(this.#partOf(page))
        await this.#drop(page)
      }
    })
  }

  /** Yields the pages of an address, the newest first. */
  async *newestFirst(address: string): AsyncGenerator<LedgerPart, void, undefined> {
    for (let to = Number.MAX_SAFE_INTEGER; to >= 0;) {
      const pages = await this.#store.pages(this.#ownerOf(address), { from: 0, to, order: 'desc', limit: 2 })
      for (const page of pages) yield this.#partOf(page)
      to = pages.length === 0 ? -1 : pages.at(-1)!.slot - 1
    }
  }

  /** Deletes the entries of a block. */
  async remove({ address, slot, blockhash }: Omit<LedgerPart, 'entries'>): Promise<void> {
    const owner = this.#ownerOf(address)
    const page = await this.#at(owner, slot)
    if (page === null || this.#partOf(page).blockhash !== blockhash) return
    await this.#edit(owner, slot, () => this.#drop(page))
  }

  /**
   * Stores blocks of an address, in place of pages of their slots, and the sums with them. The first part has the lowest slot.
   * May be repeated after a crash, and then completes the work.
   */
  async insert(address: string, parts: AsyncGenerator<LedgerPart, void>): Promise<void> {
    const first = await parts.next()
    if (first.done === true) return
    const owner = this.#ownerOf(address)
    const pageOf = (part: LedgerPart): LedgerPage => ({ owner, slot: part.slot, value: packPage(part).value })
    await this.#edit(owner, first.value.slot, async () => {
      let pages = [pageOf(first.value)]
      for await (const part of parts) {
        if (pages.length === PAGES_PER_WRITE) {
          await this.#store.put({ token: this.#token, pages })
          pages = []
        }
        pages.push(pageOf(part))
      }
      await this.#store.put({ token: this.#token, pages })
    })
  }

  async #putLate(part: LedgerPart): Promise<LedgerPart> {
    const owner = this.#ownerOf(part.address)
    const page = await this.#at(owner, part.slot)
    if (page !== null) return this.#partOf(page)
    await this.#edit(owner, part.slot, async () => {
      const { slot } = part
      await this.#store.put({ token: this.#token, pages: [{ owner, slot, value: packPage(part).value }] })
    })
    return part
  }

  /** Returns what a page after the newest adds to the same range of sums. */
  #inRange(part: LedgerPart, { mark, pages }: OpenLedger): Appended {
    const owner = this.#ownerOf(part.address)
    const { slot } = part
    const { value, sums } = packPage(part)
    const ledger = { newest: slot, mark, pages: [...pages, { number: slot, sums }] }
    return { page: { owner, slot, value }, sums: [], marks: [], ledger }
  }

  /** Returns what a page after the newest adds that completes the sums of ranges before it. */
  async #completing(part: LedgerPart, { newest, mark, pages }: OpenLedger): Promise<Appended> {
    const owner = this.#ownerOf(part.address)
    const to = rangeStart(part.slot)
    const { sums, raised } = await this.#seal(owner, pages, mark, to)
    const rest = pages.filter(({ number }) => number >= to)
    const added = this.#inRange(part, { newest, mark: raised, pages: rest })
    return { ...added, sums, marks: [{ owner, value: packMark(raised) }] }
  }

  /** Computes the sums from the mark to the start of a range, and deletes those that are out of date. */
  async #seal(
    owner: string,
    pages: readonly NumberedSums[],
    mark: SumMark,
    to: number
  ): Promise<{ readonly sums: readonly LedgerSum[]; readonly raised: SumMark }> {
    const { sealedTo: from, writtenTo } = mark
    const { sums, outdated } = await sealedSums(this.#store, owner, pages, { from, to, writtenTo })
    if (outdated.length > 0) await this.#store.drop({ token: this.#token, owner, sums: outdated })
    return { sums, raised: { ...mark, sealedTo: to, writtenTo: Math.max(writtenTo, to) } }
  }

  async #append(appended: readonly Appended[]): Promise<void> {
    const { isOurs } = this.#writing
    const pages = appended.map(({ page }) => page)
    const sums = appended.flatMap((each) => each.sums)
    const marks = appended.flatMap((each) => each.marks)
    for (const { owner } of pages) this.#open.delete(owner)
    if (isOurs === null) await this.#store.put({ token: this.#token, pages, sums, marks })
    else {
      await this.#store.put({ token: this.#token, pages })
      // Another process may have taken over, and its sums are not those of these pages.
      if (marks.length > 0) {
        if (!(await isOurs())) return
        await this.#store.put({ token: this.#token, sums, marks })
      }
    }
    for (const { page, ledger } of appended) this.#open.set(page.owner, ledger)
  }

  /** Changes pages of an owner from a slot on (P2, P3). */
  async #edit(owner: string, from: number, change: () => Promise<void>): Promise<void> {
    this.#open.delete(owner)
    const [value] = await this.#store.marks([owner])
    const mark = markIn(value!)
    const lowered = {
      ...mark,
      sealedTo: Math.min(mark.sealedTo, rangeStart(from)),
      edits: mark.edits + 1
    }
    await this.#putMark(owner, lowered)
    await change()
    if (!(await this.#isOurs())) return
    const ledger = await this.#opened(owner)
    this.#open.delete(owner)
    await this.#putMark(owner, { ...ledger.mark, edits: ledger.mark.edits + 1 })
  }

  /** Opens a ledger for its next page. Completes its sums up to the range of the newest page. */
  async #opened(owner: string): Promise<OpenLedger> {
    const known = this.#open.get(owner)
    if (known !== undefined) return known
    const [value] = await this.#store.marks([owner])
    let mark = markIn(value!)
    let pages: readonly NumberedSums[] = []
    for (let from = mark.sealedTo; ;) {
      const to = Number.MAX_SAFE_INTEGER
      const found = await this.#store.pages(owner, { from, to, order: 'asc', limit: PAGES_PER_READ })
      pages = [...pages, ...found.map(({ slot, value: page }) => ({ number: slot, sums: sumsIn(page) }))]
      const last = pages.at(-1)
      if (last === undefined) break
      if (rangeStart(last.number) > mark.sealedTo && (await this.#isOurs())) {
        const { sums, raised } = await this.#seal(owner, pages, mark, rangeStart(last.number))
        await this.#store.put({
          token: this.#token,
          sums,
          marks: [{ owner, value: packMark(raised) }]
        })
        mark = raised
        pages = pages.filter(({ number }) => number >= raised.sealedTo)
      }
      if (found.length < PAGES_PER_READ) break
      from = last.number + 1
      await this.#set.pause()
    }
    const newest = pages.at(-1)?.number ?? (await this.#newest(owner, -1))?.slot ?? -1
    const ledger = { newest, mark, pages }
    this.#open.set(owner, ledger)
    return ledger
  }

  async #newest(owner: string, after: number): Promise<LedgerPage | null> {
    const to = Number.MAX_SAFE_INTEGER
    const [page] = await this.#store.pages(owner, { from: after + 1, to, order: 'desc', limit: 1 })
    return page ?? null
  }

  async #at(owner: string, slot: number): Promise<LedgerPage | null> {
    const [page] = await this.#store.pages(owner, { from: slot, to: slot, order: 'asc', limit: 1 })
    return page ?? null
  }

  #drop({ owner, slot }: LedgerPage): Promise<void> {
    return this.#store.drop({ token: this.#token, owner, slots: [slot] })
  }

  #putMark(owner: string, mark: SumMark): Promise<void> {
    return this.#store.put({ token: this.#token, marks: [{ owner, value: packMark(mark) }] })
  }

  #ownerOf(address: string): string {
    return this.#set.prefix + address
  }

  #partOf(page: LedgerPage): LedgerPart {
    return partOf({ ...page, owner: page.owner.slice(this.#set.prefix.length) })
  }

  async #isOurs(): Promise<boolean> {
    return this.#writing.isOurs === null || this.#writing.isOurs()
  }

  get #token(): number {
    return this.#writing.token
  }
}
