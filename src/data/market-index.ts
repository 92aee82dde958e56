import { pubkeyFromBase58, type Pubkey } from '../chain/pubkey.ts'
import type { CommitFeed } from '../kernel/feed/commit-feed.ts'
import { ERRORS, ServiceError } from '../kernel/errors.ts'
import type { RankedMint, RankedWindow } from '../market/ranking.ts'
import type { Clock } from '../ports.ts'
import type { Storage } from '../../storage/port.ts'
import { dayVolumes, inSlices } from './index-answer.ts'
import { ASK_MS, FIRST_HOLDER_MS, type IndexAsker } from './index-asker.ts'
import type { IndexPlace } from './index-place.ts'
import { hitsIn, rankingIn, type RankingAnswer } from './index-question.ts'
import { loadedRanking } from './loaded-ranking.ts'
import type { NameIndex } from './name-index.ts'
import type { Compared } from './name-search.ts'
import type { NameMatch, SymbolAndName } from './name-text.ts'
import type { RankingHandle } from './ranking-handle.ts'
import { headSlot, reachedSlot } from './reached-slot.ts'

/** Milliseconds for which a ranking of another process is reused at its slot, because an archive may change it. */
const REUSED_MS = 1_000
/** Milliseconds that this process waits for the block of an answer. It is stored, so it is the next one that is read. */
const CATCH_UP_MS = 500
/** Maximum questions for one ranking. A second one is needed if this process has passed the block of the answer meanwhile. */
const TRIES = 3

/** Rankings of the windows at the head of the feed. */
export interface WindowRankings {
  activeMints(window: RankedWindow): number
  top(window: RankedWindow, limit: number): readonly RankedMint[]
}

/** How many tokens a search compares, and whether these are all. */
export interface IndexedNames {
  readonly tokensSearched: number
  readonly isComplete: boolean
}

/** Tokens that a text was found in. */
export interface FoundTokens extends IndexedNames {
  readonly hits: readonly (SymbolAndName & { readonly mint: Pubkey; readonly match: NameMatch })[]
}

/** The rankings that another process told last, and when. */
interface ToldRankings {
  readonly answer: RankingAnswer
  /** Number of amendments that the answer includes. */
  readonly amendments: number
  readonly rankings: WindowRankings
  readonly atMs: number
}

export interface MarketIndexOptions {
  readonly place: Pick<IndexPlace, 'isHeld' | 'isAnsweredElsewhere' | 'rank'>
  readonly ranking: RankingHandle
  readonly names: NameIndex
  readonly feed: CommitFeed
  readonly clock: Clock
  readonly history: Pick<Storage['history'], 'amendments'>
  /** Null if the store has no other processes. */
  readonly asker: IndexAsker | null
}

/**
 * Names and rankings of all mints, of this process or of those that hold them.
 *
 * X1. Both give the same answers at the same block: rankings follow from the stored blocks alone.
 * X2. Names of accounts depend on what a process has read. So searches are answered by the first process that holds the
 *     index, and by this one only if the first does not answer.
 * X3. The ranking of another process counts at its block alone. This process waits for that block, or asks again.
 */
export class MarketIndex {
  readonly #options: MarketIndexOptions
  #told: ToldRankings | null = null

  constructor(options: MarketIndexOptions) {
    this.#options = options
  }

  /** TTL of an answer in milliseconds. Another process may hear of another archive before this one, without a block. */
  get maxAgeMs(): number {
    return this.#options.ranking.current === null ? REUSED_MS : Infinity
  }

  /** Returns the rankings at the head. Rejects with INDEX_LOADING if they are not loaded in time. */
  async rankings(signal: AbortSignal): Promise<WindowRankings> {
    const { ranking, asker } = this.#options
    if (ranking.current === null && asker !== null && this.#canAsk)
      return (await this.#toldRankings(asker, signal)).rankings
    return loadedRanking(this.#options, signal)
  }

  /** Returns how many tokens a search compares. Rejects with INDEX_LOADING if another process is to say it, and does not. */
  async indexedNames(signal: AbortSignal): Promise<IndexedNames> {
    const told = await this.#fromFirst((asker) => this.#toldRankings(asker, signal))
    const { names } = this.#options
    const { tokensSearched, isComplete } = told?.answer ?? {
      tokensSearched: names.size,
      isComplete: names.isComplete
    }
    return { tokensSearched, isComplete }
  }

  /** Finds tokens by a folded text. Counts the names that are compared, and calls `pause` where other work may run. */
  async search(
    text: string,
    limit: number,
    { compared, pause, signal }: { compared: Compared; pause: () => Promise<void>; signal: AbortSignal }
  ): Promise<FoundTokens> {
    const told = await this.#fromFirst((asker) => this.#toldHits(asker, text, limit, compared))
    if (told !== null) return told
    const { names } = this.#options
    const loaded = await loadedRanking(this.#options, signal)
    const hits = await inSlices(names.searching(text, limit, dayVolumes(loaded), compared), pause)
    return { hits, tokensSearched: names.size, isComplete: names.isComplete }
  }

  /** Returns what the first holder tells; null if it is this process, or if this process answers in its place (X2). */
  async #fromFirst<Told>(ask: (asker: IndexAsker) => Promise<Told>): Promise<Told | null> {
    const { asker, ranking } = this.#options
    if (asker === null || !this.#isAskedFirst) return null
    try {
      return await ask(asker)
    } catch (error) {
      const isUnanswered = error instanceof ServiceError && error.kind === ERRORS.INDEX_LOADING
      if (!isUnanswered || ranking.current === null) throw error
      return null
    }
  }

  get #canAsk(): boolean {
    const { place } = this.#options
    return place.isHeld === false || place.isAnsweredElsewhere
  }

  /** Whether another process answers before this one (X2). */
  get #isAskedFirst(): boolean {
    const { place, ranking } = this.#options
    if (place.isHeld === false) return true
    return place.isAnsweredElsewhere && (place.rank !== 0 || ranking.current === null)
  }

  async #toldRankings(asker: IndexAsker, signal: AbortSignal): Promise<ToldRankings> {
    const { feed, clock } = this.#options
    for (let tries = 1; ; tries++) {
      const seen = await this.#seen()
      const told = this.#told
      const isKnown = told?.answer.slot === headSlot(feed) && told.amendments === seen.amendments
      if (isKnown && clock.now() - told.atMs < REUSED_MS) return told
      const answer = rankingIn(await asker.ask({ kind: 'ranking', ...seen }, this.#waitMs))
      if (answer === null) throw unknownAnswer()
      const { amendments } = seen
      const newest = { answer, amendments, rankings: rankingsOf(answer), atMs: clock.now() }
      this.#told = newest
      await reachedSlot(feed, answer.slot, { clock, ms: CATCH_UP_MS, signal })
      if (answer.slot === headSlot(feed) || tries === TRIES) return newest
    }
  }

  async #toldHits(asker: IndexAsker, text: string, limit: number, compared: Compared): Promise<FoundTokens> {
    const question = { kind: 'search', ...(await this.#seen()), text, limit } as const
    const answer = hitsIn(await asker.ask(question, this.#waitMs))
    if (answer === null) throw unknownAnswer()
    compared(answer.compared)
    const { tokensSearched, isComplete } = answer
    const hits = answer.hits.map(({ mint, ...rest }) => ({ mint: pubkeyFromBase58(mint), ...rest }))
    return { hits, tokensSearched, isComplete }
  }

  get #waitMs(): number {
    return this.#options.ranking.current === null ? ASK_MS : FIRST_HOLDER_MS
  }

  /** The blocks that an answer must include. */
  async #seen(): Promise<{ readonly slot: number; readonly amendments: number }> {
    const { feed, history } = this.#options
    return { slot: headSlot(feed), amendments: await history.amendments() }
  }
}

function rankingsOf({ windows }: RankingAnswer): WindowRankings {
  const mintsOf = (window: RankedWindow): RankedMint[] =>
    windows[window].top.map(([mint, trades, microUsd]) => ({
      ...{ mint: pubkeyFromBase58(mint), trades, microUsd: BigInt(microUsd) }
    }))
  const tops = new Map<RankedWindow, RankedMint[]>()
  return {
    activeMints: (window) => windows[window].active,
    top(window, limit) {
      const top = tops.get(window) ?? mintsOf(window)
      tops.set(window, top)
      return top.slice(0, limit)
    }
  }
}

const unknownAnswer = (): ServiceError =>
  new ServiceError(
    ERRORS.INDEX_LOADING,
    'the gateway that holds names and rankings is of another version; retry'
  )
