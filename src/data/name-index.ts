import { pubkeyMapKey, pubkeyOfMapKey, type Pubkey } from '../chain/pubkey.ts'
import type { CashList } from '../market/cash.ts'
import type { MintVolume } from '../market/minute-volumes.ts'
import type { LaunchRow } from '../market/rows.ts'
import { ORDERED_AT_ONCE } from '../market/volume-order.ts'
import { SecondChanceCache } from '../kernel/memory/second-chance-cache.ts'
import { GramIndex } from './gram-index.ts'
import { matchOf, NAME_MATCHES, searchedNames, type NameMatch, type SymbolAndName } from './name-text.ts'
import { insertRanked, type Hit, type Ranked } from './ranked-hits.ts'

/** A token that a text was found in. */
export interface NameHit extends SymbolAndName {
  readonly mint: Pubkey
  readonly match: NameMatch
  /** The trades of the ranking window; undefined if it did not trade. */
  readonly volume: MintVolume | undefined
}

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

interface Search {
  readonly text: string
  readonly limit: number
  readonly volumes: Volumes
  /** Numbers of all tokens that may contain the text. */
  readonly candidates: Uint32Array
  readonly compared: Compared
}

/** Called with the number of names that a pass has compared, or other work that takes as long as comparing them. */
export type Compared = (names: number) => void

/** Volumes that hits are ranked by, of one window. */
export interface Volumes {
  /** Returns the trades of a mint by its map key; undefined if it did not trade. */
  of(mapKey: string): MintVolume | undefined
  /**
   * Yields the mints with a volume in USD by their map keys, the largest first. Before them, yields null for each
   * ORDERED_AT_ONCE mints that the order has passed.
   */
  descending(): Iterable<{ readonly mapKey: string; readonly microUsd: bigint } | null>
}

/**
 * Number of hits above which the search uses the order of volume. As many take as long as one pass over the mints of
 * a day's trades.
 */
const MANY = 2_000

/** Tokens whose names are compared before other work runs: up to 1 ms. */
const COMPARED_AT_ONCE = 1_000

/** Names that take as long as a match: its volume is looked up, and it is ranked (1.7 µs). */
const NAMES_OF_MATCH = 4
/** Names that take as long as ORDERED_AT_ONCE mints of the order of volume, at 12 ns a mint. */
const NAMES_OF_ORDER = ORDERED_AT_ONCE / 40

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
  readonly #manyFrom: number
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

  constructor({ bytesMax, cash, manyFrom = MANY }: NameIndexOptions) {
    this.bytesMax = bytesMax
    this.#manyFrom = manyFrom
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
  *searching(
    text: string,
    limit: number,
    volumes: Volumes,
    compared: Compared = () => undefined
  ): Generator<void, readonly NameHit[], void> {
    const found = this.#grams.candidates(text)
    // The list changes with the index.
    const candidates = found.length <= COMPARED_AT_ONCE ? found : found.slice()
    const query = { text, limit, volumes, candidates, compared }
    const best =
      (yield* this.#searchAll(query, this.#manyFrom)) ??
      (yield* this.#searchByVolume(query)) ??
      (yield* this.#searchAll(query, Infinity))!
    return best.map(({ key, names, match }) => ({
      mint: pubkeyOfMapKey(key),
      ...names,
      match: NAME_MATCHES[match]!,
      volume: volumes.of(key)
    }))
  }

  /**
   * Searches all tokens; returns null if more than `hitsMax` match, because ranking them would need as many volume
   * lookups.
   */
  *#searchAll(
    { text, limit, volumes, candidates, compared }: Search,
    hitsMax: number
  ): Generator<void, Ranked[] | null, void> {
    const best: Ranked[] = []
    let hits = 0
    let names = 0
    const consider = (hit: Hit | null): boolean => {
      if (hit === null) return true
      insertRanked(best, { ...hit, microUsd: volumes.of(hit.key)?.microUsd ?? 0n }, limit)
      names += NAMES_OF_MATCH - 1
      return ++hits <= hitsMax
    }
    try {
      for (const key of this.#cash.keys()) {
        names++
        if (!consider(this.#hit(text, key))) return null
      }
      for (const [at, number] of candidates.entries()) {
        if (at % COMPARED_AT_ONCE === COMPARED_AT_ONCE - 1) yield
        names++
        const entry = this.#byNumber[number]
        // It was removed meanwhile.
        if (entry === undefined) continue
        const { key, account, launch, searched } = entry
        const match = matchOf(text, searched)
        // Cash mints come first, by the names that count.
        if (match === null || this.#cash.has(key)) continue
        // A token whose names have changed meanwhile may have a new number.
        if (candidates.length > COMPARED_AT_ONCE && best.some((each) => each.key === key)) continue
        if (!consider({ key, names: account ?? launch!, match })) return null
      }
      return best
    } finally {
      compared(names)
    }
  }

  /**
   * Searches tokens in descending volume until there are enough hits. Returns null if there are too few, after as
   * many tokens as a full search would take time for.
   */
  *#searchByVolume({
    text,
    limit,
    volumes,
    candidates,
    compared
  }: Search): Generator<void, Ranked[] | null, void> {
    const best: Ranked[] = []
    let names = 0
    let passed = 0
    try {
      for (const next of volumes.descending()) {
        if (next === null) {
          passed += NAMES_OF_ORDER
          yield
          continue
        }
        const { mapKey, microUsd } = next
        if (best.length === limit && microUsd < best[limit - 1]!.microUsd) return best
        if (names === candidates.length) return null
        if (++names % COMPARED_AT_ONCE === 0) yield
        const hit = this.#hit(text, mapKey)
        if (hit === null || best.some((each) => each.key === hit.key)) continue
        insertRanked(best, { ...hit, microUsd }, limit)
      }
      return best.length === limit ? best : null
    } finally {
      compared(names + passed)
    }
  }

  /** Returns how a token matches a text; null if it does not match. */
  #hit(text: string, key: string): Hit | null {
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
