import { samePubkey } from '../../src/chain/pubkey.ts'
import { POSITIONS_PER_SLOT } from '../../src/market/cursor.ts'
import { legOf, otherSide, type Fill, type Side } from '../../src/market/legs.ts'
import { priceOf } from '../../src/market/price.ts'
import type { TradeRow } from '../../src/market/rows.ts'
import type { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'
import type { KeyTable } from './key-table.ts'
import { recentAddresses } from './recent-addresses.ts'
import { beforeOf, sameBytes, type RowBefore } from './row-origin.ts'

/** Bits of a row: its mints are exchanged; its signature, and its instruction, are those of the row before. */
const FLIPPED = 1
const SAME_SIGNATURE = 2
const SAME_INSTRUCTION = 4
const PRICE_FORMING = 8
/** The value of the cash differs from that of the row before, and follows. */
const CASH_USD = 16

const SHARED = ['program', 'pool', 'feePayer', 'mint', 'inMint', 'outMint'] as const

/** The fields of a trade that the bytes of the next one depend on. */
export type TradeBefore = RowBefore &
  Pick<
    TradeRow,
    | (typeof SHARED)[number]
    | 'venue'
    | 'commitment'
    | 'ixIndex'
    | 'innerIxIndex'
    | 'inDecimals'
    | 'outDecimals'
    | 'cashSide'
    | 'cashUsd'
    | 'unstated'
  >

/** Returns those fields without the buffers of the row. */
export function tradeBeforeOf(row: TradeRow): TradeBefore {
  const { venue, commitment, ixIndex, innerIxIndex, inDecimals, outDecimals, cashSide, cashUsd, unstated } =
    row
  const [program, pool, feePayer, mint, inMint, outMint] = SHARED.map((name) => recentAddresses.at(row[name]))
  return {
    ...beforeOf(row),
    ...{ venue, commitment, ixIndex, innerIxIndex, inDecimals, outDecimals, cashSide, cashUsd },
    ...{ program: program!, pool: pool!, feePayer: feePayer!, mint: mint! },
    ...{ inMint: inMint!, outMint: outMint! },
    ...(unstated !== undefined && { unstated })
  }
}

/** Returns the price of a trade's amounts; null if neither side is cash, or if no token moved. */
export const priceIn = (fill: Fill, cashSide: Side | null): number | null =>
  cashSide === null ? null : priceOf(legOf(fill, cashSide), legOf(fill, otherSide(cashSide)))

/** Returns whether a trade is of the pool and of the kind of the one before, so that few of its fields are written. */
export function isAlike(row: TradeRow, before: TradeBefore): boolean {
  return (
    row.cursor > before.cursor &&
    row.slot === Math.floor(row.cursor / POSITIONS_PER_SLOT) &&
    row.venue === before.venue &&
    row.commitment === before.commitment &&
    row.unstated === before.unstated &&
    row.traderIn === row.inAmount &&
    row.traderOut === row.outAmount &&
    row.exact === null &&
    row.fees.length === 0 &&
    row.reserves === null &&
    row.route === null &&
    row.statedCurve === undefined &&
    row.vaults === undefined &&
    (row.cashUsd !== null || before.cashUsd === null) &&
    isOfPair(row, before) &&
    [row.program, row.pool, row.feePayer, row.mint].every((key, at) =>
      samePubkey(key, [before.program, before.pool, before.feePayer, before.mint][at]!)
    ) &&
    row.price !== null &&
    Object.is(row.price, priceIn(row, row.cashSide))
  )
}

/** Returns whether a trade has the mints of the one before, in either direction. */
function isOfPair(row: TradeRow, before: TradeBefore): boolean {
  const way = wayOf(before, isFlipped(row, before))
  return (
    row.cashSide === way.cashSide &&
    row.inDecimals === way.inDecimals &&
    row.outDecimals === way.outDecimals &&
    samePubkey(row.inMint, way.inMint) &&
    samePubkey(row.outMint, way.outMint)
  )
}

const isFlipped = ({ inMint }: TradeRow, before: TradeBefore): boolean => !samePubkey(inMint, before.inMint)

function wayOf(
  { inMint, outMint, inDecimals, outDecimals, cashSide }: TradeBefore,
  isOther: boolean
): Pick<TradeBefore, 'inMint' | 'outMint' | 'inDecimals' | 'outDecimals' | 'cashSide'> {
  if (!isOther) return { inMint, outMint, inDecimals, outDecimals, cashSide }
  const side = cashSide === null ? null : otherSide(cashSide)
  const decimals = { inDecimals: outDecimals, outDecimals: inDecimals }
  return { inMint: outMint, outMint: inMint, ...decimals, cashSide: side }
}

/** Writes a trade that is like the one before. */
export function writeAlike(out: ByteWriter, row: TradeRow, before: TradeBefore, keys: KeyTable): void {
  const isSameSignature = sameBytes(row.signature, before.signature)
  const isSameInstruction = row.ixIndex === before.ixIndex && row.innerIxIndex === before.innerIxIndex
  const isSameCash = Object.is(row.cashUsd, before.cashUsd)
  out.byte(
    (isFlipped(row, before) ? FLIPPED : 0) |
      (isSameSignature ? SAME_SIGNATURE : 0) |
      (isSameInstruction ? SAME_INSTRUCTION : 0) |
      (row.priceForming ? PRICE_FORMING : 0) |
      (isSameCash ? 0 : CASH_USD)
  )
  out.count(row.cursor - before.cursor)
  out.offset(row.blockTime - before.blockTime)
  if (!isSameSignature) out.fixed(row.signature, 64)
  out.count(row.txIndex)
  if (!isSameInstruction) {
    out.count(row.ixIndex)
    out.optionalCount(row.innerIxIndex)
  }
  keys.write(out, row.user)
  out.amount(row.inAmount)
  out.amount(row.outAmount)
  if (!isSameCash) out.float(row.cashUsd!)
}

export function readAlike(source: ByteReader, before: TradeBefore, keys: KeyTable): TradeRow {
  const bits = source.byte()
  const cursor = before.cursor + source.count()
  const blockTime = before.blockTime + source.offset()
  const signature = bits & SAME_SIGNATURE ? before.signature : source.fixed(64)
  const txIndex = source.count()
  const isSameInstruction = (bits & SAME_INSTRUCTION) !== 0
  const ixIndex = isSameInstruction ? before.ixIndex : source.count()
  const innerIxIndex = isSameInstruction ? before.innerIxIndex : source.optionalCount()
  const user = keys.read(source)
  const way = wayOf(before, (bits & FLIPPED) !== 0)
  const [inAmount, outAmount] = [source.amount(), source.amount()]
  const { venue, commitment, program, pool, feePayer, mint, unstated } = before
  return {
    ...{ cursor, slot: Math.floor(cursor / POSITIONS_PER_SLOT), blockTime, signature },
    ...{ txIndex, ixIndex, innerIxIndex, venue, commitment, program, pool, user, feePayer, mint },
    ...{ ...way, inAmount, outAmount, traderIn: inAmount, traderOut: outAmount },
    ...{ fees: [], reserves: null, exact: null, route: null },
    price: priceIn({ ...way, inAmount, outAmount }, way.cashSide),
    cashUsd: bits & CASH_USD ? source.float() : before.cashUsd,
    priceForming: (bits & PRICE_FORMING) !== 0,
    ...(unstated !== undefined && { unstated })
  }
}
