import type { CurveReserves } from '../../src/chain/events.ts'
import type { CurveRow } from '../../src/market/registry-rows.ts'
import type { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'
import { curveStatusCodes, venueCodes } from './codes.ts'
import { addressIn } from './keys.ts'
import type { RecordKind } from './record.ts'

/** A mint's bonding curve after its newest event. The mint is in the key. */
export const curveKind: RecordKind<CurveRow> = {
  name: 'bonding curve',
  write(out, row) {
    out.byte(venueCodes.codeOf(row.platform))
    out.fixed(row.curve, 32)
    out.optionalFixed(row.quote, 32)
    out.optionalCount(row.decimals)
    out.optionalCount(row.quoteDecimals)
    out.byte(curveStatusCodes.codeOf(row.status))
    out.optionalFloat(row.progressPct)
    writeReserves(out, row.reserves)
    out.optionalAmount(row.targetQuote)
    out.optionalFloat(row.price)
    out.optionalFloat(row.cashUsd)
    out.optionalFixed(row.creator, 32)
    out.byte(row.created === null ? 0 : 1)
    if (row.created !== null) {
      out.count(row.created.slot)
      out.offset(row.created.blockTime)
    }
    out.byte(row.graduated === null ? 0 : 1)
    if (row.graduated !== null) writeGraduation(out, row.graduated)
    out.count(row.cursor)
    out.count(row.slot)
    out.offset(row.blockTime)
    out.optionalAmount(row.forSale)
  },
  read: (source, key) => ({
    mint: addressIn(key),
    platform: venueCodes.wordOf(source.byte()),
    curve: source.fixed(32),
    quote: source.optionalFixed(32),
    decimals: source.optionalCount(),
    quoteDecimals: source.optionalCount(),
    status: curveStatusCodes.wordOf(source.byte()),
    progressPct: source.optionalFloat(),
    reserves: readReserves(source),
    targetQuote: source.optionalAmount(),
    price: source.optionalFloat(),
    cashUsd: source.optionalFloat(),
    creator: source.optionalFixed(32),
    created: source.byte() === 0 ? null : { slot: source.count(), blockTime: source.offset() },
    graduated: source.byte() === 0 ? null : readGraduation(source),
    cursor: source.count(),
    slot: source.count(),
    blockTime: source.offset(),
    // A record of an older store ends before it.
    forSale: source.atEnd ? null : source.optionalAmount()
  }),
  weigh: () => 1_200
}

const RESERVES = ['realBase', 'realQuote', 'virtualBase', 'virtualQuote'] as const

function writeReserves(out: ByteWriter, reserves: CurveReserves): void {
  for (const name of RESERVES) out.optionalAmount(reserves[name])
}

function readReserves(source: ByteReader): CurveReserves {
  const reserves: { -readonly [name in keyof CurveReserves]: bigint } = {}
  for (const name of RESERVES) {
    const amount = source.optionalAmount()
    if (amount !== null) reserves[name] = amount
  }
  return reserves
}

type Graduation = NonNullable<CurveRow['graduated']>

function writeGraduation(out: ByteWriter, graduated: Graduation): void {
  out.count(graduated.slot)
  out.offset(graduated.blockTime)
  out.fixed(graduated.signature, 64)
  out.optionalFixed(graduated.pool, 32)
}

function readGraduation(source: ByteReader): Graduation {
  return {
    slot: source.count(),
    blockTime: source.offset(),
    signature: source.fixed(64),
    pool: source.optionalFixed(32)
  }
}
