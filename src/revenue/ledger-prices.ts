import { pubkeyFromBase58 } from '../chain/pubkey.ts'
import { WSOL, type CashList } from '../market/cash.ts'
import { priceUsd } from '../market/cash-price.ts'
import { newestPair } from '../market/latest-price.ts'
import type { PairRow } from '../market/rows.ts'
import { solPriceAt } from '../market/sol-usd.ts'
import type { Storage } from '../../storage/port.ts'

const MINUTE = 60
/** Maximum age of the trade that a price comes from, in seconds: a day. An older price says little about a value. */
const AGE_MAX = 86_400

/** Prices of tokens at the time of a block, from the stored market. */
export class LedgerPrices {
  readonly #storage: Pick<Storage, 'pairs' | 'candles' | 'solPrices'>
  readonly #cash: CashList

  constructor(storage: Pick<Storage, 'pairs' | 'candles' | 'solPrices'>, cash: CashList) {
    this.#storage = storage
    this.#cash = cash
  }

  /** Reads the USD price of one unit of each mint (base58) at a time; mints without a price are absent. */
  async at(mints: Iterable<string>, blockTime: number): Promise<ReadonlyMap<string, number>> {
    const prices = new Map<string, number>()
    await Promise.all(
      [...new Set(mints)].map(async (mint) => {
        const usd = mint === WSOL ? await this.#sol(blockTime) : await this.#token(mint, blockTime)
        if (usd !== null) prices.set(mint, usd)
      })
    )
    return prices
  }

  async #sol(blockTime: number): Promise<number | null> {
    const price = await this.#storage.solPrices.atOrBefore(blockTime - (blockTime % MINUTE))
    return solPriceAt(price, blockTime)?.usd ?? null
  }

  async #token(mint: string, blockTime: number): Promise<number | null> {
    const key = pubkeyFromBase58(mint)
    if (this.#cash.of(key)?.pegged === true) return 1
    const pair = newestPair(await this.#storage.pairs.ofMint(key))
    if (pair === null) return null
    if (pair.last.blockTime > blockTime) return this.#minute(pair, blockTime)
    return pair.last.blockTime >= blockTime - AGE_MAX ? priceUsd(pair.last) : null
  }

  /** Returns the price for a block that is older than later ones: that of the last minute with a trade. */
  async #minute({ mint, cash }: PairRow, blockTime: number): Promise<number | null> {
    const range = { from: blockTime - AGE_MAX, to: blockTime + 1, limit: 1 }
    const [candle] = await this.#storage.candles.range(mint, cash, '1m', range)
    return candle?.usd?.close ?? null
  }
}
