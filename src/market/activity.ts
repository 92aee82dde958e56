import { pubkeyMapKey, samePubkey } from '../chain/pubkey.ts'
import { isUnstated, type ChainEvent } from '../chain/events.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import type { ActivityHour, ActivityMinute, ActivityOf, UsdPrice } from './activity-rows.ts'
import { mergeMinutes } from './activity-sums.ts'
import { microUsd } from './amount.ts'
import { bucketStart } from './buckets.ts'
import { isWrappedSol } from './cash.ts'
import { keyHash } from './hyperloglog.ts'
import { legOf, otherSide } from './legs.ts'
import { formedUsd } from './price.ts'
import type { TokenRow } from './registry-rows.ts'
import type { TradeRow } from './rows.ts'
import { addTradersOfMinutes, NO_TRADERS } from './traders.ts'

/** Key of the whole market's activity. */
export const MARKET: Pubkey = new Uint8Array(32)

/** The activity and tokens at the block before. */
export interface KnownActivity {
  activity(of: ActivityOf, owner: Pubkey, hour: number): ActivityHour | null
  latest(name: 'tokens', text: string): Pick<TokenRow, 'lastUsd'> | null
}

/** The share of blocks in an owner's sums of one minute. */
export interface MinutePart {
  readonly sums: ActivityMinute
  /** One hash per trade; a trader may repeat. */
  readonly traders: readonly number[]
}

/**
 * Adds blocks of one hour to the minutes of their times, by mint, by pool and for the market. Every row is rounded to millionths of
 * a USD on its own, as in candles. All sums are integers, so the order of adding does not matter.
 */
export class ActivityFold {
  readonly #known: KnownActivity
  readonly #hour: number
  #minute: number
  readonly #mints = new Map<string, Tally>()
  readonly #pools = new Map<string, Tally>()
  readonly #market = new Tally('market', MARKET)

  /** Takes the time of the first block. */
  constructor(known: KnownActivity, blockTime: number) {
    this.#known = known
    this.#hour = bucketStart('1h', blockTime)
    this.#minute = bucketStart('1m', blockTime)
  }

  /** The market's minutes, ascending. */
  get market(): readonly MinutePart[] {
    return this.#market.minutes
  }

  /** Sets the time of the following events, which is in the hour of the first block and not in an earlier minute. */
  begin(blockTime: number): void {
    this.#minute = bucketStart('1m', blockTime)
  }

  /**
   * Adds a trade by its rows, one for each mint it is listed under; `poolBase` is the token of its pool, null if the pool is
   * unknown. An unknown trader is not counted among the traders.
   */
  trade(rows: readonly TradeRow[], poolBase: Pubkey | null): void {
    const [row] = rows
    if (row === undefined) return
    const worth = worthOf(row)
    const isTraderKnown = !isUnstated(row, 'user')
    const market = this.#market.in(this.#minute)
    market.trade(worth, worth.lamports, 0n)
    if (isTraderKnown) market.traders.push(worth.trader)
    if (poolBase !== null) this.#poolOf(row.pool).trade(worth, worth.cash, amountOf(row, poolBase))
    for (const each of rows) {
      const mint = this.#mintOf(each.mint)
      mint.trade(worth, worth.lamports, amountOf(each, each.mint))
      mint.formPrice(formedUsd(each))
      if (isTraderKnown) mint.traders.push(worth.trader)
    }
  }

  /** Adds any other event, with the mints it is listed under; `isLaunch` marks a token's first launch. */
  event({ kind, pool }: ChainEvent, mints: readonly Pubkey[], isLaunch = false): void {
    this.#market.in(this.#minute).event(kind, isLaunch)
    this.#poolOf(pool).event(kind, isLaunch)
    for (const mint of mints) this.#mintOf(mint).event(kind, isLaunch)
  }

  /**
   * Returns the hours that include the blocks: of mints, then of pools, each in the order of their first event, then the
   * market.
   */
  changed(): ActivityHour[] {
    const market = this.#market.minutes.length > 0 ? [this.#market] : []
    return [...this.#mints.values(), ...this.#pools.values(), ...market].map((tally) => this.#hourOf(tally))
  }

  #hourOf({ of, owner, minutes: added }: Tally): ActivityHour {
    const stored = this.#known.activity(of, owner, this.#hour)
    const priorUsd =
      stored === null && of === 'mint'
        ? (this.#known.latest('tokens', pubkeyMapKey(owner))?.lastUsd ?? null)
        : null
    const before = stored ?? { of, owner, hour: this.#hour, minutes: [], priorUsd, traders: NO_TRADERS }
    const tradersOf = ({ sums, traders }: MinutePart) => ({
      minute: (sums.minute - this.#hour) / 60,
      hashes: traders
    })
    return {
      ...before,
      minutes: added.reduce<readonly ActivityMinute[]>(
        (minutes, { sums }) => withMinute(minutes, sums),
        before.minutes
      ),
      traders: of === 'pool' ? before.traders : addTradersOfMinutes(before.traders, added.map(tradersOf))
    }
  }

  #mintOf(mint: Pubkey): MinuteTally {
    return tallyOf(this.#mints, 'mint', mint).in(this.#minute)
  }

  #poolOf(pool: Pubkey): MinuteTally {
    return tallyOf(this.#pools, 'pool', pool).in(this.#minute)
  }
}

function tallyOf(tallies: Map<string, Tally>, of: ActivityOf, owner: Pubkey): Tally {
  const key = pubkeyMapKey(owner)
  const known = tallies.get(key)
  if (known !== undefined) return known
  const tally = new Tally(of, owner)
  tallies.set(key, tally)
  return tally
}

/** The facts of a trade that all tallies need. */
interface Worth {
  readonly side: 'buy' | 'sell' | null
  readonly microUsd: bigint | null
  /** Cash in base units; 0 if neither side is cash. */
  readonly cash: bigint
  /** Cash in lamports if it is wrapped SOL, else 0. */
  readonly lamports: bigint
  readonly trader: number
}

function worthOf(row: TradeRow): Worth {
  const trader = keyHash(row.user)
  const { cashSide, cashUsd } = row
  if (cashSide === null) return { side: null, microUsd: null, cash: 0n, lamports: 0n, trader }
  const cash = legOf(row, cashSide)
  return {
    side: cashSide === 'in' ? 'buy' : 'sell',
    microUsd: cashUsd === null ? null : microUsd(cash, cashUsd),
    cash: cash.amount,
    lamports: isWrappedSol(cash.mint) ? cash.amount : 0n,
    trader
  }
}

/**
 * Returns the traded amount of a token. If the trade has a cash side, it is the amount of the other side, whichever
 * token the pool is listed under.
 */
function amountOf(row: TradeRow, token: Pubkey): bigint {
  if (row.cashSide !== null) return legOf(row, otherSide(row.cashSide)).amount
  if (samePubkey(row.inMint, token)) return row.inAmount
  return samePubkey(row.outMint, token) ? row.outAmount : 0n
}

/** The minutes of an owner. */
class Tally {
  readonly of: ActivityOf
  readonly owner: Pubkey
  /** Ascending. */
  readonly minutes: MinuteTally[] = []

  constructor(of: ActivityOf, owner: Pubkey) {
    this.of = of
    this.owner = owner
  }

  /** Returns the running sums of a minute that is not before the last one. */
  in(minute: number): MinuteTally {
    const last = this.minutes.at(-1)
    if (last?.sums.minute === minute) return last
    const begun = new MinuteTally(minute)
    this.minutes.push(begun)
    return begun
  }
}

/** The running sums of one owner's minute. */
class MinuteTally implements MinutePart {
  readonly sums: { -readonly [Field in keyof ActivityMinute]: ActivityMinute[Field] }
  readonly traders: number[] = []

  constructor(minute: number) {
    this.sums = {
      minute,
      events: 0,
      trades: 0,
      buys: 0,
      sells: 0,
      liquidity: 0,
      launches: 0,
      priced: 0,
      volumeMicroUsd: 0n,
      buyMicroUsd: 0n,
      sellMicroUsd: 0n,
      volumeCash: 0n,
      volumeToken: 0n,
      openUsd: null,
      closeUsd: null
    }
  }

  trade({ side, microUsd: usd }: Worth, cash: bigint, token: bigint): void {
    const { sums } = this
    sums.events++
    sums.trades++
    if (side === 'buy') sums.buys++
    if (side === 'sell') sums.sells++
    sums.volumeCash += cash
    sums.volumeToken += token
    if (usd === null) return
    sums.priced++
    sums.volumeMicroUsd += usd
    if (side === 'buy') sums.buyMicroUsd += usd
    else sums.sellMicroUsd += usd
  }

  formPrice(usd: UsdPrice): void {
    if (usd === null) return
    this.sums.openUsd ??= usd
    this.sums.closeUsd = usd
  }

  event(kind: ChainEvent['kind'], isLaunch: boolean): void {
    this.sums.events++
    if (kind === 'liquidity') this.sums.liquidity++
    if (isLaunch) this.sums.launches++
  }
}

/** Returns the minutes with a block's share added; if block times fall, the minute is inserted between them. */
function withMinute(minutes: readonly ActivityMinute[], part: ActivityMinute): ActivityMinute[] {
  const at = minutes.findLastIndex(({ minute }) => minute <= part.minute)
  const stored = minutes[at]
  return stored?.minute === part.minute
    ? minutes.with(at, mergeMinutes(stored, part))
    : minutes.toSpliced(at + 1, 0, part)
}
