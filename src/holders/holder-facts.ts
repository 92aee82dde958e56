import { pubkeyMapKey, type Pubkey } from '../chain/pubkey.ts'
import { TimedCache } from '../kernel/memory/timed-cache.ts'
import type { CashList } from '../market/cash.ts'
import type { Clock } from '../ports.ts'
import type { HolderSums } from './row-bytes.ts'
import type { Storage } from '../../storage/port.ts'
import {
  ADJUSTED_TOP,
  adjustedConcentration,
  concentrationOf,
  GiniSum,
  type AdjustedConcentration,
  type Concentration
} from './concentration.ts'
import type { Holder, HolderLists, HolderView } from './holder-lists.ts'
import { BURNS, isBurn, knownOwners, type KnownOwners } from './known-owners.ts'

/** Maximum owners of a list whose Gini coefficient is computed; it reads all of them in about 30 ms. */
const GINI_OWNERS_MAX = 20_000
/** Owners that are read in addition to the excluded ones: the largest page. */
const TOP = 100
/** TTL of the known owners of a list, in milliseconds. Pools are rarely created. */
const OWNERS_MS = 10_000
/** Limit of the cached facts in bytes: those of a thousand lists with few pools. */
const CACHED_BYTES = 4 * 2 ** 20
const FACTS_BYTES = 2_000
const OWNER_BYTES = 250
/** Owners of one page: reading and adding them takes 1 ms. */
const PAGE = 500

/** Facts of a whole list at its slot. */
export interface HolderFacts {
  readonly sums: HolderSums
  /** The slot of the last block that changed the list. */
  readonly changedSlot: number
  readonly concentration: Concentration
  /** Null if the owners of some known pool's vaults are unknown, and for a cash mint. */
  readonly adjusted: AdjustedConcentration | null
  readonly known: KnownOwners
  /** The largest owners in order: all, or as many as the largest page. Null if they were not read for this answer. */
  readonly largest: readonly Holder[] | null
}

interface Cached {
  /** The reading, the slot and the sums that the facts belong to. */
  readonly version: string
  readonly facts: HolderFacts
}

/** Computes the facts of lists, and caches them until a block changes the list. */
export class HolderFactsCache {
  readonly #storage: Storage
  readonly #lists: HolderLists
  readonly #clock: Clock
  readonly #cash: CashList
  readonly #cached: TimedCache<Cached>

  constructor(storage: Storage, lists: HolderLists, clock: Clock, cash: CashList) {
    this.#storage = storage
    this.#lists = lists
    this.#clock = clock
    this.#cash = cash
    this.#cached = new TimedCache(clock, { bytesMax: CACHED_BYTES })
  }

  /** Returns the facts of a list; null if its rows were dropped. Calls `pause` after each page that it reads. */
  async of(view: HolderView, pause: () => Promise<void>): Promise<HolderFacts | null> {
    const found = await this.#lists.sums(view)
    if (found === null) return null
    const mint = pubkeyMapKey(view.mint)
    const { owners, accounts, held, squares } = found.sums
    // The block of a slot may be replaced by another block.
    const version = [view.state.reading, found.slot, owners, accounts, held, squares].join(' ')
    const cached = this.#cached.get(mint)
    if (cached?.version === version) return cached.facts
    const endsAtMs = this.#clock.now() + OWNERS_MS
    const facts = { ...(await this.#compute(view, found.sums, pause)), changedSlot: found.slot }
    const { pools, curves } = facts.known
    const kept = { ...facts, largest: null }
    const bytes = FACTS_BYTES + OWNER_BYTES * (pools.size + curves.size)
    this.#cached.set(mint, { value: { version, facts: kept }, endsAtMs, bytes })
    return facts
  }

  async #compute(
    view: HolderView,
    sums: HolderSums,
    pause: () => Promise<void>
  ): Promise<Omit<HolderFacts, 'changedSlot'>> {
    const known = await knownOwners(this.#storage, this.#lists, view, this.#cash)
    const left = new Map<string, Pubkey>([...known.pools, ...known.curves])
    for (const burn of BURNS) left.set(pubkeyMapKey(burn), burn)
    const outside = await this.#lists.owners(view, [...left.values()])
    const excluded = outside.flatMap((owner) => (owner === null ? [] : [owner.amount]))
    const withGini = sums.owners <= GINI_OWNERS_MAX
    const gini = new GiniSum()
    const largest: Holder[] = []
    const people: Holder[] = []
    const count = withGini ? sums.owners : TOP + excluded.length
    const take = (holder: Holder): void => {
      const { owner, amount } = holder
      gini.add(amount)
      if (largest.length < TOP) largest.push(holder)
      if (people.length < ADJUSTED_TOP && !left.has(pubkeyMapKey(owner)) && !isBurn(owner))
        people.push(holder)
    }
    await this.#owners(view, count, take, pause)
    const { held, squares } = sums
    const amounts = largest.map(({ amount }) => amount)
    return {
      sums,
      concentration: concentrationOf({ largest: amounts, held, squares }, withGini ? gini.coefficient : null),
      adjusted: known.isComplete
        ? adjustedConcentration({ largest: people.map(({ amount }) => amount), held, squares }, excluded)
        : null,
      known,
      // A small list is read completely.
      largest
    }
  }

  /** Calls `each` with the largest owners in order. */
  async #owners(
    view: HolderView,
    count: number,
    each: (holder: Holder) => void,
    pause: () => Promise<void>
  ): Promise<void> {
    let last: Holder | undefined
    for (let left = count; left > 0;) {
      const page = { slot: view.slot, after: last, limit: Math.min(PAGE, left) }
      const { holders, hasMore } = await this.#lists.page(view, 'owner', page)
      holders.forEach(each)
      if (!hasMore) return
      left -= holders.length
      last = holders.at(-1)
      await pause()
    }
  }
}
