import { pubkeyMapKey } from '../chain/pubkey.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import type { ActivityHour } from './activity-rows.ts'
import type { CandleAddress, HourAddress, Loaded, Missing } from './missing.ts'
import { pairKey } from './pairs.ts'
import type { CurveRow, PoolRow, TokenRow } from './registry-rows.ts'
import type { BlockRows, Candle, LaunchRow, PairRow } from './rows.ts'
import type { PairAddress } from './touched.ts'

/** Values by address, the addresses kept beside them; null says that there is none. */
export class RecordMap<Address, Value> {
  readonly #textOf: (address: Address) => string
  readonly #entries = new Map<string, { readonly address: Address; value: Value | null }>()

  constructor(textOf: (address: Address) => string) {
    this.#textOf = textOf
  }

  /** Undefined where nothing is known. */
  get(address: Address): Value | null | undefined {
    return this.#entries.get(this.#textOf(address))?.value
  }

  set(address: Address, value: Value | null): void {
    const text = this.#textOf(address)
    const known = this.#entries.get(text)
    if (known === undefined) this.#entries.set(text, { address, value })
    else known.value = value
  }

  /** Of a known address nothing changes. */
  setFirst(address: Address, value: Value | null): void {
    if (!this.#entries.has(this.#textOf(address))) this.set(address, value)
  }

  /** In the order in which they were first set. */
  *[Symbol.iterator](): Iterator<[Address, Value | null]> {
    for (const { address, value } of this.#entries.values()) yield [address, value]
  }
}

/** All that is kept beside rows, as far as it is known, by address. */
export class MarketRecords {
  readonly pairs = new RecordMap<PairAddress, PairRow>(({ mint, cash }) => pairKey(mint, cash))
  readonly candles = new RecordMap<CandleAddress, Candle>(
    ({ mint, cash, interval, ts }) => `${pairKey(mint, cash)}${interval}${ts}`
  )
  readonly launches = new RecordMap<Pubkey, LaunchRow>(pubkeyMapKey)
  readonly tokens = new RecordMap<Pubkey, TokenRow>(pubkeyMapKey)
  readonly pools = new RecordMap<Pubkey, PoolRow>(pubkeyMapKey)
  readonly curves = new RecordMap<Pubkey, CurveRow>(pubkeyMapKey)
  readonly hours = new RecordMap<HourAddress, ActivityHour>(
    ({ of, owner, hour }) => `${of}${pubkeyMapKey(owner)}${hour}`
  )

  /** Takes what a block changes. */
  take(block: BlockRows): void {
    for (const row of block.pairs) this.pairs.set(row, row)
    for (const { mint, cash, interval, candle } of block.candles)
      this.candles.set({ mint, cash, interval, ts: candle.ts }, candle)
    for (const row of block.launches) this.launches.set(row.mint, row)
    for (const row of block.tokens) this.tokens.set(row.mint, row)
    for (const row of block.pools) this.pools.set(row.pool, row)
    for (const row of block.curves) this.curves.set(row.mint, row)
    for (const row of block.activity) this.hours.set(row, row)
  }

  /** Takes values at addresses of which nothing is known. */
  takeFirst(values: Loaded): void {
    for (const { row, ...at } of values.pairs) this.pairs.setFirst(at, row)
    for (const { candle, ...at } of values.candles) this.candles.setFirst(at, candle)
    for (const { mint, launch } of values.launches) this.launches.setFirst(mint, launch)
    for (const { mint, token } of values.tokens) this.tokens.setFirst(mint, token)
    for (const { pool, row } of values.pools) this.pools.setFirst(pool, row)
    for (const { mint, curve } of values.curves) this.curves.setFirst(mint, curve)
    for (const { activity, ...at } of values.hours) this.hours.setFirst(at, activity)
  }

  /** What of the missing is not known here. */
  unknownOf(missing: Missing): Missing {
    const unknown = <Address>(addresses: readonly Address[], map: RecordMap<Address, unknown>): Address[] =>
      addresses.filter((address) => map.get(address) === undefined)
    return {
      pairs: unknown(missing.pairs, this.pairs),
      candles: unknown(missing.candles, this.candles),
      launches: unknown(missing.launches, this.launches),
      tokens: unknown(missing.tokens, this.tokens),
      pools: unknown(missing.pools, this.pools),
      curves: unknown(missing.curves, this.curves),
      hours: unknown(missing.hours, this.hours)
    }
  }

  /** The values of the missing that are known here, those that are not left out. */
  knownOf(missing: Missing): Loaded {
    const known = <Address, Value, Entry>(
      addresses: readonly Address[],
      map: RecordMap<Address, Value>,
      entry: (address: Address, value: Value | null) => Entry
    ): Entry[] =>
      addresses.flatMap((address) => {
        const value = map.get(address)
        return value === undefined ? [] : [entry(address, value)]
      })
    return {
      pairs: known(missing.pairs, this.pairs, (at, row) => ({ ...at, row })),
      candles: known(missing.candles, this.candles, (at, candle) => ({ ...at, candle })),
      launches: known(missing.launches, this.launches, (mint, launch) => ({ mint, launch })),
      tokens: known(missing.tokens, this.tokens, (mint, token) => ({ mint, token })),
      pools: known(missing.pools, this.pools, (pool, row) => ({ pool, row })),
      curves: known(missing.curves, this.curves, (mint, curve) => ({ mint, curve })),
      hours: known(missing.hours, this.hours, (at, activity) => ({ ...at, activity }))
    }
  }
}
