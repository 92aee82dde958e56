import type { ChainEvent, LiquidityChange, Trade } from '../../src/chain/events.ts'
import { pubkeyFromBase58 } from '../../src/chain/pubkey.ts'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { BlockEntry, DecodedBlock } from '../../src/market/block.ts'
import { CurveTokens } from './curve-tokens.ts'
import { launchEvents, legs, migrationEvents, units, type Amount } from './events.ts'
import {
  Population,
  programOf,
  SOL,
  SOL_SHARE,
  SWAP_SHARE,
  type MarketSize,
  type SyntheticPool
} from './population.ts'
import { SeededRandom } from './random.ts'
import { scheduleLaunches, type Schedule } from './schedule.ts'

/**
 * Slots merged into one block: a minute of the chain, with 58 trades a slot as in the recorded mainnet block. Fewer blocks
 * of more rows fold several times as fast.
 */
const SLOTS_PER_BLOCK = 150
const TRADES_PER_BLOCK = 58 * SLOTS_PER_BLOCK
const TRANSACTIONS_PER_BLOCK = 1500 * SLOTS_PER_BLOCK
const LIQUIDITY_PER_BLOCK = 3 * SLOTS_PER_BLOCK
const SECONDS_PER_BLOCK = 0.4 * SLOTS_PER_BLOCK
const FIRST_SLOT = 400_000_000
/** 2026-11-20 00:00:00 UTC, in unix seconds. */
const FIRST_TIME = Date.UTC(2026, 10, 20) / 1000
const AGGREGATOR = pubkeyFromBase58('JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4')
const SWAPPING_MINTS = 200

/**
 * The blocks of a synthetic market, in order, as the decoder would deliver them. The whole market follows from its size and
 * seed. Prices, curves and addresses are carried from block to block, so reading starts at the first block.
 */
export class SyntheticMarket {
  readonly population: Population
  readonly blockCount: number
  readonly #schedule: Schedule
  readonly #curves: CurveTokens
  readonly #random: SeededRandom
  readonly #pools: (readonly SyntheticPool[] | undefined)[] = []
  /** Prices in USD of standing tokens, in SOL of launched ones that left their curve. */
  readonly #prices: Float64Array
  #solUsd = 180
  #entries: BlockEntry[] = []
  #txIndex = 0

  constructor(size: MarketSize) {
    this.population = new Population(size)
    this.blockCount = Math.ceil(size.trades / TRADES_PER_BLOCK)
    this.#schedule = scheduleLaunches(this.population, this.blockCount, SECONDS_PER_BLOCK)
    this.#curves = new CurveTokens(this.population, this.#schedule)
    this.#random = new SeededRandom(size.seed, 12)
    this.#prices = Float64Array.from({ length: size.mints }, () => Math.exp(2.5 * this.#random.normal() - 4))
  }

  /** Number of trades of each launched token, by its number. */
  get launchedTrades(): Int32Array {
    return this.#schedule.tradesOf
  }

  *blocks(): Generator<DecodedBlock> {
    const others = this.population.size.trades - this.#schedule.trades
    for (let block = 0; block < this.blockCount; block++) {
      const due = share(others, block + 1, this.blockCount) - share(others, block, this.blockCount)
      yield this.#block(block, due)
    }
  }

  #block(block: number, otherTrades: number): DecodedBlock {
    this.#entries = []
    this.#txIndex = 0
    for (const token of this.#schedule.bornIn(block)) this.#launch(token)
    const launched = this.#schedule.tradedIn(block)
    // Standing mints are planned as their index, launched tokens as ~token, below zero.
    const plan = new Int32Array(launched.length + otherTrades)
    for (let i = 0; i < launched.length; i++) plan[i] = ~launched[i]!
    for (let i = launched.length; i < plan.length; i++) plan[i] = this.#otherMint()
    this.#random.shuffle(plan)
    for (const mint of plan) {
      if (mint < 0) this.#tradeLaunched(~mint)
      else this.#tradeStanding(mint)
    }
    for (let i = 0; i < LIQUIDITY_PER_BLOCK; i++) this.#changeLiquidity()
    const blockTime = FIRST_TIME + Math.floor(block * SECONDS_PER_BLOCK)
    const slot = FIRST_SLOT + block * SLOTS_PER_BLOCK
    return {
      slot,
      parentSlot: slot - 1,
      blockhash: null,
      blockTime,
      receivedAtMs: blockTime * 1000 + 400,
      commitment: 'confirmed',
      transactions: TRANSACTIONS_PER_BLOCK,
      entries: this.#entries
    }
  }

  #otherMint(): number {
    return this.#random.chance(SOL_SHARE / (1 - 0.45)) ? 0 : this.population.drawStanding(this.#random)
  }

  #launch(token: number): void {
    const mint = this.population.standing + token
    const creator = this.population.drawWallet(this.#random)
    const origin = this.#place(this.#curves.launchpadOf(token).venue, this.population.curveOf(mint), creator)
    this.#curves.setStage(token, 'bonding')
    this.#emit(launchEvents(origin, this.population.mint(mint), token, this.#curves.reserves(token)))
  }

  #tradeLaunched(token: number): void {
    const stage = this.#curves.stageOf(token)
    if (stage === 'bonding') return this.#tradeOnCurve(token)
    if (stage === 'complete') this.#migrate(token)
    const mint = this.population.standing + token
    const pool = this.#drawPool(this.#poolsAfterCurve(token))
    this.#prices[mint]! *= Math.exp(0.01 * this.#random.normal())
    this.#tradeInPool(mint, pool, this.#prices[mint]! * this.#solUsd)
  }

  #tradeOnCurve(token: number): void {
    const mint = this.population.standing + token
    const { venue } = this.#curves.launchpadOf(token)
    const curve = this.population.curveOf(mint)
    const { isBuy, lamports, tokens, completes } = this.#curves.trade(token, this.#random)
    const place = this.#place(venue, curve, this.population.drawWallet(this.#random))
    const base = { mint: this.population.mint(mint), decimals: 6, amount: tokens }
    const quote = { mint: SOL, decimals: 9, amount: lamports }
    const fees = [
      { kind: 'protocol', mint: SOL, amount: lamports / 100n },
      { kind: 'creator', mint: SOL, amount: lamports / 333n }
    ] as const
    const [paid, received] = isBuy ? [quote, base] : [base, quote]
    const trade: Trade = {
      kind: 'trade',
      ...place,
      ...legs(paid, received),
      traderIn: isBuy ? lamports + fees[0].amount + fees[1].amount : tokens,
      traderOut: isBuy ? tokens : lamports - fees[0].amount - fees[1].amount,
      fees,
      reserves: this.#curves.tradeReserves(token, isBuy),
      exact: isBuy ? 'out' : 'in',
      route: null
    }
    if (!completes) return this.#emit([trade])
    this.#curves.setStage(token, 'complete')
    // Moonshot emits no completion event, only the migration.
    if (venue === 'moonshot') return this.#emit([trade])
    const mints = { baseMint: base.mint, quoteMint: SOL, curve }
    const reserves = this.#curves.reserves(token)
    this.#emit([
      trade,
      { kind: 'curve', event: 'complete', ...place, ...mints, progressPct: 100, destination: null, reserves }
    ])
  }

  /** Migrates a complete curve at its next trade, so that some curves are always complete and not migrated. */
  #migrate(token: number): void {
    const mint = this.population.standing + token
    const pool = this.#poolsAfterCurve(token)[0]!
    const migrator = this.population.wallet(0)
    const curve = this.#place(this.#curves.launchpadOf(token).venue, this.population.curveOf(mint), migrator)
    const vaults = { baseVault: this.population.wallet(1), quoteVault: this.population.wallet(2) }
    this.#curves.setStage(token, 'migrated')
    this.#prices[mint] = this.#curves.priceOf(token)
    const created = this.#place(pool.venue, pool.address, migrator)
    this.#emit(migrationEvents(curve, created, this.population.mint(mint), vaults))
  }

  #tradeStanding(mint: number): void {
    if (mint === 0) {
      this.#solUsd *= Math.exp(0.0001 * this.#random.normal())
      return this.#tradeInPool(0, this.#drawPool(this.#standingPools(0)), this.#solUsd)
    }
    if (mint <= SWAPPING_MINTS && this.#random.chance(SWAP_SHARE * 3)) return this.#swap(mint)
    this.#prices[mint]! *= Math.exp(0.002 * this.#random.normal())
    this.#tradeInPool(mint, this.#drawPool(this.#standingPools(mint)), this.#prices[mint]!)
  }

  #tradeInPool(mint: number, pool: SyntheticPool, priceUsd: number): void {
    const usd = this.#usd()
    const isBuy = this.#random.chance(0.5)
    const isSol = pool.quote === SOL
    const quote = {
      mint: pool.quote,
      decimals: isSol ? 9 : 6,
      amount: units(usd / (isSol ? this.#solUsd : 1), isSol ? 9 : 6)
    }
    const base = this.#tokens(mint, usd / priceUsd)
    this.#emit([isBuy ? this.#poolTrade(pool, quote, base) : this.#poolTrade(pool, base, quote)])
  }

  /** Emits a swap of two tokens, neither of them cash. */
  #swap(mint: number): void {
    const other = 1 + (mint % SWAPPING_MINTS)
    if (other === mint) return
    const usd = this.#usd()
    const pool = {
      address: this.population.swapPool(Math.min(mint, other), Math.max(mint, other)),
      venue: 'orca-whirlpool',
      quote: this.population.mint(other)
    } as const
    const paid = this.#tokens(mint, usd / this.#prices[mint]!)
    this.#emit([this.#poolTrade(pool, paid, this.#tokens(other, usd / this.#prices[other]!))])
  }

  #poolTrade({ venue, address }: SyntheticPool, paid: Amount, received: Amount): Trade {
    const fee = paid.amount / 400n
    const random = this.#random
    return {
      kind: 'trade',
      ...this.#place(venue, address, this.population.drawWallet(random)),
      ...legs(paid, received),
      traderIn: paid.amount + fee,
      traderOut: received.amount,
      fees: [{ kind: 'lp', mint: paid.mint, amount: fee }],
      reserves: { in: paid.amount * 997n, out: received.amount * 1009n },
      exact: random.chance(0.8) ? 'in' : 'out',
      route: random.chance(0.3)
        ? { program: AGGREGATOR, ixIndex: 2, hop: 1, hops: 1 + random.below(3) }
        : null
    }
  }

  #changeLiquidity(): void {
    const mint = this.population.drawStanding(this.#random)
    const pool = this.#drawPool(this.#standingPools(mint))
    const usd = this.#usd() * 10
    const base = this.#tokens(mint, usd / this.#prices[mint]!)
    const isSol = pool.quote === SOL
    const quoteAmount = units(usd / (isSol ? this.#solUsd : 1), isSol ? 9 : 6)
    const change: LiquidityChange = {
      kind: 'liquidity',
      event: this.#random.chance(0.5) ? 'add' : 'remove',
      ...this.#place(pool.venue, pool.address, this.population.drawWallet(this.#random)),
      baseMint: base.mint,
      quoteMint: pool.quote,
      baseDecimals: base.decimals,
      quoteDecimals: isSol ? 9 : 6,
      baseAmount: base.amount,
      quoteAmount,
      traderBase: base.amount,
      traderQuote: quoteAmount,
      lpAmount: null,
      position: null
    }
    this.#emit([change])
  }

  /** Emits events as one transaction. */
  #emit(events: readonly ChainEvent[]): void {
    const signature = this.#random.bytes(64)
    const txIndex = this.#txIndex++
    for (const event of events) this.#entries.push({ signature, txIndex, feePayer: event.user, event })
  }

  #place(venue: Trade['venue'], pool: Pubkey, user: Pubkey) {
    const innerIxIndex = this.#random.chance(0.5) ? this.#random.below(8) : null
    return { venue, program: programOf(venue), pool, user, ixIndex: 2 + this.#random.below(4), innerIxIndex }
  }

  #tokens(mint: number, amount: number): Amount {
    const decimals = mint === 0 ? 9 : this.population.decimals(mint)
    return { mint: this.population.mint(mint), decimals, amount: units(amount, decimals) }
  }

  /** Draws a trade's value in USD, lognormal: half of the trades are below 55, the mean is 112. */
  #usd(): number {
    return 55 * Math.exp(1.2 * this.#random.normal())
  }

  #drawPool(pools: readonly SyntheticPool[]): SyntheticPool {
    return pools[Math.floor(pools.length * this.#random.unit() ** 2)]!
  }

  #standingPools(mint: number): readonly SyntheticPool[] {
    return (this.#pools[mint] ??= this.population.poolsOf(mint))
  }

  #poolsAfterCurve(token: number): readonly SyntheticPool[] {
    const mint = this.population.standing + token
    return (this.#pools[mint] ??= this.population.poolsAfterCurve(
      mint,
      this.#curves.launchpadOf(token).destination
    ))
  }
}

/** How many of `total` are due by the n-th of `parts`. */
function share(total: number, n: number, parts: number): number {
  return Math.floor((total * n) / parts)
}
