import type { TokenRow } from '../../src/market/registry-rows.ts'
import type { TokenStore } from '../port.ts'
import type { Database } from './database.ts'
import { addressIn, tokenKey } from './keys.ts'
import type { RecordKind } from './record.ts'
import type { WriteBatch } from './write-batch.ts'

const tokenKind: RecordKind<TokenRow> = {
  name: 'token',
  write(out, row) {
    out.optionalCount(row.decimals)
    out.count(row.firstCursor)
    out.offset(row.firstTime)
    out.count(row.trades)
    out.count(row.pools)
    out.optionalFloat(row.lastUsd)
    out.byte(row.lastTrade === null ? 0 : 1)
    if (row.lastTrade === null) return
    out.count(row.lastTrade.cursor)
    out.count(row.lastTrade.slot)
    out.offset(row.lastTrade.blockTime)
    out.fixed(row.lastTrade.signature, 64)
  },
  read: (source, key) => ({
    mint: addressIn(key),
    decimals: source.optionalCount(),
    firstCursor: source.count(),
    firstTime: source.offset(),
    trades: source.count(),
    pools: source.count(),
    lastUsd: source.optionalFloat(),
    lastTrade:
      source.byte() === 0
        ? null
        : {
            cursor: source.count(),
            slot: source.count(),
            blockTime: source.offset(),
            signature: source.fixed(64)
          }
  }),
  weigh: () => 600
}

export function tokenStore(database: Database): TokenStore {
  return { get: (mint) => database.read((view) => view.get(tokenKind, tokenKey(mint))) }
}

export function stageTokens(batch: WriteBatch, tokens: readonly TokenRow[]): void {
  for (const token of tokens) batch.put(tokenKind, tokenKey(token.mint), token)
}
