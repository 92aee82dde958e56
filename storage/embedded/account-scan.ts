import { comparePubkeys, samePubkey, type Pubkey } from '../../src/chain/pubkey.ts'
import {
  addressAt,
  isSameAddress,
  offsetAfter,
  slotAt,
  VALUE_AT,
  versionEnd
} from '../codec/packed-versions.ts'
import {
  addressOfVersion,
  afterAddress,
  DATA_AT,
  isClosedAt,
  isOfAddress,
  versionsOf,
  viewAccount
} from '../codec/program-account.ts'
import type { KeyRange } from '../codec/keys.ts'
import { abandonedAt } from '../port/abandoned-slots.ts'
import { PAGE_ACCOUNTS_MAX, PAGE_BYTES_MAX } from '../port/program-accounts.ts'
import type { AccountsPage, AccountsQuery } from '../port/program-accounts.ts'
import { pagesOf, type AccountPage, type AccountPages, type PageRead } from './account-pages.ts'
import { CHUNK_BYTES, type Entry } from './copy-engine.ts'
import type { Level } from './level.ts'

/** Maximum versions in memory that one page of an answer examines: about a millisecond. */
const EXAMINED_IN_MEMORY = 4_000
/** Entries that the engine hands over at a time: about two milliseconds. */
const ENTRIES_AT_ONCE = 500

/** Yields the accounts of a scan, from pages in memory, and from the engine for the rest. */
export async function* scanned(
  level: Level,
  pages: AccountPages,
  program: Pubkey,
  query: AccountsQuery
): AsyncGenerator<AccountsPage, void> {
  const scan = new Scan(query)
  const engine = new EngineReader(level, pages, program)
  pages.use()
  try {
    for (let isRead = false; ;) {
      const { position } = scan
      const taken = engine.taken(position)
      let page = taken ?? pages.find(position)
      const isInMemory = taken === undefined && page !== undefined
      if (page === undefined) {
        page = await engine.read(position)
        isRead = true
      }
      const isWhole = scan.run(page, isInMemory)
      const isEnd = isWhole && page.upTo === null
      if (!isEnd && isWhole && !isRead && (scan.isFull || !scan.isPageFull)) continue
      yield scan.take(isEnd)
      if (isEnd || scan.isFull) return
      isRead = false
    }
  } finally {
    await engine.close()
  }
}

/** The state of a scan over pages, in the order of their addresses. */
class Scan {
  readonly #query: AccountsQuery
  #accountsLeft: number
  #examinedLeft: number
  #accounts: AccountsPage['accounts'][number][] = []
  #examined = 0
  #inMemory = 0
  #bytes = 0
  #position: Pubkey | null

  constructor(query: AccountsQuery) {
    this.#query = query
    this.#accountsLeft = query.limit
    this.#examinedLeft = query.examined
    this.#position = query.after ?? null
  }

  /** All versions of addresses up to this one were examined; null before the first one. */
  get position(): Pubkey | null {
    return this.#position
  }

  /** Whether the answer has as many accounts, or was as much work, as the query allows. */
  get isFull(): boolean {
    return this.#accountsLeft <= 0 || this.#examinedLeft <= 0
  }

  get isPageFull(): boolean {
    return (
      this.isFull ||
      this.#examined >= EXAMINED_IN_MEMORY ||
      this.#accounts.length >= PAGE_ACCOUNTS_MAX ||
      this.#bytes >= PAGE_BYTES_MAX
    )
  }

  /** Examines the versions of a page above the position. Returns false if it stops before the next address. */
  run(page: AccountPage, isInMemory: boolean): boolean {
    const before = this.#examined
    const isWhole = this.#run(page)
    if (isInMemory) this.#inMemory += this.#examined - before
    return isWhole
  }

  #run({ bytes, upTo }: AccountPage): boolean {
    const { slot, matches, abandoned } = this.#query
    let at = this.#position === null ? 0 : offsetAfter(bytes, this.#position)
    let before = -1
    let isDone = false
    while (at < bytes.length) {
      if (before < 0 || !isSameAddress(bytes, at, before)) {
        if (this.isPageFull) {
          if (before >= 0) this.#position = addressAt(bytes, before)
          return false
        }
        isDone = false
      }
      before = at
      const end = versionEnd(bytes, at)
      this.#examined++
      this.#examinedLeft--
      const ofVersion = isDone ? Infinity : slotAt(bytes, at)
      if (ofVersion <= slot && abandonedAt(abandoned, ofVersion) === undefined) {
        isDone = true
        const value = at + VALUE_AT
        if (!isClosedAt(bytes, value) && matches?.(bytes, value + DATA_AT, end) !== false) {
          this.#accounts.push({
            address: addressAt(bytes, at),
            slot: ofVersion,
            account: viewAccount(bytes, value, end)
          })
          this.#accountsLeft--
          this.#bytes += end - value - DATA_AT
        }
      }
      at = end
    }
    this.#position = upTo
    return true
  }

  /** Returns what was found since the last call. */
  take(isEnd: boolean): AccountsPage {
    const accounts = this.#accounts
    const [examined, inMemory] = [this.#examined, this.#inMemory]
    this.#accounts = []
    this.#examined = 0
    this.#inMemory = 0
    this.#bytes = 0
    return { accounts, next: isEnd ? null : this.#position, index: null, examined, inMemory }
  }
}

/** Reads versions from the engine, and keeps them as pages in memory where they have room. */
class EngineReader {
  readonly #level: Level
  readonly #pages: AccountPages
  readonly #program: Pubkey
  #iterator: ReturnType<typeof iteratorOf> | null = null
  #read: PageRead | null = null
  /** The address up to which the iterator was read, and the one at which it ends. */
  #position: Pubkey | null = null
  #end: Pubkey | null = null
  /** Entries above the position that were read: perhaps not all of their address. */
  #carried: readonly Entry[] = []
  #taken: readonly AccountPage[] = []

  constructor(level: Level, pages: AccountPages, program: Pubkey) {
    this.#level = level
    this.#pages = pages
    this.#program = program
  }

  /** Returns the page of the last read that has the first address above `after`. */
  taken(after: Pubkey | null): AccountPage | undefined {
    return this.#taken.find(
      (page) =>
        (page.after === null || (after !== null && comparePubkeys(page.after, after) <= 0)) &&
        (page.upTo === null || after === null || comparePubkeys(after, page.upTo) < 0)
    )
  }

  /** Reads the versions above an address, and returns the first page of them. */
  async read(after: Pubkey | null): Promise<AccountPage> {
    if (this.#read?.isCurrent !== true || !isSame(this.#position, after)) await this.#open(after)
    const entries = [...this.#carried]
    let isEnd = false
    let whole = 0
    while (whole === 0 && !isEnd) {
      const more = await this.#iterator!.nextv(ENTRIES_AT_ONCE)
      isEnd = more.length === 0
      entries.push(...more)
      whole = isEnd ? entries.length : lastAddressIn(entries)
    }
    this.#carried = entries.slice(whole)
    const upTo = isEnd ? this.#end : addressOfVersion(entries[whole - 1]![0])
    this.#taken = pagesOf(entries.slice(0, whole), { after, upTo })
    this.#pages.keep(this.#taken, this.#read!)
    this.#position = upTo
    return this.#taken[0]!
  }

  async close(): Promise<void> {
    this.#read?.end()
    await this.#iterator?.close()
    this.#iterator = null
  }

  async #open(after: Pubkey | null): Promise<void> {
    await this.close()
    const all = versionsOf(this.#program)
    this.#end = this.#pages.gapEnd(after)
    this.#read = this.#pages.beginRead()
    // The iterator sees the state of this moment.
    this.#iterator = iteratorOf(this.#level, {
      gte: after === null ? all.gte : afterAddress(this.#program, after),
      lt: this.#end === null ? all.lt : afterAddress(this.#program, this.#end)
    })
    this.#carried = []
  }
}

const iteratorOf = (level: Level, range: KeyRange) =>
  level.iterator({ ...range, highWaterMarkBytes: CHUNK_BYTES })

/** Returns the index of the first entry of the last address. */
function lastAddressIn(entries: readonly Entry[]): number {
  let at = entries.length - 1
  while (at > 0 && isOfAddress(entries[at - 1]![0], entries[at]![0])) at--
  return at
}

const isSame = (a: Pubkey | null, b: Pubkey | null): boolean =>
  a === b || (a !== null && b !== null && samePubkey(a, b))
