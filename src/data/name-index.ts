import { pubkeyMapKey, type Pubkey } from '../chain/pubkey.ts'
import type { CashList } from '../market/cash.ts'
import type { LaunchRow } from '../market/rows.ts'
import { SecondChanceCache } from '../kernel/memory/second-chance-cache.ts'
import { GramIndex } from './gram-index.ts'
import { NameSearch, type Compared, type NameHit, type Volumes } from './name-search.ts'
import { matchOf, searchedNames, type SymbolAndName } from './name-text.ts'
import type { Hit } from './ranked-hits.ts'

/** Names that a launch states. */
export type LaunchNames = Pick<LaunchRow, 'mint' | 'symbol' | 'name'>

interface Entry {
  readonly key: string
  readonly number: number
  /** Names that the launch states; null if the launch is unknown. */
  launch: SymbolAndName | null
  /** The reload that last saw the launch. */
  launchSeenIn: number
  /** Names in the mint's accounts, which take precedence over those of the launch; null if unknown. */
  account: SymbolAndName | null
  /** The names that count, as they are searched. */
  searched: SymbolAndName
}

export interface NameIndexOptions {
  readonly bytesMax: number
  readonly cash: CashList
  /** Number of hits above which they are searched in the order of volume. */
  readonly manyFrom?: number
}

/** Estimated bytes of an entry without its texts and lists, with its Map key. */
const ENTRY_BYTES = 250
/**
 * Estimated bytes of a character, stored in the names and in the searched form, if half of the characters are beyond
 * Latin.
 */
const CHARACTER_BYTES = 3
/** Estimated bytes in lists of a character, before its text is added. */
const CHARACTER_LIST_BYTES = 8

/**
 * Symbols and names of tokens, found by any substring.
 *
 * S1. The names are those of the accounts, else of the cash list, else of the launch, as in every answer.
 * S2. Beyond the memory limit, tokens without a recent launch, trade or reading are evicted, and counted. Cash mints
 *     stay.
 * S3. A reload removes the launches that it has not read, except those that blocks have added since it began.
 */
export class NameIndex {
  readonly bytesMax: number
  readonly #search: NameSearch
  readonly #entries: SecondChanceCache<Entry>
  readonly #byNumber: (Entry | undefined)[] = []
  readonly #free: number[] = []
  #grams = new GramIndex()
  /** Cash mints with names, in the order of rank. */
  readonly #cash: ReadonlyMap<string, { readonly names: SymbolAndName; readonly searched: SymbolAndName }>
  #reload = 0
  /** Whether all launches of the store have been read; the answer of a search states it. */
  isLoaded = false
  /** Whether they have been read since the index was empty. During a reload, a search finds those of before. */
  hasLaunches = false
  /** Tokens that were evicted or not read for lack of memory since the last reload began. */
  leftOut = 0

  constructor({ bytesMax, cash, manyFrom }: NameIndexOptions) {
    this.bytesMax = bytesMax
    this.#entries = new SecondChanceCache(bytesMax, (_, entry) => {
      this.#unlist(entry)
      this.leftOut++
    })
    this.#cash = new Map(
      cash.mints.flatMap(({ mint, symbol, name }) => {
        if (symbol === null || name === null) return []
        const names = { symbol, name }
        return [[pubkeyMapKey(mint), { names, searched: searchedNames(names) }]]
      })
    )
    this.#search = new NameSearch(
      {
        cashKeys: () => this.#cash.keys(),
        candidates: (text) => this.#grams.candidates(text),
        hitAt: (text, number) => this.#hitAt(text, number),
        hitOf: (text, key) => this.#hitOf(text, key)
      },
      manyFrom
    )
  }

  /** Number of tokens, excluding cash mints that only the list names. */
  get size(): number {
    return this.#entries.size
  }

  /** Estimated bytes in use. */
  get bytes(): number {
    return this.#entries.bytes
  }

  /** Whether every launch of the store is searched: all were read, and none was evicted. */
  get isComplete(): boolean {
    return this.isLoaded && this.leftOut === 0
  }

  /** Returns whether the index has the names of a mint. */
  has(mint: Pubkey): boolean {
    const key = pubkeyMapKey(mint)
    return this.#entries.peek(key) !== undefined || this.#cash.has(key)
  }

  /** Returns the names of a mint (S1) if the index has them; null otherwise. */
  namesOf(mint: Pubkey): SymbolAndName | null {
    const key = pubkeyMapKey(mint)
    const known = this.#entries.peek(key)
    return known?.account ?? this.#cash.get(key)?.names ?? known?.launch ?? null
  }

  /** Returns whether the index has names from a mint's accounts. */
  hasAccountNames(mint: Pubkey): boolean {
    return (this.#entries.peek(pubkeyMapKey(mint))?.account ?? null) !== null
  }

  /** Stores the names of a launch. */
  setLaunch({ mint, symbol, name }: LaunchNames): void {
    const key = pubkeyMapKey(mint)
    const known = this.#entries.peek(key)
    this.#put(key, { launch: { symbol, name }, account: known?.account ?? null })
  }

  /** Sets the names in the accounts of a mint; null if the accounts state no names. */
  setAccountNames(mint: Pubkey, names: SymbolAndName | null): void {
    const key = pubkeyMapKey(mint)
    const known = this.#entries.peek(key)
    if (known === undefined && names === null) return
    const account = names === null ? null : { symbol: names.symbol, name: names.name }
    this.#put(key, { launch: known?.launch ?? null, account }, known?.launchSeenIn)
  }

  /** Records a trade of a mint, by its map key, so that the mint is evicted later. */
  touch(mapKey: string): void {
    this.#entries.get(mapKey)
  }

  /** Starts a reload: the launches of the store are about to be read again. */
  beginReload(): void {
    this.#reload++
    this.isLoaded = false
    this.leftOut = 0
  }

  /** Ends a reload: removes launches that were not seen since it began. */
  endReload(): void {
    const unseen = [...this.#entries.keys()]
      .map((key) => this.#entries.peek(key)!)
      .filter(({ launch, launchSeenIn }) => launch !== null && launchSeenIn !== this.#reload)
    for (const { key, account } of unseen) this.#put(key, { launch: null, account })
    this.isLoaded = true
    this.hasLaunches = true
  }

  /** Removes all tokens but cash mints. */
  clear(): void {
    this.#entries.clear()
    this.#byNumber.length = 0
    this.#free.length = 0
    this.#grams = new GramIndex()
    this.isLoaded = false
    this.hasLaunches = false
    this.leftOut = 0
  }

  /**
   * Returns at most `limit` tokens that contain a folded text (`foldedText`): the largest volume in USD first, then
   * the closest match, then the lowest address. `compared` is called with the names that each pass has compared.
   */
  search(text: string, limit: number, volumes: Volumes, compared?: Compared): readonly NameHit[] {
    const steps = this.searching(text, limit, volumes, compared)
    for (;;) {
      const step = steps.next()
      if (step.done === true) return step.value
    }
  }

  /** Searches as `search` does. Yields where other work may run, which may change the index. */
  searching(
    text: string,
    limit: number,
    volumes: Volumes,
    compared: Compared = () => undefined
  ): Generator<void, readonly NameHit[], void> {
    return this.#search.hits({ text, limit, volumes, compared })
  }

  /** Returns how the token of a number matches a text; null if it does not match, was removed, or is a cash mint. */
  #hitAt(text: string, number: number): Hit | null {
    const entry = this.#byNumber[number]
    if (entry === undefined) return null
    const { key, account, launch, searched } = entry
    const match = matchOf(text, searched)
    return match === null || this.#cash.has(key) ? null : { key, names: account ?? launch!, match }
  }

  /** Returns how a token matches a text by the names that count; null if it does not match. */
  #hitOf(text: string, key: string): Hit | null {
    const entry = this.#entries.peek(key)
    const counted = entry === undefined || entry.account === null ? this.#cash.get(key) : undefined
    const searched = counted?.searched ?? entry?.searched
    const match = searched === undefined ? null : matchOf(text, searched)
    if (match === null) return null
    return { key, names: counted?.names ?? entry!.account ?? entry!.launch!, match }
  }

  #put(key: string, { launch, account }: Pick<Entry, 'launch' | 'account'>, seenIn = this.#reload): void {
    const known = this.#entries.peek(key)
    const names = account ?? launch
    if (known !== undefined && names !== null && isSame(known.account ?? known.launch!, names)) {
      known.launch = launch
      known.account = account
      known.launchSeenIn = seenIn
      this.#entries.get(key)
      return
    }
    if (known !== undefined) {
      this.#entries.delete(key)
      this.#unlist(known)
    }
    if (names === null) return
    const searched = searchedNames(names)
    const number = this.#free.pop() ?? this.#byNumber.length
    const entry = { key, number, launch, launchSeenIn: seenIn, account, searched }
    this.#byNumber[number] = entry
    const listBytes = this.#grams.add(number, [searched.symbol, searched.name])
    this.#entries.set(key, entry, listBytes + textBytes(names))
  }

  #unlist({ number, searched }: Entry): void {
    this.#grams.remove(number, [searched.symbol, searched.name])
    this.#byNumber[number] = undefined
    this.#free.push(number)
  }
}

/** Estimates the bytes that names take in an index. */
export function nameBytes(names: SymbolAndName): number {
  return textBytes(names) + CHARACTER_LIST_BYTES * (names.symbol.length + names.name.length)
}

const textBytes = ({ symbol, name }: SymbolAndName): number =>
  ENTRY_BYTES + CHARACTER_BYTES * (symbol.length + name.length)

const isSame = (a: SymbolAndName, b: SymbolAndName): boolean => a.symbol === b.symbol && a.name === b.name
