import type { ExecutedTransaction, LocalAccount } from '../chain.ts'
import { abandonCoin, sweepCoins } from './abandoned-coins.ts'
import { payment, vote } from './background-traffic.ts'
import { graduateCoin, launchCoin, tradeOnCurve } from './curve-trading.ts'
import { firstPools, foundMarket, type FirstPool } from './genesis.ts'
import { Ledger } from './ledger.ts'
import { MarketState, type Coin, type Pair } from './market-state.ts'
import type { IntendedSlot } from './oracle.ts'
import { changePairLiquidity, tradeOnPair, tradeRoute } from './pair-trading.ts'
import { extendTables, openPair } from './pairs.ts'
import { peopleOf } from './people.ts'
import { ReferencePrices } from './prices.ts'
import { seededRandom } from './random.ts'
import { MarketTurn, type MarketParts } from './turn.ts'
import { LAUNCHPADS, POOL_VENUES } from './venues.ts'

export interface MarketSettings {
  /** All that happens follows from it. */
  readonly seed: string
  /** Of an average slot, votes and failures included. */
  readonly transactionsPerSlot: number
  /** Slots from one launch to the next, on average. */
  readonly launchEverySlots: number
  /** Slots from one burst on a single coin to the next, on average. */
  readonly burstEverySlots: number
}

export const USUAL_MARKET: Omit<MarketSettings, 'seed'> = {
  transactionsPerSlot: 30,
  launchEverySlots: 25,
  burstEverySlots: 150
}

/** The chain that a market is on: the parts that it kept by name, as `takeParts` gave them, and its accounts as they are. */
export interface KeptMarket {
  part(name: string): Uint8Array | null
  account(address: Uint8Array): LocalAccount | null
}

export interface MarketTransaction {
  readonly transaction: ExecutedTransaction
  /** Accounts as they are after it; those without lamports are gone. */
  readonly accounts: readonly LocalAccount[]
}

/** Coins that are traded; the coldest leaves when there are more. */
const LIVE_COINS_MAX = 100
/** Slots in which a coin's heat falls to a half. */
const HEAT_HALF_LIFE = 400
const OPENINGS_PER_SLOT = 5
const BURST_SLOTS = 24
const BURST_FACTOR = 1.3

/**
 * A market that never stands still and repeats exactly: what it does in a slot follows from the seed, the slot and what it
 * did before. It trades on every venue, launches coins, lets some graduate, and tells an oracle what it meant.
 */
export class MarketSimulator {
  readonly #settings: MarketSettings
  readonly #parts: MarketParts
  readonly #openings: readonly FirstPool[]
  readonly #tell: (slot: IntendedSlot) => void
  #genesis: readonly LocalAccount[]

  /**
   * Begins a market, or goes on with a kept one. `tell` hears what each slot was meant to do.
   */
  constructor(
    settings: MarketSettings,
    kept: KeptMarket | null = null,
    tell: (slot: IntendedSlot) => void = () => undefined
  ) {
    this.#settings = settings
    this.#tell = tell
    const { seed } = settings
    const people = peopleOf(seed)
    const prices = new ReferencePrices(seed)
    const state = kept === null ? null : MarketState.restore((name) => kept.part(name))
    const ledger = new Ledger([], kept === null ? null : (address) => kept.account(address))
    this.#genesis = state === null ? foundMarket(ledger, seed, { people, prices }) : []
    const venues = { pools: POOL_VENUES, launchpads: LAUNCHPADS }
    this.#parts = { seed, ledger, people, prices, state: state ?? newState(), ...venues }
    this.#openings = firstPools(
      POOL_VENUES.map(({ venue }) => venue),
      prices
    )
  }

  /** The newest slot that was filled; -1 before the first. */
  get slot(): number {
    return this.#parts.state.head.slot
  }

  /** All accounts that the market knows, for tests. */
  get ledger(): Ledger {
    return this.#parts.ledger
  }

  /**
   * What the market does in a slot, later than all before; skipped slots are left out. With its first transaction come the
   * accounts that were there before the market began. A chain has put all of it in by the next slot.
   */
  fill(slot: number, blockTime: number): MarketTransaction[] {
    const { state, seed, ledger } = this.#parts
    const { head } = state
    if (slot <= head.slot) throw new RangeError(`slot ${slot} is filled already`)
    if (this.#genesis.length === 0) ledger.refresh()
    const turn = new MarketTurn(this.#parts, slot, blockTime, seededRandom(`${seed}/slot/${slot}`))
    if (head.slot < 0) {
      head.nextLaunch = slot + 3
      head.nextBurst = slot + Math.ceil(this.#settings.burstEverySlots / 2)
    }
    head.slot = slot
    this.#open(turn)
    this.#graduate(turn)
    this.#launch(turn)
    this.#burst(turn)
    sweepCoins(turn)
    const { transactionsPerSlot } = this.#settings
    const count = Math.round(transactionsPerSlot * turn.between(0.6, 1.4))
    for (let i = 0; i < count; i++) this.#act(turn, i / count)
    const { burst } = head
    const coin = burst === null ? undefined : state.coins.get(burst.coin)
    if (coin !== undefined) {
      for (let i = 0; i < transactionsPerSlot * BURST_FACTOR; i++)
        this.#tradeCoin(turn, coin, turn.chance(0.07))
    }
    this.#tell({ slot, blockTime, transactions: turn.intended })
    const first = this.#genesis
    this.#genesis = []
    return turn.executed.map(({ transaction, accounts }, at) => ({
      transaction,
      accounts: at === 0 && first.length > 0 ? [...first, ...accounts] : accounts
    }))
  }

  /** What has to be kept of the market, by name, beside its accounts: what changed since the last call; null forgets. */
  takeParts(): Map<string, Uint8Array | null> {
    return this.#parts.state.takeParts()
  }

  #open(turn: MarketTurn): void {
    const { head } = this.#parts.state
    for (let i = 0; i < OPENINGS_PER_SLOT && head.opened < this.#openings.length; i++) {
      openPair(turn, this.#openings[head.opened++]!)
    }
    for (let i = 0; i < 4 && extendTables(turn); i++);
  }

  #graduate(turn: MarketTurn): void {
    const { coins } = this.#parts.state
    for (const coin of coins.values()) {
      if (coin.graduated) continue
      const launchpad = this.#parts.launchpads.find(({ venue }) => venue === coin.launchpad)
      if (launchpad?.isComplete(coin.curve) === true) graduateCoin(turn, coin)
    }
  }

  #launch(turn: MarketTurn): void {
    const { head } = this.#parts.state
    if (turn.slot < head.nextLaunch) return
    head.nextLaunch =
      turn.slot + Math.max(1, Math.round(turn.between(0.5, 1.5) * this.#settings.launchEverySlots))
    // In turn, so that no launchpad is left out for long.
    const { launchpads } = this.#parts
    launchCoin(turn, launchpads[head.coins % launchpads.length]!)
    this.#retire()
  }

  /** Leaves out the coldest coin when there are too many: nobody trades it any more. */
  #retire(): void {
    const { state } = this.#parts
    const { head, coins } = state
    if (head.liveCoins.length <= LIVE_COINS_MAX) return
    const [id] = head.liveCoins.filter((live) => live !== head.burst?.coin)
    const coin = id === undefined ? undefined : coins.get(id)
    if (coin !== undefined) abandonCoin(state, coin)
  }

  #burst(turn: MarketTurn): void {
    const { head, coins } = this.#parts.state
    if (head.burst !== null && turn.slot > head.burst.until) head.burst = null
    if (turn.slot < head.nextBurst || head.burst !== null) return
    head.nextBurst =
      turn.slot + Math.max(BURST_SLOTS, Math.round(turn.between(0.5, 1.5) * this.#settings.burstEverySlots))
    const candidates = [...coins.values()].filter(({ graduated }) => !graduated || turn.chance(0.3))
    if (candidates.length === 0) return
    head.burst = { coin: turn.pick(candidates).id, until: turn.slot + BURST_SLOTS }
  }

  /** One transaction of the usual mix; another is tried where nobody could do the first. */
  #act(turn: MarketTurn, share: number): void {
    const { state } = this.#parts
    const dice = turn.random.next()
    const fails = turn.chance(0.1)
    if (share < 0.2) return void vote(turn, Math.floor(turn.random.next() * 1000))
    if (dice < 0.1) return void payment(turn, fails)
    if (dice < 0.17 && tradeRoute(turn, fails)) return
    if (dice < 0.2) {
      const pairs = [...state.pairs.values()]
      if (pairs.length > 0 && changePairLiquidity(turn, turn.pick(pairs))) return
    }
    for (let attempt = 0; attempt < 4; attempt++) {
      const coin = dice < 0.62 ? this.#pickCoin(turn) : null
      const pair = coin === null ? this.#pickPair(turn) : null
      if (coin !== null && this.#tradeCoin(turn, coin, fails)) return
      if (pair !== null && tradeOnPair(turn, pair, fails)) return
    }
  }

  /** On its curve, or in the pool that it graduated to. */
  #tradeCoin(turn: MarketTurn, coin: Coin, fails: boolean): boolean {
    if (!coin.graduated) return tradeOnCurve(turn, coin, fails)
    const pair = [...this.#parts.state.pairs.values()].find((candidate) => candidate.coin === coin.id)
    return pair !== undefined && tradeOnPair(turn, pair, fails)
  }

  /** By heat, which fades with age; coins that have gone cold are traded now and then. */
  #pickCoin(turn: MarketTurn): Coin | null {
    const coins = [...this.#parts.state.coins.values()]
    const heats = coins.map(
      ({ heat, bornSlot }) => heat * 0.5 ** ((turn.slot - bornSlot) / HEAT_HALF_LIFE) + 0.002
    )
    let left = turn.random.next() * heats.reduce((sum, heat) => sum + heat, 0)
    for (const [at, heat] of heats.entries()) {
      left -= heat
      if (left <= 0) return coins[at]!
    }
    return null
  }

  #pickPair(turn: MarketTurn): Pair | null {
    const pairs = [...this.#parts.state.pairs.values()].filter(({ coin }) => coin === null)
    return pairs.length === 0 ? null : turn.pick(pairs)
  }
}

function newState(): MarketState {
  return new MarketState({
    slot: -1,
    coins: 0,
    pairs: 0,
    opened: 0,
    nextLaunch: 0,
    nextBurst: 0,
    burst: null,
    liveCoins: [],
    abandonedCoins: [],
    tables: [],
    untabled: []
  })
}
