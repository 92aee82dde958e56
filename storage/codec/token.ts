import type { TokenRow } from '../../src/market/registry-rows.ts'
import { addressIn } from './keys.ts'
import type { RecordKind } from './record.ts'
import { readUsdPrice, writeUsdPrice } from './usd-price.ts'

const HOUR = 3_600

/** A token's registry row. The mint is in the key. */
export const tokenKind: RecordKind<TokenRow> = {
  name: 'token',
  write(out, row) {
    out.optionalCount(row.decimals)
    out.count(row.firstCursor)
    out.offset(row.firstTime)
    out.count(row.trades)
    out.count(row.pools)
    writeUsdPrice(out, row.lastUsd)
    out.byte(row.lastTrade === null ? 0 : 1)
    if (row.lastTrade !== null) {
      out.count(row.lastTrade.cursor)
      out.count(row.lastTrade.slot)
      out.offset(row.lastTrade.blockTime)
      out.fixed(row.lastTrade.signature, 64)
    }
    if (row.activeHours === undefined) return
    out.offset(row.activeHours.from / HOUR)
    out.offset(row.activeHours.newest / HOUR)
    out.count(row.activeHours.bits)
  },
  read: (source, key) => ({
    mint: addressIn(key),
    decimals: source.optionalCount(),
    firstCursor: source.count(),
    firstTime: source.offset(),
    trades: source.count(),
    pools: source.count(),
    lastUsd: readUsdPrice(source),
    lastTrade:
      source.byte() === 0
        ? null
        : {
            cursor: source.count(),
            slot: source.count(),
            blockTime: source.offset(),
            signature: source.fixed(64)
          },
    // Records of earlier versions end here.
    ...(source.atEnd
      ? {}
      : {
          activeHours: {
            from: source.offset() * HOUR,
            newest: source.offset() * HOUR,
            bits: source.count()
          }
        })
  }),
  weigh: () => 600
}
