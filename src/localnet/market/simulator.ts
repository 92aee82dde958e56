import type { ExecutedTransaction, LocalAccount } from '../chain.ts'
import { abandonCoin, sweepCoins } from './abandoned-coins.ts'
import { payment, vote } from './background-traffic.ts'
import { arbitrage } from './arbitrage.ts'
import { heatOf, overSlotOf } from './coin-life.ts'
import { graduateCoin, isReadyToGraduate, sellOut, tradeOnCurve } from './curve-trading.ts'
import { firstPools, foundMarket, type FirstPool } from './genesis.ts'
import { launchDueCoins } from './launches.ts'
import { Ledger } from './ledger.ts'
import type { Coin } from './coin.ts'
import { MarketState, type Pair } from './market-state.ts'
import type { IntendedSlot } from './oracle.ts'
import { changePairLiquidity, tradeOnPair, tradeRoute } from './pair-trading.ts'
import { extendTables, openPair } from './pairs.ts'
import { BUSY_PACE, USUAL_PACE, type MarketPace } from './pace.ts'
import { peopleOf } from './people.ts'
import { ReferencePrices } from './prices.ts'
import { MarketTurn, type MarketParts } from './turn.ts'
import { LAUNCHPADS, POOL_VENUES } from './venues.ts'
import { WeightedChoice } from './weighted-choice.ts'

export interface MarketSettings {
  /** Determines everything that happens. */
  readonly seed: string
  /** The pace of slots for which `fill` gets no pace. */
  readonly pace: MarketPace
  /** One in this many launched coins graduates. */
  readonly graduateEvery: number
  /** Maximum number of traded coins; above it the coldest are abandoned. */
  readonly liveCoinsMax: number
}

/** The market of a localnet: one coin in a hundred graduates, as on mainnet. Coins of the past day stay traded. */
export const USUAL_MARKET: Omit<MarketSettings, 'seed'> = {
  pace: USUAL_PACE,
  graduateEvery: 100,
  liveCoinsMax: 400
}

/** A market for tests and load: one coin in three graduates, and coins are abandoned early. */
export const BUSY_MARKET: Omit<MarketSettings, 'seed'> = {
  pace: BUSY_PACE,
  graduateEvery: 3,
  liveCoinsMax: 100
}

/** The stored state from which a market resumes: its sections by name, as `takeParts` returned them, and its accounts. */
export interface KeptMarket {
  part(name: string): Uint8Array | null
  account(address: Uint8Array): LocalAccount | null
}

export interface MarketTransaction {
  readonly transaction: ExecutedTransaction
  /** Accounts in their state after it; accounts without lamports are deleted. */
  readonly accounts: readonly LocalAccount[]
}

const OPENINGS_PER_SLOT = 5
/** Share of coin trades in newly launched coins, if both new and older ones are warm. */
const FRESH_SHARE = 0.5
/** Total heat below which a kind of coins gets no trades of its own: the heat of a few hardly traded coins. */
const WARM_HEAT = 0.2
/** Shares of routes of two hops and of liquidity changes among the transactions. */
const ROUTE_SHARE = 0.06
const LIQUIDITY_SHARE = 0.02

/**
 * A market that never stops and repeats exactly: a slot follows from the seed, the slot number and the market's
 * history. It trades on every venue, launches coins, lets some graduate, and reports its intentions to an oracle.
 */
export class MarketSimulator {
  readonly #settings: MarketSettings
  readonly #parts: MarketParts
  readonly #openings: readonly FirstPool[]
  readonly #tell: (slot: IntendedSlot) => void
  #genesis: readonly LocalAccount[]

  /** Starts a market, or resumes a stored one. `tell` is called with the intention for each slot. */
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
    const { graduateEvery } = settings
    this.#parts = { seed, graduateEvery, ledger, people, prices, state: state ?? newState(), ...venues }
    this.#openings = firstPools(
      POOL_VENUES.map(({ venue }) => venue),
      prices
    )
  }

  /** The newest filled slot; -1 before the first. */
  get slot(): number {
    return this.#parts.state.head.slot
  }

  /** All accounts that the market knows, for tests. */
  get ledger(): Ledger {
    return this.#parts.ledger
  }

  /**
   * Returns the market's transactions for a slot, which must be later than all before; slots may be skipped. The first
   * transaction also has the accounts from before the market's begin. The chain must apply all of them before the next
   * call.
   */
  fill(slot: number, blockTime: number, pace = this.#settings.pace): MarketTransaction[] {
    const { state, ledger } = this.#parts
    const { head } = state
    if (slot <= head.slot) throw new RangeError(`slot ${slot} is filled already`)
    if (this.#genesis.length === 0) ledger.refresh()
    const turn = new MarketTurn(this.#parts, { slot, blockTime, pace })
    if (head.slot < 0) head.nextLaunch = slot + 3
    const elapsed = slot - head.slot
    head.slot = slot
    this.#open(turn)
    for (const coin of state.coins.values()) {
      if (isReadyToGraduate(turn, coin)) graduateCoin(turn, coin)
      if (coin.exitSlot !== null && coin.exitSlot <= slot) sellOut(turn, coin)
    }
    launchDueCoins(turn)
    this.#retire(turn)
    sweepCoins(turn)
    this.#trade(turn)
    arbitrage(turn, elapsed)
    this.#tell({ slot, blockTime, transactions: turn.intended })
    const first = this.#genesis
    this.#genesis = []
    return turn.executed.map(({ transaction, accounts }, at) => ({
      transaction,
      accounts: at === 0 && first.length > 0 ? [...first, ...accounts] : accounts
    }))
  }

  /**
   * Returns the market's changed sections by name since the last call, to be stored with its accounts; null deletes a
   * section.
   */
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

  /** Abandons the coldest coins above the maximum. */
  #retire(turn: MarketTurn): void {
    const { state } = this.#parts
    const excess = state.coins.size - this.#settings.liveCoinsMax
    if (excess <= 0) return
    const coldest = [...state.coins.values()].sort(
      (a, b) => heatOf(a, turn.slot) - heatOf(b, turn.slot) || a.id - b.id
    )
    for (const coin of coldest.slice(0, excess)) {
      if (coin.exitSlot !== null) sellOut(turn, coin)
      abandonCoin(state, coin)
    }
  }

  #trade(turn: MarketTurn): void {
    const { coins, pairs } = this.#parts.state
    const count = Math.round(turn.pace.transactionsPerSlot * turn.between(0.6, 1.4))
    const fresh: Coin[] = []
    const known: Coin[] = []
    for (const coin of coins.values()) {
      const isFresh = coin.graduatedSlot === null && turn.slot < overSlotOf(coin)
      if (isFresh) fresh.push(coin)
      else known.push(coin)
    }
    const heat = (coin: Coin): number => heatOf(coin, turn.slot)
    const choices = {
      fresh: new WeightedChoice(fresh, heat),
      known: new WeightedChoice(known, heat),
      listed: new WeightedChoice(
        [...pairs.values()].filter(({ coin }) => coin === null),
        ({ depthUsd }) => depthUsd
      )
    }
    for (let i = 0; i < count; i++) this.#act(turn, i / count, choices)
  }

  /** Creates one transaction of the usual mix; tries another kind if no trader could do the first. */
  #act(turn: MarketTurn, share: number, { fresh, known, listed }: Choices): void {
    const { random, pace } = turn
    const dice = random.next()
    const fails = turn.chance(pace.failureShare)
    if (share < pace.voteShare) return void vote(turn, Math.floor(random.next() * 1000))
    const payments = pace.voteShare / 2
    const routes = payments + ROUTE_SHARE
    const changes = routes + LIQUIDITY_SHARE
    if (dice < payments) return void payment(turn, fails)
    if (dice < routes && tradeRoute(turn, fails)) return
    if (dice < changes) {
      const pair = listed.pick(random)
      if (pair !== null && changePairLiquidity(turn, pair)) return
    }
    for (let attempt = 0; attempt < 4; attempt++) {
      const isCoin = dice < changes + pace.coinShare && attempt < 3
      const isCold = Math.min(fresh.total, known.total) < WARM_HEAT
      const wantsFresh = isCold ? fresh.total > known.total : turn.chance(FRESH_SHARE)
      const [first, second] = wantsFresh ? [fresh, known] : [known, fresh]
      const coin = isCoin ? (first.pick(random) ?? second.pick(random)) : null
      const pair = coin === null ? listed.pick(random) : null
      if (coin !== null && this.#tradeCoin(turn, coin, fails)) return
      if (pair !== null && tradeOnPair(turn, pair, fails)) return
    }
  }

  /** Trades a coin on its curve, or in the pool that it graduated to. */
  #tradeCoin(turn: MarketTurn, coin: Coin, fails: boolean): boolean {
    if (coin.graduatedSlot === null) return tradeOnCurve(turn, coin, fails)
    const pair = [...this.#parts.state.pairs.values()].find((candidate) => candidate.coin === coin.id)
    return pair !== undefined && tradeOnPair(turn, pair, fails)
  }
}

interface Choices {
  readonly fresh: WeightedChoice<Coin>
  readonly known: WeightedChoice<Coin>
  readonly listed: WeightedChoice<Pair>
}

function newState(): MarketState {
  const head = { slot: -1, coins: 0, pairs: 0, opened: 0, nextLaunch: 0, liveCoins: [], abandonedCoins: [] }
  return new MarketState(head, { tables: [], untabled: [] })
}
