import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { address, launchesJson, stamp, type Json } from './oracle-bodies.ts'
import { sum, unpricedIn, unpricedInDay, usdOf, volume } from './oracle-candles.ts'
import { curvesOf, type CurveAnswer } from './oracle-curves.ts'
import { decimalsIn, sidesOf } from './oracle-sides.ts'
import {
  CASH,
  human,
  isCash,
  listTrades,
  nameOf,
  signatureOf,
  symbolOf,
  storyOf,
  type Listed,
  type StoryEvent
} from './oracle-story.ts'
import type { DecodedBlock } from '../../src/market/block.ts'

interface KnownPool {
  readonly first: StoryEvent
  readonly base: string
  readonly quote: string
  /** The mints that it is listed under. */
  readonly mints: readonly string[]
}

const LAUNCHPADS = ['pumpfun', 'raydium-launchlab', 'meteora-dbc', 'moonshot']

function reservesJson(reserves: bigint[] | null, decimals: readonly (number | null)[]): Json {
  const [base, quote] = reserves ?? []
  const side = (raw: bigint | undefined, unit: number | null | undefined) =>
    raw === undefined || unit == null ? null : human(raw, unit)
  return {
    base_reserve: side(base, decimals[0]),
    base_reserve_raw: base?.toString() ?? null,
    quote_reserve: side(quote, decimals[1]),
    quote_reserve_raw: quote?.toString() ?? null
  }
}

/** Fields of a token's metadata that only its accounts state, in a process without a node. */
const ACCOUNT_STATE = {
  mint_authority: null,
  freeze_authority: null,
  update_authority: null,
  mutable: null,
  token_program: null,
  extensions: null,
  transfer_fee_bps: null,
  transfer_fee: null,
  ui_multiplier: null,
  ui_multiplier_since: null,
  ui_multiplier_next: null,
  interest: null,
  transfer_hook_program: null,
  permanent_delegate: null,
  close_authority: null,
  default_account_state: null,
  paused: null,
  slot: null,
  updated_at: null
}

/** The state of the market after some blocks, as the service should describe it when their last is the indexed head. */
export class Oracle {
  readonly story: readonly StoryEvent[]
  /** Rows in cursor order. */
  readonly rows: readonly Listed[]
  readonly headTime: number
  readonly #pools = new Map<string, KnownPool>()
  readonly #told = new Map<string, StoryEvent[]>()
  readonly #rowsOf: ReadonlyMap<string, readonly Listed[]>
  readonly #launches: ReadonlyMap<unknown, Json>
  readonly #curves: ReadonlyMap<string, CurveAnswer>

  constructor(blocks: readonly DecodedBlock[]) {
    this.story = storyOf(blocks)
    this.rows = listTrades(this.story)
    this.headTime = blocks.at(-1)!.blockTime
    this.#rowsOf = Map.groupBy(this.rows, ({ mint }) => mint)
    this.#launches = new Map(launchesJson(this.story).map((launch) => [launch.mint, launch]))
    this.#curves = curvesOf(this.story, this.rows)
    for (const told of this.story) {
      const [base, quote] = sidesOf(told)
      if (base === null) continue
      const mints = quote !== null && !isCash(quote) ? [base, quote] : [base]
      for (const mint of mints) this.#told.set(mint, [...(this.#told.get(mint) ?? []), told])
      if (quote === null || this.#pools.has(told.pool)) continue
      this.#pools.set(told.pool, { first: told, base, quote, mints })
    }
  }

  /** Every mint that an event is listed under. */
  get mints(): string[] {
    return [...this.#told.keys()]
  }

  get pools(): string[] {
    return [...new Set(this.story.map(({ pool }) => pool))]
  }

  rowsOf(mint: string): readonly Listed[] {
    return this.#rowsOf.get(mint) ?? []
  }

  launches(status?: string): Json[] {
    return [...this.#launches.values()].filter((launch) => status === undefined || launch.status === status)
  }

  curve(mint: string): Json | null {
    return this.#curves.get(mint)?.json ?? null
  }

  /** Pools of a mint, the most liquid first; those of unknown liquidity last, the newest of equal ones first. */
  poolsOf(mint: string): Json[] {
    const pools = [...this.#pools].filter(([, { mints }]) => mints.includes(mint))
    const liquidity = ({ liquidity_usd }: Json): number => (liquidity_usd as number | null) ?? -1
    return pools
      .toSorted(([, a], [, b]) => b.first.cursor - a.first.cursor)
      .map(([pool, known]) => this.#pool(pool, known))
      .toSorted((a, b) => liquidity(b) - liquidity(a))
  }

  #pool(pool: string, { first, base, quote }: KnownPool): Json {
    const events = this.story.filter((told) => told.pool === pool && told.cursor >= first.cursor)
    const rows = this.rows.filter((row) => row.pool === pool && row.isFirst)
    const creation = events.find(
      ({ event }) =>
        event.kind === 'launch' ||
        ((event.kind === 'pool' || event.kind === 'curve') && event.event === 'create')
    )
    const stated = events.flatMap(({ event }) => {
      if (event.kind !== 'pool') return []
      const vaults = [address(event.baseVault), address(event.quoteVault)]
      return [
        { vaults: pubkeyToBase58(event.baseMint) === base ? vaults : vaults.toReversed(), fee: event.feeBps }
      ]
    })
    const last = rows.at(-1)
    const own = rows.filter(({ trade }) =>
      [base, quote].every((mint) => [trade.inMint, trade.outMint].map(pubkeyToBase58).includes(mint))
    )
    const named = (mint: string): string | null =>
      own
        .map(({ trade: { inMint, vaults } }) => (pubkeyToBase58(inMint) === mint ? vaults?.in : vaults?.out))
        .flatMap((vault) => (vault ? [pubkeyToBase58(vault)] : []))[0] ?? null
    const forming = own.findLast((row) => row.forming)
    const day = this.#within(rows, 86_400)
    const stating = own.at(-1)
    const after = stating?.trade.reserves
    const isBaseIn = stating !== undefined && pubkeyToBase58(stating.trade.inMint) === base
    const [paid, taken] = [after?.in, after?.out]
    const reserves =
      paid === undefined || taken === undefined ? null : isBaseIn ? [paid, taken] : [taken, paid]
    const decimals = [base, quote].map(
      (mint) => events.map((told) => decimalsIn(told, mint)).find((known) => known !== null) ?? null
    )
    const symbol = (mint: string) => symbolOf(mint) ?? this.#launches.get(mint)?.symbol ?? null
    return {
      pool,
      venue: first.event.venue,
      base_mint: base,
      quote_mint: quote,
      base_symbol: symbol(base),
      quote_symbol: symbol(quote),
      ...reservesJson(reserves, decimals),
      // The node of the test has no account of it.
      reserves_from: reserves === null ? null : 'trade',
      reserves_slot: reserves === null ? null : stating!.block.slot,
      reserves_age_seconds: null,
      reserves_reason: 'the account does not exist',
      base_vault: stated.findLast(({ vaults }) => vaults[0] !== null)?.vaults[0] ?? named(base),
      quote_vault: stated.findLast(({ vaults }) => vaults[1] !== null)?.vaults[1] ?? named(quote),
      liquidity_usd: this.#liquidity(
        { pool, base, venue: first.event.venue },
        { reserves, decimals, forming }
      ),
      price: forming?.price ?? null,
      price_usd: forming === undefined ? null : usdOf(forming),
      fee_bps: stated.findLast(({ fee }) => fee !== null)?.fee ?? null,
      volume_24h_usd: volume(day),
      ...unpricedInDay(day),
      trades_24h: day.length,
      created_at: creation === undefined ? null : stamp(creation.block.blockTime),
      created_slot: creation?.block.slot ?? null,
      last_trade_at: last === undefined ? null : stamp(last.block.blockTime),
      live: true
    }
  }

  /** Returns the liquidity of a pool, both sides at its price; of an open bonding curve only its cash. */
  #liquidity(
    { pool, base, venue }: { pool: string; base: string; venue: string },
    {
      reserves,
      decimals,
      forming
    }: { reserves: bigint[] | null; decimals: (number | null)[]; forming: Listed | undefined }
  ): number | null {
    if (reserves === null || decimals.includes(null) || forming?.price == null || forming.cashUsd === null)
      return null
    const [token, cash] = reserves.map((raw, index) => human(raw, decimals[index]!)) as [number, number]
    if (!LAUNCHPADS.includes(venue)) return (token * forming.price + cash) * forming.cashUsd
    const curve = this.curve(base)
    return curve?.curve === pool && curve.status === 'bonding' ? cash * forming.cashUsd : null
  }

  /**
   * Returns the supply, market cap and related values of a mint by its latest price: the launched supply, and the part that
   * a curve has sold.
   */
  #value(mint: string): Json {
    const launch = this.#launches.get(mint)
    const curve = this.curve(mint)
    const sold = this.#curves.get(mint)?.sold ?? null
    const last = this.#newest(mint)
    const usd = last === null ? null : usdOf(last)
    const isEnded = ({ venue, pool }: Json): boolean =>
      LAUNCHPADS.includes(venue as string) &&
      curve !== null &&
      !(curve.status === 'bonding' && curve.curve === pool)
    const pools = this.poolsOf(mint)
      .filter((pool) => !isEnded(pool))
      .map(({ liquidity_usd }) => liquidity_usd as number | null)
    const valued = pools.filter((value) => value !== null)
    const isPartial = valued.length > 0 && valued.length < pools.length
    const raw = (launch?.supply_raw ?? null) as string | null
    const decimals = (launch?.decimals ?? null) as number | null
    const supply = raw === null || decimals === null ? null : human(BigInt(raw), decimals)
    const outside =
      supply === null || curve === null
        ? null
        : curve.status === 'graduated'
          ? supply
          : sold === null
            ? null
            : human(sold, decimals!)
    return {
      supply_raw: raw,
      supply,
      circulating_supply: outside,
      market_cap_usd: outside === null || usd === null ? null : outside * usd,
      fdv_usd: supply === null || usd === null ? null : supply * usd,
      liquidity_usd: valued.length === 0 ? null : valued.reduce((all, value) => all + value, 0),
      ...(isPartial && { unvalued_pools: pools.length - valued.length })
    }
  }

  activity(pool: string): Json {
    const known = this.#pools.get(pool)
    const events = this.story.filter((told) => told.pool === pool)
    const minutes = [...Map.groupBy(events, ({ block }) => Math.floor(block.blockTime / 60) * 60)]
    const isCashless = known === undefined || known.mints.length === 2
    const from = known?.first.cursor ?? Infinity
    const data = minutes.map(([ts, told]) => {
      const rows = this.rows.filter((row) => row.isFirst && told.some((each) => each.cursor === row.cursor))
      const cash = sum(rows.map((row) => row.cashRaw))
      const token = sum(rows.map((row) => (row.mint === known?.base ? row.tokenRaw : row.trade.outAmount)))
      return {
        ts: stamp(ts),
        ts_ms: ts * 1000,
        events: told.length,
        trades: rows.length,
        buys: rows.filter(({ side }) => side === 'buy').length,
        sells: rows.filter(({ side }) => side === 'sell').length,
        volume_usd: volume(rows),
        volume_cash: isCashless ? null : cash === 0n ? 0 : this.#human(cash, known.quote, pool, from),
        volume_token: token === 0n ? 0 : this.#human(token, known!.base, pool, from),
        liquidity_events: told.filter(({ event }) => event.kind === 'liquidity').length,
        ...unpricedIn(rows)
      }
    })
    return {
      pool,
      venue: known?.first.event.venue ?? null,
      base_mint: known?.base ?? null,
      quote_mint: known?.quote ?? null,
      data: data.toReversed()
    }
  }

  #human(raw: bigint, mint: string, pool: string, from: number): number | null {
    const own = this.story.filter((told) => told.pool === pool && told.cursor >= from)
    const decimals = own.map((told) => decimalsIn(told, mint)).find((known) => known !== null)
    return decimals === undefined ? null : human(raw, decimals)
  }

  price(mint: string): Json | null {
    const last = this.#newest(mint)
    if (last === null) return null
    const day = this.#within(this.rowsOf(mint), 86_400)
    const ofPair = day.filter((row) => row.cash === last.cash)
    const { market_cap_usd, liquidity_usd, unvalued_pools: unvalued } = this.#value(mint)
    return {
      mint,
      price: last.price,
      price_native: last.price,
      price_usd: usdOf(last),
      cash_mint: last.cash,
      cash_symbol: symbolOf(last.cash!),
      venue: last.event.venue,
      pool: last.pool,
      slot: last.block.slot,
      signature: signatureOf(last),
      ts: stamp(last.block.blockTime),
      ts_ms: last.block.blockTime * 1000,
      age_seconds: this.headTime - last.block.blockTime,
      market_cap_usd,
      volume_24h_usd: volume(day),
      ...unpricedInDay(day),
      ...(unvalued !== undefined && { unvalued_pools: unvalued }),
      volume_24h_native: human(sum(ofPair.map((row) => row.cashRaw)), last.cashDecimals),
      liquidity_usd,
      price_change_24h_pct: this.#change(mint, 86_400),
      supply_slot: null,
      confidence: this.headTime - last.block.blockTime > 3600 ? 'stale' : 'trade'
    }
  }

  token(mint: string): Json | null {
    const told = this.#told.get(mint)
    if (told === undefined) return null
    const launch = this.#launches.get(mint)
    const curve = this.curve(mint)
    const rows = this.rowsOf(mint)
    const [last, newest] = [this.#newest(mint), rows.at(-1)]
    const decimals = told.map((each) => decimalsIn(each, mint)).find((known) => known !== null) ?? null
    const names = isCash(mint)
      ? { name: nameOf(mint), symbol: symbolOf(mint), uri: null }
      : { name: launch?.name ?? null, symbol: launch?.symbol ?? null, uri: launch?.uri ?? null }
    const { supply_raw, ...value } = this.#value(mint)
    const windows = { '5m': 300, '1h': 3600, '6h': 21_600, '24h': 86_400 }
    const day = this.#within(rows, windows['24h'])
    const lamports = sum(day.filter(({ cash }) => cash === CASH[0]).map((row) => row.cashRaw))
    return {
      mint,
      ...names,
      decimals,
      token_program: null,
      venue: launch?.venue ?? curve?.platform ?? null,
      creator: launch?.creator ?? curve?.creator ?? null,
      created_at: launch?.ts ?? curve?.created_at ?? null,
      metadata: {
        mint,
        ...names,
        decimals,
        supply: value.supply,
        supply_raw,
        // Without a node its accounts are unknown.
        ...ACCOUNT_STATE,
        off_chain: null,
        name_source: isCash(mint) ? 'cash-list' : launch === undefined ? null : 'launch'
      },
      status:
        launch?.status ??
        (curve?.status === 'graduated' ? 'graduated' : rows.length > 0 ? 'trading' : 'created'),
      price: last?.price ?? null,
      price_usd: last === null ? null : usdOf(last),
      cash_mint: last?.cash ?? null,
      price_ts: last === null ? null : stamp(last.block.blockTime),
      price_slot: last?.block.slot ?? null,
      price_venue: last?.event.venue ?? null,
      ...value,
      supply_slot: null,
      liquidity_slot: null,
      volume_24h_usd: volume(day),
      ...unpricedInDay(day),
      volume_24h_sol: human(lamports, 9),
      trades_24h: day.length,
      buys_24h: day.filter(({ side }) => side === 'buy').length,
      sells_24h: day.filter(({ side }) => side === 'sell').length,
      traders_24h: new Set(day.map(({ user }) => user)).size,
      price_change_1h_pct: this.#change(mint, windows['1h']),
      price_change_24h_pct: this.#change(mint, windows['24h']),
      windows: Object.fromEntries(
        Object.entries(windows).map(([name, seconds]) => [name, this.#window(mint, seconds)])
      ),
      holders: { count: null, top10_pct: null, top10_adjusted_pct: null, updated_at: null },
      bonding_curve: curve === null ? null : { ...curve, state_reason: null },
      pools_count: this.poolsOf(mint).length,
      last_trade:
        newest === undefined
          ? null
          : {
              ts: stamp(newest.block.blockTime),
              ts_ms: newest.block.blockTime * 1000,
              slot: newest.block.slot,
              signature: signatureOf(newest)
            }
    }
  }

  #window(mint: string, seconds: number): Json {
    const rows = this.#within(this.rowsOf(mint), seconds)
    const bought = rows.filter(({ side }) => side === 'buy')
    const sold = rows.filter(({ side }) => side === 'sell')
    const isUnknown = volume(rows) === null
    return {
      volume_usd: volume(rows),
      ...unpricedIn(rows),
      trades: rows.length,
      buys: bought.length,
      sells: sold.length,
      buy_usd: isUnknown ? null : (volume(bought) ?? 0),
      sell_usd: isUnknown ? null : (volume(sold) ?? 0),
      traders: new Set(rows.map(({ user }) => user)).size,
      price_change_pct: this.#change(mint, seconds)
    }
  }

  #newest(mint: string): Listed | null {
    return this.rowsOf(mint).findLast(({ forming }) => forming) ?? null
  }

  #from(seconds: number): number {
    return Math.floor(this.headTime / 60) * 60 + 60 - seconds
  }

  #within(rows: readonly Listed[], seconds: number): Listed[] {
    return rows.filter(({ block }) => block.blockTime >= this.#from(seconds))
  }

  #change(mint: string, seconds: number): number | null {
    const forming = this.rowsOf(mint).filter((row) => row.forming)
    const before = forming.findLast(({ block }) => block.blockTime < this.#from(seconds))
    const [start, end] = [before ?? forming[0], forming.at(-1)].map((row) =>
      row === undefined ? null : usdOf(row)
    )
    return start == null || end == null ? null : ((end - start) / start) * 100
  }
}
