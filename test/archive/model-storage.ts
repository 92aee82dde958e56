import type { BlockCommit, Storage } from '../../storage/port.ts'
import { StorageModel } from '../../storage/test/model.ts'

/** The reads of the market in a store. */
export type MarketReads = Pick<
  Storage,
  | 'trades'
  | 'poolEvents'
  | 'candles'
  | 'pairs'
  | 'tokens'
  | 'curves'
  | 'pools'
  | 'launches'
  | 'activity'
  | 'blocks'
>

/** A store that answers from the model, and counts its reads. */
export interface ModelStorage {
  readonly storage: Storage
  readonly model: StorageModel
  /** Reads since the last call. */
  readsSince(): number
}

/** Returns a store with some blocks, in memory. */
export function modelStorage(blocks: readonly BlockCommit[]): ModelStorage {
  const model = new StorageModel()
  for (const block of blocks) model.commit(block)
  let reads = 0
  const read = async <T>(answer: () => T): Promise<T> => {
    reads++
    return answer()
  }
  const storage: MarketReads = {
    trades: {
      ofMint: (mint, page) => read(() => model.trades(mint, page)),
      ofWallet: (wallet, page) => read(() => model.walletTrades(wallet, page))
    },
    poolEvents: { ofPool: (pool, page) => read(() => model.poolEvents(pool, page)) },
    candles: {
      get: (address) => read(() => model.get('candles', address)),
      range: (mint, cash, interval, range) => read(() => model.candles(mint, cash, interval, range))
    },
    pairs: {
      get: (address) => read(() => model.get('pairs', address)),
      ofMint: (mint) => read(() => model.pairs(mint)),
      ofMints: (mints) => read(() => mints.map((mint) => model.pairs(mint)))
    },
    tokens: {
      get: (mint) => read(() => model.get('tokens', mint)),
      list: ({ after, limit }) =>
        read(() =>
          model
            .tokens()
            .filter(({ mint }) => after === undefined || Buffer.compare(mint, after) > 0)
            .toSorted((one, other) => Buffer.compare(one.mint, other.mint))
            .slice(0, limit)
        ),
      compare: (one, other) => Buffer.compare(one, other)
    },
    curves: { get: (mint) => read(() => model.get('curves', mint)) },
    pools: {
      get: (pool) => read(() => model.get('pools', pool)),
      ofMint: (mint, page) => read(() => model.pools(mint, page)),
      ofVaultOwner: (owner) => read(() => model.poolOfVaultOwner(owner))
    },
    launches: {
      get: (mint) => read(() => model.get('launches', mint)),
      page: (page) => read(() => model.launches(page))
    },
    activity: {
      get: (address) => read(() => model.get('activity', address)),
      range: (of, owner, range) => read(() => model.activity(of, owner, range)),
      mintsOfHour: (hour) => read(() => model.mintsOfHour(hour))
    },
    blocks: { firstSince: (time: number) => read(() => model.firstSince(time)) } as Storage['blocks']
  }
  return {
    // The view of the market reads only this.
    storage: storage as Storage,
    model,
    readsSince: () => {
      const counted = reads
      reads = 0
      return counted
    }
  }
}
