import type { RouteLeg, TradeReserves } from '../../chain/events.ts'
import { ByteReader } from '../../../storage/codec/byte-reader.ts'
import { ByteWriter } from '../../../storage/codec/byte-writer.ts'
import { feeKindCodes, venueCodes } from '../../../storage/codec/codes.ts'
import { KeyTable } from '../../../storage/codec/key-table.ts'
import type { Fact } from '../../../storage/port.ts'
import type { FactDetails, FactLeg, TradeFact } from '../rows/trade-fact.ts'
import type { ArchivedRow } from './archived-row.ts'
import { sealedFact, unsealed } from './sealed.ts'

/** Maximum rows of a pack: they share a table of addresses, which is searched one by one. */
export const PACK_ROWS_MAX = 32

/** Bits of a row: the facts that are stated. */
const TIME = 1
const SLOT = 2
const PROGRAM = 4
const POOL = 8
const TRADER = 16
const SOL_USD = 32
const DETAILS = 64
/** Bits of the details. */
const CURSOR = 1
const FEE_PAYER = 2
const EXACT_IN = 4
const EXACT_OUT = 8
const ROUTE = 16
const RESERVES = 32
const CONFIRMED = 64
const PROCESSED = 128
const RESERVES_STATED = ['in', 'out', 'virtualIn', 'virtualOut'] as const

const scratch = new ByteWriter()

/** Packs rows of one position, at most PACK_ROWS_MAX: their slot, or their time if they state no slot. */
export function packRows(position: number, rows: readonly ArchivedRow[]): Fact {
  scratch.clear()
  const keys = new KeyTable()
  for (const row of rows) writeRow(scratch, row, keys)
  return sealedFact(position, scratch.take())
}

/** Returns the rows of a pack. Throws STORAGE_UNAVAILABLE for a damaged one. */
export function unpackRows(pack: Fact): ArchivedRow[] {
  const source = new ByteReader(unsealed(pack))
  const keys = new KeyTable()
  const rows: ArchivedRow[] = []
  while (!source.atEnd) rows.push(readRow(source, pack.position, keys))
  return rows
}

/** Returns the contents of a row as bytes in text, by which statements of one trade are compared. */
export function rowText(row: ArchivedRow): string {
  scratch.clear()
  writeRow(scratch, { ...row, line: 0 }, new KeyTable())
  return scratch.latin1()
}

function writeRow(out: ByteWriter, { fact, line }: ArchivedRow, keys: KeyTable): void {
  const { slot, blockTime, program, pool, trader, place, solUsd, details } = fact
  out.byte(
    (blockTime === null ? 0 : TIME) |
      (slot === null ? 0 : SLOT) |
      (program === null ? 0 : PROGRAM) |
      (pool === null ? 0 : POOL) |
      (trader === null ? 0 : TRADER) |
      (solUsd === null ? 0 : SOL_USD) |
      (details === null ? 0 : DETAILS)
  )
  out.count(line)
  if (blockTime !== null && slot !== null) out.count(blockTime)
  out.fixed(fact.signature, 64)
  out.byte(venueCodes.codeOf(fact.venue))
  if (program !== null) keys.write(out, program)
  if (pool !== null) keys.write(out, pool)
  if (trader !== null) keys.write(out, trader)
  for (const leg of [fact.in, fact.out]) {
    keys.write(out, leg.mint)
    out.amount(leg.amountRaw)
    out.optionalCount(leg.decimals)
  }
  out.optionalCount(place.txIndex)
  out.optionalCount(place.ixIndex)
  out.optionalCount(place.innerIxIndex)
  if (solUsd !== null) out.float(solUsd)
  if (details !== null) writeDetails(out, details, keys)
}

function readRow(source: ByteReader, position: number, keys: KeyTable): ArchivedRow {
  const flags = source.byte()
  const line = source.count()
  const hasSlot = (flags & SLOT) !== 0
  const blockTime = (flags & TIME) === 0 ? null : hasSlot ? source.count() : position
  const optionalKey = (bit: number) => ((flags & bit) === 0 ? null : keys.read(source))
  const leg = (): FactLeg => ({
    mint: keys.read(source),
    amountRaw: source.amount(),
    decimals: source.optionalCount()
  })
  const fact: TradeFact = {
    slot: hasSlot ? position : null,
    blockTime,
    signature: source.fixed(64),
    venue: venueCodes.wordOf(source.byte()),
    program: optionalKey(PROGRAM),
    pool: optionalKey(POOL),
    trader: optionalKey(TRADER),
    in: leg(),
    out: leg(),
    place: {
      txIndex: source.optionalCount(),
      ixIndex: source.optionalCount(),
      innerIxIndex: source.optionalCount()
    },
    solUsd: (flags & SOL_USD) === 0 ? null : source.float(),
    details: (flags & DETAILS) === 0 ? null : readDetails(source, keys)
  }
  return { fact, line }
}

function writeDetails(out: ByteWriter, details: FactDetails, keys: KeyTable): void {
  const { cursor, feePayer, exact, route, reserves, fees } = details
  out.byte(
    (cursor === null ? 0 : CURSOR) |
      (feePayer === null ? 0 : FEE_PAYER) |
      (exact === 'in' ? EXACT_IN : exact === 'out' ? EXACT_OUT : 0) |
      (route === null ? 0 : ROUTE) |
      (reserves === null ? 0 : RESERVES) |
      (details.commitment === 'confirmed' ? CONFIRMED : details.commitment === 'processed' ? PROCESSED : 0)
  )
  if (cursor !== null) out.count(cursor)
  if (feePayer !== null) keys.write(out, feePayer)
  out.optionalAmount(details.traderIn)
  out.optionalAmount(details.traderOut)
  out.count(fees.length)
  for (const { kind, mint, amount } of fees) {
    out.byte(feeKindCodes.codeOf(kind))
    keys.write(out, mint)
    out.amount(amount)
  }
  if (route !== null) {
    keys.write(out, route.program)
    for (const number of [route.ixIndex, route.hop, route.hops]) out.count(number)
  }
  if (reserves !== null) for (const name of RESERVES_STATED) out.optionalAmount(reserves[name])
}

function readDetails(source: ByteReader, keys: KeyTable): FactDetails {
  const flags = source.byte()
  const cursor = (flags & CURSOR) === 0 ? null : source.count()
  const feePayer = (flags & FEE_PAYER) === 0 ? null : keys.read(source)
  const [traderIn, traderOut] = [source.optionalAmount(), source.optionalAmount()]
  const fees = Array.from({ length: source.count() }, () => ({
    kind: feeKindCodes.wordOf(source.byte()),
    mint: keys.read(source),
    amount: source.amount()
  }))
  const route: RouteLeg | null =
    (flags & ROUTE) === 0
      ? null
      : { program: keys.read(source), ixIndex: source.count(), hop: source.count(), hops: source.count() }
  const exact = flags & EXACT_IN ? 'in' : flags & EXACT_OUT ? 'out' : null
  const reserves = (flags & RESERVES) === 0 ? null : readReserves(source)
  const commitment = flags & CONFIRMED ? 'confirmed' : flags & PROCESSED ? 'processed' : 'finalized'
  return { cursor, feePayer, commitment, traderIn, traderOut, fees, reserves, exact, route }
}

function readReserves(source: ByteReader): TradeReserves {
  const reserves: { -readonly [Name in keyof TradeReserves]: TradeReserves[Name] } = {}
  for (const name of RESERVES_STATED) {
    const amount = source.optionalAmount()
    if (amount !== null) reserves[name] = amount
  }
  return reserves
}
