import type { TradeReserves, TradeVaults } from '../../src/chain/events.ts'
import { POSITIONS_PER_SLOT } from '../../src/market/cursor.ts'
import type { TradeRow } from '../../src/market/rows.ts'
import type { TradeSection } from '../port.ts'
import { isAlike, priceIn, readAlike, tradeBeforeOf, writeAlike, type TradeBefore } from './alike-trade.ts'
import type { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'
import { commitmentCodes, venueCodes } from './codes.ts'
import type { KeyTable } from './key-table.ts'
import { writeRowOrigin } from './row-origin.ts'
import type { RowCodec } from './row-origin.ts'
import { readFees, readStatedCurve, skipFees, writeFees, writeStatedCurve } from './trade-details.ts'

/** Bits of a row's flags: the fields that are present, and the small closed choices. */
const EXACT_IN = 1
const EXACT_OUT = 2
const CASH_IN = 4
const CASH_OUT = 8
const PRICE = 16
const CASH_USD = 32
const PRICE_FORMING = 64
const RESERVES = 128
const RESERVE_IN = 256
const RESERVE_OUT = 512
const VIRTUAL_IN = 1024
const VIRTUAL_OUT = 2048
const BOTH_RESERVES = RESERVE_IN | RESERVE_OUT
const ALL_RESERVES = BOTH_RESERVES | VIRTUAL_IN | VIRTUAL_OUT
const ROUTE = 4096
/** Facts of a bonding curve; rows of older stores have none. */
const STATED_CURVE = 8192
/** The pool's vaults that the trade named first; rows of older stores have none. */
const VAULT_IN = 16_384
const VAULT_OUT = 32_768
/** Facts that the file of an imported trade lacks. */
const UNSTATED_FACTS = 65_536
/** Only in compact rows: the value of the cash is that of the row before. */
const SAME_CASH_USD = 131_072
/** The trader's amounts are those of the trade. */
const SAME_AMOUNTS = 262_144
/** The price is that of the amounts, which are exact. */
const PRICE_OF_AMOUNTS = 524_288
const SIGNATURE_BYTES = 64
const RARE_FACTS = STATED_CURVE | VAULT_IN | VAULT_OUT | UNSTATED_FACTS

/** Begins a row that is like the one before (`alike-trade.ts`). Other rows begin with the distance of their cursors. */
const ALIKE = 0

/** Bits of the sections of a trade that a reader does not use. */
const UNUSED = { signature: 1, traderAmounts: 2, details: 4 } as const satisfies Record<TradeSection, number>
const NO_SIGNATURE = new Uint8Array(0)

/** Returns the bits of unused sections for `tradeCodec.read`. */
export function unusedBits(unused: ReadonlySet<TradeSection> | undefined): number {
  let bits = 0
  if (unused !== undefined) for (const section of unused) bits |= UNUSED[section]
  return bits
}

type TradeCodec = RowCodec<TradeRow, TradeBefore>

/** Trades of a page: the shared fields relative to the previous row, addresses by number in the page's table. */
export const tradeCodec: TradeCodec = {
  write(out, row, before, keys) {
    writeTrade(out, row, before, keys, flagsOf(row))
  },

  read: readTrade,

  beforeOf: tradeBeforeOf
}

/**
 * Trades of a page without what follows from other fields, for archives: a sixth less, at the cost of a division when a row is read.
 * Each codec reads the rows of both.
 */
export const compactTradeCodec: TradeCodec = {
  ...tradeCodec,
  write(out, row, before, keys) {
    if (before !== null && isAlike(row, before)) {
      out.byte(ALIKE)
      writeAlike(out, row, before, keys)
    } else writeTrade(out, row, before, keys, flagsOf(row) | impliedIn(row, before))
  }
}

function writeTrade(
  out: ByteWriter,
  row: TradeRow,
  before: TradeBefore | null,
  keys: KeyTable,
  flags: number
): void {
  writeRowOrigin(out, row, before, keys)
  out.count(flags)
  keys.write(out, row.mint)
  keys.write(out, row.inMint)
  keys.write(out, row.outMint)
  out.count(row.inDecimals)
  out.count(row.outDecimals)
  out.amount(row.inAmount)
  out.amount(row.outAmount)
  if (!(flags & SAME_AMOUNTS)) {
    out.amount(row.traderIn)
    out.amount(row.traderOut)
  }
  writeFees(out, row.fees, keys)
  if (row.reserves !== null) writeReserves(out, row.reserves)
  if (row.price !== null && !(flags & PRICE_OF_AMOUNTS)) out.float(row.price)
  if (row.cashUsd !== null && !(flags & SAME_CASH_USD)) out.float(row.cashUsd)
  if (row.route !== null) {
    keys.write(out, row.route.program)
    out.count(row.route.ixIndex)
    out.count(row.route.hop)
    out.count(row.route.hops)
  }
  if (row.statedCurve !== undefined) writeStatedCurve(out, row.statedCurve)
  if (row.vaults?.in != null) keys.write(out, row.vaults.in)
  if (row.vaults?.out != null) keys.write(out, row.vaults.out)
  if (row.unstated !== undefined) out.count(row.unstated)
}

function readTrade(source: ByteReader, before: TradeBefore | null, keys: KeyTable, unused = 0): TradeRow {
  const step = source.count()
  if (step === ALIKE && before !== null) return readAlike(source, before, keys)
  // The fields of `readRowOrigin` again: to spread its object into the row takes a third of the time of reading one.
  const cursor = step + (before?.cursor ?? 0)
  const slot = source.offset() + Math.floor(cursor / POSITIONS_PER_SLOT)
  const blockTime = source.offset() + (before?.blockTime ?? 0)
  const signature =
    source.byte() === 1 && before !== null
      ? before.signature
      : unused & UNUSED.signature
        ? unread(source)
        : source.fixed(SIGNATURE_BYTES)
  const txIndex = source.count()
  const ixIndex = source.count()
  const innerIxIndex = source.optionalCount()
  const venue = venueCodes.wordOf(source.byte())
  const commitment = commitmentCodes.wordOf(source.byte())
  const program = keys.read(source)
  const pool = keys.read(source)
  const user = keys.read(source)
  const feePayer = keys.read(source)
  const flags = source.count()
  const mint = keys.read(source)
  const inMint = keys.read(source)
  const outMint = keys.read(source)
  const inDecimals = source.count()
  const outDecimals = source.count()
  const inAmount = source.amount()
  const outAmount = source.amount()
  const cashSide = flags & CASH_IN ? 'in' : flags & CASH_OUT ? 'out' : null
  const isTraderRead = (unused & UNUSED.traderAmounts) === 0
  const areDetailsRead = (unused & UNUSED.details) === 0
  const row: TradeRow = {
    cursor,
    slot,
    blockTime,
    signature,
    txIndex,
    ixIndex,
    innerIxIndex,
    venue,
    commitment,
    program,
    pool,
    user,
    feePayer,
    mint,
    inMint,
    outMint,
    inDecimals,
    outDecimals,
    inAmount,
    outAmount,
    traderIn: flags & SAME_AMOUNTS ? inAmount : isTraderRead ? source.amount() : skipped(source),
    traderOut: flags & SAME_AMOUNTS ? outAmount : isTraderRead ? source.amount() : skipped(source),
    fees: areDetailsRead ? readFees(source, keys) : skipFees(source, keys),
    reserves:
      (flags & RESERVES) === 0
        ? null
        : areDetailsRead
          ? readReserves(source, flags)
          : skipReserves(source, flags),
    exact: flags & EXACT_IN ? 'in' : flags & EXACT_OUT ? 'out' : null,
    cashSide,
    price:
      flags & PRICE_OF_AMOUNTS
        ? priceIn({ inMint, outMint, inDecimals, outDecimals, inAmount, outAmount }, cashSide)
        : flags & PRICE
          ? source.float()
          : null,
    cashUsd: flags & SAME_CASH_USD ? before!.cashUsd : flags & CASH_USD ? source.float() : null,
    priceForming: (flags & PRICE_FORMING) !== 0,
    route:
      flags & ROUTE
        ? {
            program: keys.read(source),
            ixIndex: source.count(),
            hop: source.count(),
            hops: source.count()
          }
        : null
  }
  if ((flags & RARE_FACTS) === 0) return row
  return {
    ...row,
    ...(flags & STATED_CURVE ? { statedCurve: readStatedCurve(source) } : {}),
    ...(flags & (VAULT_IN | VAULT_OUT) ? { vaults: readVaults(source, flags, keys) } : {}),
    ...(flags & UNSTATED_FACTS ? { unstated: source.count() } : {})
  }
}

/** Returns the flags of the fields that follow from others. */
function impliedIn(row: TradeRow, before: TradeBefore | null): number {
  let flags = 0
  if (row.traderIn === row.inAmount && row.traderOut === row.outAmount) flags |= SAME_AMOUNTS
  if (row.cashUsd !== null && Object.is(row.cashUsd, before?.cashUsd)) flags |= SAME_CASH_USD
  if (row.price !== null && Object.is(row.price, priceIn(row, row.cashSide))) flags |= PRICE_OF_AMOUNTS
  return flags
}

function flagsOf(row: TradeRow): number {
  let flags = 0
  if (row.exact !== null) flags |= row.exact === 'in' ? EXACT_IN : EXACT_OUT
  if (row.cashSide !== null) flags |= row.cashSide === 'in' ? CASH_IN : CASH_OUT
  if (row.price !== null) flags |= PRICE
  if (row.cashUsd !== null) flags |= CASH_USD
  if (row.priceForming) flags |= PRICE_FORMING
  if (row.reserves !== null) flags |= RESERVES
  if (row.reserves?.in !== undefined) flags |= RESERVE_IN
  if (row.reserves?.out !== undefined) flags |= RESERVE_OUT
  if (row.reserves?.virtualIn !== undefined) flags |= VIRTUAL_IN
  if (row.reserves?.virtualOut !== undefined) flags |= VIRTUAL_OUT
  if (row.route !== null) flags |= ROUTE
  if (row.statedCurve !== undefined) flags |= STATED_CURVE
  if (row.vaults?.in != null) flags |= VAULT_IN
  if (row.vaults?.out != null) flags |= VAULT_OUT
  if (row.unstated !== undefined) flags |= UNSTATED_FACTS
  return flags
}

function readVaults(source: ByteReader, flags: number, keys: KeyTable): TradeVaults {
  return {
    in: flags & VAULT_IN ? keys.read(source) : null,
    out: flags & VAULT_OUT ? keys.read(source) : null
  }
}

function writeReserves(out: ByteWriter, reserves: TradeReserves): void {
  if (reserves.in !== undefined) out.amount(reserves.in)
  if (reserves.out !== undefined) out.amount(reserves.out)
  if (reserves.virtualIn !== undefined) out.amount(reserves.virtualIn)
  if (reserves.virtualOut !== undefined) out.amount(reserves.virtualOut)
}

function readReserves(source: ByteReader, flags: number): TradeReserves {
  const stated = flags & ALL_RESERVES
  if (stated === BOTH_RESERVES) return { in: source.amount(), out: source.amount() }
  if (stated === ALL_RESERVES)
    return {
      in: source.amount(),
      out: source.amount(),
      virtualIn: source.amount(),
      virtualOut: source.amount()
    }
  return {
    ...(flags & RESERVE_IN ? { in: source.amount() } : {}),
    ...(flags & RESERVE_OUT ? { out: source.amount() } : {}),
    ...(flags & VIRTUAL_IN ? { virtualIn: source.amount() } : {}),
    ...(flags & VIRTUAL_OUT ? { virtualOut: source.amount() } : {})
  }
}

function skipReserves(source: ByteReader, flags: number): null {
  for (let bit = RESERVE_IN; bit <= VIRTUAL_OUT; bit *= 2) if (flags & bit) source.skipAmount()
  return null
}

function skipped(source: ByteReader): bigint {
  source.skipAmount()
  return 0n
}

function unread(source: ByteReader): Uint8Array {
  source.skip(SIGNATURE_BYTES)
  return NO_SIGNATURE
}
