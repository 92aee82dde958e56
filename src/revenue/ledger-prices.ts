import { pubkeyFromBase58, type Pubkey } from '../chain/pubkey.ts'
import { WSOL, type CashList } from '../market/cash.ts'
import { priceUsd } from '../market/cash-price.ts'
import { newestPair, type PricedPair } from '../market/latest-price.ts'
import type { PairRow } from '../market/rows.ts'
import { solPriceAt } from '../market/sol-usd.ts'
import type { Storage } from '../../storage/port.ts'

const MINUTE = 60
/** Maximum age of the trade that a price comes from, in seconds: a day. An older price says little about a value. */
const AGE_MAX = 86_400

function setPrice(prices: Map<string, number>, mint: string, usd: number | null): void {
  if (usd !== null) prices.set(mint, usd)
}

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
    const tokens: { readonly text: string; readonly mint: Pubkey }[] = []
    for (const text of new Set(mints)) {
      const mint = pubkeyFromBase58(text)
      if (text === WSOL) setPrice(prices, text, await this.#sol(blockTime))
      else if (this.#cash.of(mint)?.pegged === true) prices.set(text, 1)
      else tokens.push({ text, mint })
    }
    if (tokens.length === 0) return prices
    const pairs = await this.#storage.pairs.ofMints(tokens.map(({ mint }) => mint))
    for (const [place, { text }] of tokens.entries()) {
      const pair = newestPair(pairs[place]!)
      if (pair !== null) setPrice(prices, text, await this.#token(pair, blockTime))
    }
    return prices
  }

  async #sol(blockTime: number): Promise<number | null> {
    const price = await this.#storage.solPrices.atOrBefore(blockTime - (blockTime % MINUTE))
    return solPriceAt(price, blockTime)?.usd ?? null
  }

  #token(pair: PricedPair, blockTime: number): number | null | Promise<number | null> {
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
