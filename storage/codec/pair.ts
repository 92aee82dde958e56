import { pubkeyMapKey } from '../../src/chain/pubkey.ts'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { LastPrice, PairRow } from '../../src/market/rows.ts'
import type { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'
import { venueCodes } from './codes.ts'
import { addressIn } from './keys.ts'
import { recentAddresses } from './recent-addresses.ts'
import type { RecordKind } from './record.ts'

/** All pairs of a mint. */
export const pairsKind: RecordKind<readonly PairRow[]> = {
  name: 'pairs',
  write(out, pairs) {
    for (const pair of pairs) {
      out.fixed(pair.cash, 32)
      out.count(pair.decimals)
      out.count(pair.cashDecimals)
      writeFloats(out, pair.recent)
      writeFloats(out, pair.excluded)
      out.byte(pair.last === null ? 0 : 1)
      if (pair.last !== null) writeLastPrice(out, pair.last)
    }
  },
  read(source, key) {
    const mint = addressIn(key)
    const pairs: PairRow[] = []
    while (!source.atEnd)
      pairs.push({
        mint,
        cash: source.fixed(32),
        decimals: source.count(),
        cashDecimals: source.count(),
        recent: readFloats(source),
        excluded: readFloats(source),
        last: source.byte() === 0 ? null : readLastPrice(source)
      })
    return pairs
  },
  weigh: (pairs) =>
    pairs.reduce((sum, pair) => sum + 800 + 8 * (pair.recent.length + pair.excluded.length), 0)
}

/** Returns the stored pairs with those of the same cash replaced; new ones are appended. */
export function mergedPairs(stored: readonly PairRow[], pairs: readonly PairRow[]): PairRow[] {
  const byCash = new Map<string, PairRow>()
  const cashOf = ({ cash }: { readonly cash: Pubkey }): string => pubkeyMapKey(cash)
  for (const pair of [...stored, ...pairs]) byCash.set(cashOf(pair), pair)
  return [...byCash.values()]
}

/** Returns a copy that references no buffer of its block. */
export function ownPair(pair: PairRow): PairRow {
  const { last } = pair
  return {
    ...pair,
    mint: recentAddresses.at(pair.mint),
    cash: recentAddresses.at(pair.cash),
    last: last && { ...last, signature: last.signature.slice(), pool: recentAddresses.at(last.pool) }
  }
}

function writeFloats(out: ByteWriter, values: readonly number[]): void {
  out.count(values.length)
  for (const value of values) out.float(value)
}

function readFloats(source: ByteReader): number[] {
  const values: number[] = []
  for (let left = source.count(); left > 0; left--) values.push(source.float())
  return values
}

function writeLastPrice(out: ByteWriter, last: LastPrice): void {
  out.count(last.cursor)
  out.count(last.slot)
  out.offset(last.blockTime)
  out.fixed(last.signature, 64)
  out.byte(venueCodes.codeOf(last.venue))
  out.fixed(last.pool, 32)
  out.float(last.price)
  out.optionalFloat(last.cashUsd)
}

function readLastPrice(source: ByteReader): LastPrice {
  return {
    cursor: source.count(),
    slot: source.count(),
    blockTime: source.offset(),
    signature: source.fixed(64),
    venue: venueCodes.wordOf(source.byte()),
    pool: source.fixed(32),
    price: source.float(),
    cashUsd: source.optionalFloat()
  }
}
