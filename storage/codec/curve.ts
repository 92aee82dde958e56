import type { CurveReserves } from '../../src/chain/events.ts'
import type { CurveRow } from '../../src/market/registry-rows.ts'
import type { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'
import { curveStatusCodes, venueCodes } from './codes.ts'
import {
  added,
  ADDRESS_OF_KEY,
  AMOUNT,
  coded,
  COUNT,
  fields,
  fixed,
  FLOAT,
  OFFSET,
  optional,
  OPTIONAL_COUNT
} from './fields.ts'
import type { RecordKind } from './record.ts'

const ADDRESS = fixed(32)

/** A mint's bonding curve after its newest event. The mint is in the key. */
export const curveKind: RecordKind<CurveRow> = {
  name: 'bonding curve',
  ...fields<CurveRow>({
    mint: ADDRESS_OF_KEY,
    platform: coded(venueCodes),
    curve: ADDRESS,
    quote: optional(ADDRESS),
    decimals: OPTIONAL_COUNT,
    quoteDecimals: OPTIONAL_COUNT,
    status: coded(curveStatusCodes),
    progressPct: optional(FLOAT),
    reserves: { write: writeReserves, read: readReserves },
    targetQuote: optional(AMOUNT),
    price: optional(FLOAT),
    cashUsd: optional(FLOAT),
    creator: optional(ADDRESS),
    created: optional(fields({ slot: COUNT, blockTime: OFFSET })),
    graduated: optional(
      fields({ slot: COUNT, blockTime: OFFSET, signature: fixed(64), pool: optional(ADDRESS) })
    ),
    cursor: COUNT,
    slot: COUNT,
    blockTime: OFFSET,
    forSale: added(optional(AMOUNT), null)
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
