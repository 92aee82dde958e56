import { pubkeyOfMapKey, type Pubkey } from '../chain/pubkey.ts'
import type { MintVolume } from '../market/minute-volumes.ts'
import { ORDERED_AT_ONCE } from '../market/volume-order.ts'
import { NAME_MATCHES, type NameMatch, type SymbolAndName } from './name-text.ts'
import { insertRanked, type Hit, type Ranked } from './ranked-hits.ts'

/** A token that a text was found in. */
export interface NameHit extends SymbolAndName {
  readonly mint: Pubkey
  readonly match: NameMatch
  /** The trades of the ranking window; undefined if it did not trade. */
  readonly volume: MintVolume | undefined
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

/** Names of tokens, by folded texts. They may change while a search yields. */
export interface SearchedNames {
  /** Map keys of the cash mints with names, by rank. */
  cashKeys(): Iterable<string>
  /** Returns the numbers of all tokens that may contain a text. The list changes with the names. */
  candidates(text: string): Uint32Array
  /** Returns how the token of a number matches a text; null if it does not match, was removed, or is a cash mint. */
  hitAt(text: string, number: number): Hit | null
  /** Returns how a token matches a text, by its map key; null if it does not match. */
  hitOf(text: string, mapKey: string): Hit | null
}

/** A text to search for. */
export interface NameQuery {
  readonly text: string
  readonly limit: number
  readonly volumes: Volumes
  readonly compared: Compared
}

interface Search extends NameQuery {
  readonly candidates: Uint32Array
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

/**
 * Searches of names: the largest volume in USD first, then the closest match, then the lowest address. Few hits are all ranked;
 * many are looked for in the order of volume.
 */
export class NameSearch {
  readonly #names: SearchedNames
  readonly #manyFrom: number

  /** `manyFrom` is the number of hits above which they are searched in the order of volume. */
  constructor(names: SearchedNames, manyFrom = MANY) {
    this.#names = names
    this.#manyFrom = manyFrom
  }

  /** Returns at most `limit` tokens that contain a text. Yields where other work may run, which may change the names. */
  *hits(query: NameQuery): Generator<void, readonly NameHit[], void> {
    const found = this.#names.candidates(query.text)
    const candidates = found.length <= COMPARED_AT_ONCE ? found : found.slice()
    const search = { ...query, candidates }
    const best =
      (yield* this.#searchAll(search, this.#manyFrom)) ??
      (yield* this.#searchByVolume(search)) ??
      (yield* this.#searchAll(search, Infinity))!
    return best.map(({ key, names, match }) => ({
      mint: pubkeyOfMapKey(key),
      ...names,
      match: NAME_MATCHES[match]!,
      volume: query.volumes.of(key)
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
      for (const key of this.#names.cashKeys()) {
        names++
        if (!consider(this.#names.hitOf(text, key))) return null
      }
      for (const [at, number] of candidates.entries()) {
        if (at % COMPARED_AT_ONCE === COMPARED_AT_ONCE - 1) yield
        names++
        const hit = this.#names.hitAt(text, number)
        if (hit === null) continue
        // A token whose names have changed meanwhile may have a new number.
        if (candidates.length > COMPARED_AT_ONCE && best.some((each) => each.key === hit.key)) continue
        if (!consider(hit)) return null
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
        const hit = this.#names.hitOf(text, mapKey)
        if (hit === null || best.some((each) => each.key === hit.key)) continue
        insertRanked(best, { ...hit, microUsd }, limit)
      }
      return best.length === limit ? best : null
    } finally {
      compared(names + passed)
    }
  }
}
