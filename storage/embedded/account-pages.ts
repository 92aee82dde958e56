import { comparePubkeys, type Pubkey } from '../../src/chain/pubkey.ts'
import { addressOfVersion } from '../codec/program-account.ts'
import {
  addressAt,
  cutsOf,
  lastVersionAt,
  mergeVersions,
  packVersions,
  type VersionChange
} from '../codec/packed-versions.ts'
import type { AccountPageMemory } from './account-page-memory.ts'
import type { Entry } from './copy-engine.ts'

/**
 * Bytes of a page: about seventy token accounts. A write of one account copies its page, which takes several microseconds.
 */
const PAGE_BYTES = 16 * 2 ** 10
/** A page of more bytes, of few large accounts, is read again rather than copied. */
const COPIED_BYTES_MAX = 256 * 2 ** 10
/** Pages that one write changes in memory, in about 2 ms; others are read again. */
const CHANGED_PAGES_MAX = 200
/** Changed addresses that a read of the engine is compared with; beyond them its pages are not kept. */
const COMPARED_MAX = 1_000
/**
 * Bytes of pages that are read from the engine in the time in which a write of one version is copied. Once writes without a
 * scan have taken longer than the next scan would, the pages are dropped.
 */
const BYTES_PER_WRITE = 1_000
/** Below this number of writes pages stay. Arbitrary: the time that the writes take is not noticeable. */
const UNSCANNED_MIN = 1_000
/** Memory of a page besides its bytes, estimated. */
const OVERHEAD_BYTES = 300

/** All stored versions of the addresses above `after` up to `upTo`. Null: from the first address, and to the last one. */
export interface AccountPage {
  readonly after: Pubkey | null
  readonly upTo: Pubkey | null
  readonly bytes: Uint8Array
}

/** A write under way. */
interface Write {
  /** Whether a second write ran at the same time: the order in which they reached the engine is not known. */
  isContended: boolean
}

/** A read of the engine's state at one time, whose pages may be kept if no write has changed them since. */
export class PageRead {
  readonly #reads: Set<PageRead>
  /** Null once there were too many. */
  #changed: Pubkey[] | null = []

  constructor(reads: Set<PageRead>) {
    this.#reads = reads
    reads.add(this)
  }

  /** Whether the engine's state has not changed since the read began. */
  get isCurrent(): boolean {
    return this.#changed?.length === 0
  }

  /** Tells whether no version of these addresses was changed since the read began. */
  isCurrentIn({ after, upTo }: AccountPage): boolean {
    return this.#changed?.every((address) => !isIn(address, after, upTo)) ?? false
  }

  /** Notes changed versions; null for any. */
  note(changes: readonly VersionChange[] | null): void {
    if (this.#changed === null) return
    if (changes === null || this.#changed.length + changes.length > COMPARED_MAX) this.#changed = null
    else for (const { key } of changes) this.#changed.push(addressOfVersion(key))
  }

  end(): void {
    this.#reads.delete(this)
  }
}

/**
 * Pages of a program's stored versions in memory, as scans have read them.
 *
 * P1. A page has exactly the versions of its range that the engine has, except those of writes that are not acknowledged
 *     yet.
 * P2. A write changes the pages before it is acknowledged.
 * P3. If a write fails, or runs at the same time as another, the engine decides: the pages of its addresses are dropped.
 */
export class AccountPages {
  readonly #memory: AccountPageMemory
  /** Ascending; they do not overlap. */
  #pages: AccountPage[] = []
  #bytes = 0
  readonly #writes = new Set<Write>()
  readonly #reads = new Set<PageRead>()
  /** Versions that were written since the last scan. */
  #unscanned = 0

  constructor(memory: AccountPageMemory) {
    this.#memory = memory
  }

  /** Bytes of memory, estimated. */
  get bytes(): number {
    return this.#bytes
  }

  /** Notes that a scan begins. */
  use(): void {
    this.#unscanned = 0
    this.#memory.use(this)
  }

  /** Returns the page that has the first address above `after`; undefined if that range was not read. */
  find(after: Pubkey | null): AccountPage | undefined {
    const page = this.#pages[this.#firstAbove(after) - 1]
    if (page === undefined) return undefined
    return after === null || page.upTo === null || comparePubkeys(after, page.upTo) < 0 ? page : undefined
  }

  /** Returns the address up to which the range above `after` was not read; null if that is the end. */
  gapEnd(after: Pubkey | null): Pubkey | null {
    return this.#pages[this.#firstAbove(after)]?.after ?? null
  }

  /** Begins to note changes for a read of the engine, which must begin in the same turn of the event loop. */
  beginRead(): PageRead {
    return new PageRead(this.#reads)
  }

  /** Keeps pages that a read has found, except those that were changed since, or that have no room. */
  keep(pages: readonly AccountPage[], read: PageRead): void {
    for (const page of pages) {
      const bytes = sizeOf(page)
      if (!read.isCurrentIn(page) || this.#overlaps(page) || !this.#memory.hasRoom(this, bytes)) continue
      this.#pages.splice(this.#firstAbove(page.after), 0, page)
      this.#count(bytes)
    }
  }

  /** Runs a write of versions, ascending by key or not. */
  async write(changes: readonly VersionChange[], write: () => Promise<void>): Promise<void> {
    const own: Write = { isContended: this.#writes.size > 0 }
    for (const other of this.#writes) other.isContended = true
    this.#writes.add(own)
    let isWritten = false
    try {
      await write()
      isWritten = true
    } finally {
      this.#writes.delete(own)
      for (const read of this.#reads) read.note(changes)
      this.#change(changes, isWritten && !own.isContended)
    }
  }

  /** Drops all pages. Reads that are under way keep none. */
  forget(): void {
    for (const read of this.#reads) read.note(null)
    this.#pages = []
    this.#count(-this.#bytes)
  }

  #change(changes: readonly VersionChange[], isCertain: boolean): void {
    if (this.#pages.length === 0) return
    this.#unscanned += changes.length
    if (this.#unscanned > Math.max(UNSCANNED_MIN, this.#bytes / BYTES_PER_WRITE)) return this.forget()
    const byPage = Map.groupBy(changes, ({ key }) => this.#holding(addressOfVersion(key)))
    let left = isCertain ? CHANGED_PAGES_MAX : 0
    for (const [page, ofPage] of byPage) {
      if (page === undefined) continue
      const isCopied = left-- > 0 && page.bytes.length <= COPIED_BYTES_MAX
      this.#replace(page, isCopied ? changed(page, ofPage) : [])
    }
  }

  /** Replaces a page by others of its range; without room for them by none. */
  #replace(page: AccountPage, pages: readonly AccountPage[]): void {
    const growth = pages.reduce((sum, each) => sum + sizeOf(each), -sizeOf(page))
    const hasRoom = growth <= 0 || this.#memory.hasRoom(this, growth)
    this.#pages.splice(this.#firstAbove(page.after) - 1, 1, ...(hasRoom ? pages : []))
    this.#count(hasRoom ? growth : -sizeOf(page))
  }

  #count(bytes: number): void {
    this.#bytes += bytes
    this.#memory.add(this, bytes)
  }

  /** Returns the page whose range has an address. */
  #holding(address: Pubkey): AccountPage | undefined {
    let from = 0
    let to = this.#pages.length
    while (from < to) {
      const middle = (from + to) >> 1
      const { upTo } = this.#pages[middle]!
      if (upTo === null || comparePubkeys(address, upTo) <= 0) to = middle
      else from = middle + 1
    }
    const page = this.#pages[from]
    return page !== undefined && isIn(address, page.after, page.upTo) ? page : undefined
  }

  /** Returns the index of the first page that begins after an address. */
  #firstAbove(address: Pubkey | null): number {
    let from = 0
    let to = this.#pages.length
    while (from < to) {
      const middle = (from + to) >> 1
      const { after } = this.#pages[middle]!
      if (after !== null && (address === null || comparePubkeys(after, address) > 0)) to = middle
      else from = middle + 1
    }
    return from
  }

  #overlaps({ after, upTo }: AccountPage): boolean {
    if (this.find(after) !== undefined) return true
    const end = this.gapEnd(after)
    return end !== null && (upTo === null || comparePubkeys(upTo, end) > 0)
  }
}

/**
 * Packs entries of the engine, ascending, with all versions of their addresses, as pages of the range above `after` up to
 * `upTo`.
 */
export function pagesOf(
  entries: readonly Entry[],
  { after, upTo }: Omit<AccountPage, 'bytes'>
): readonly AccountPage[] {
  return cut({ after, upTo, bytes: packVersions(entries) })
}

function changed(page: AccountPage, changes: readonly VersionChange[]): readonly AccountPage[] {
  const last = new Map(changes.map((change) => [change.key.toString('latin1'), change]))
  const sorted = [...last.values()].sort((a, b) => a.key.compare(b.key))
  const merged = { ...page, bytes: mergeVersions(page.bytes, sorted) }
  return merged.bytes.length > 2 * PAGE_BYTES ? cut(merged) : [merged]
}

/** Cuts a page into pages of about PAGE_BYTES. */
function cut(page: AccountPage): readonly AccountPage[] {
  const cuts = cutsOf(page.bytes, PAGE_BYTES)
  if (cuts.length === 2) return [page]
  let { after } = page
  return cuts.slice(1).map((to, i) => {
    const bytes = page.bytes.slice(cuts[i], to)
    const upTo = i === cuts.length - 2 ? page.upTo : addressAt(bytes, lastVersionAt(bytes))
    const part = { after, upTo, bytes }
    after = upTo
    return part
  })
}

const sizeOf = ({ bytes }: AccountPage): number => bytes.length + OVERHEAD_BYTES

const isIn = (address: Pubkey, after: Pubkey | null, upTo: Pubkey | null): boolean =>
  (after === null || comparePubkeys(address, after) > 0) &&
  (upTo === null || comparePubkeys(address, upTo) <= 0)
