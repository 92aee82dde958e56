import type {
  CurveChange,
  CurveReserves,
  EventOrigin,
  LiquidityChange,
  PoolChange
} from '../../src/chain/events.ts'
import type { PoolEventRow } from '../../src/market/rows.ts'
import type { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'
import { Codes, venueCodes } from './codes.ts'
import type { KeyTable } from './key-table.ts'
import { beforeOf, readRowOrigin, writeRowOrigin } from './row-origin.ts'
import type { RowCodec } from './row-origin.ts'

const kindCodes = new Codes<PoolEventRow['body']['kind']>({ liquidity: 0, curve: 1, pool: 2 })
const liquidityCodes = new Codes<LiquidityChange['event']>({ add: 0, remove: 1 })
/** Beside the event's code: the provider's amounts are stored, since they are not the vaults'. Unset in older rows. */
const TRADER_AMOUNTS = 2
const curveCodes = new Codes<CurveChange['event']>({ create: 0, complete: 1, migrate: 2 })
/** Bits of the stated fields of a curve event. The target is unset in older rows. */
const PROGRESS = 1
const TARGET = 2
const poolCodes = new Codes<PoolChange['event']>({ create: 0, update: 1 })
/** Reserves in the order of their bits; a bit is set if the reserve is stated. */
const CURVE_RESERVES = ['realBase', 'realQuote', 'virtualBase', 'virtualQuote'] as const

/**
 * Liquidity, curve and pool events of a page: shared fields relative to the previous row, addresses by number in the page's
 * table.
 */
export const poolEventCodec: RowCodec<PoolEventRow> = {
  beforeOf,

  write(out, row, before, keys) {
    const { body } = row
    writeRowOrigin(out, row, before, keys)
    out.byte(kindCodes.codeOf(body.kind))
    writeEventOrigin(out, body, keys)
    switch (body.kind) {
      case 'liquidity':
        return writeLiquidity(out, body, keys)
      case 'curve':
        return writeCurve(out, body, keys)
      case 'pool':
        return writePool(out, body, keys)
    }
  },

  read(source, before, keys) {
    const origin = readRowOrigin(source, before, keys)
    const kind = kindCodes.wordOf(source.byte())
    const event = readEventOrigin(source, keys)
    switch (kind) {
      case 'liquidity':
        return { ...origin, body: readLiquidity(source, event, keys) }
      case 'curve':
        return { ...origin, body: readCurve(source, event, keys) }
      case 'pool':
        return { ...origin, body: readPool(source, event, keys) }
    }
  }
}

function writeEventOrigin(out: ByteWriter, event: EventOrigin, keys: KeyTable): void {
  out.byte(venueCodes.codeOf(event.venue))
  keys.write(out, event.program)
  keys.write(out, event.pool)
  out.count(event.ixIndex)
  out.optionalCount(event.innerIxIndex)
  keys.write(out, event.user)
}

function readEventOrigin(source: ByteReader, keys: KeyTable): EventOrigin {
  return {
    venue: venueCodes.wordOf(source.byte()),
    program: keys.read(source),
    pool: keys.read(source),
    ixIndex: source.count(),
    innerIxIndex: source.optionalCount(),
    user: keys.read(source)
  }
}

function writeLiquidity(out: ByteWriter, body: LiquidityChange, keys: KeyTable): void {
  const isSame = body.traderBase === body.baseAmount && body.traderQuote === body.quoteAmount
  out.byte(liquidityCodes.codeOf(body.event) | (isSame ? 0 : TRADER_AMOUNTS))
  keys.writeOptional(out, body.baseMint)
  keys.writeOptional(out, body.quoteMint)
  out.optionalCount(body.baseDecimals)
  out.optionalCount(body.quoteDecimals)
  out.amount(body.baseAmount)
  out.amount(body.quoteAmount)
  if (!isSame) {
    writeOptionalAmount(out, body.traderBase)
    writeOptionalAmount(out, body.traderQuote)
  }
  writeOptionalAmount(out, body.lpAmount)
  keys.writeOptional(out, body.position)
}

function readLiquidity(source: ByteReader, origin: EventOrigin, keys: KeyTable): LiquidityChange {
  const code = source.byte()
  const event = liquidityCodes.wordOf(code & ~TRADER_AMOUNTS)
  const baseMint = keys.readOptional(source)
  const quoteMint = keys.readOptional(source)
  const decimals = { baseDecimals: source.optionalCount(), quoteDecimals: source.optionalCount() }
  const [baseAmount, quoteAmount] = [source.amount(), source.amount()]
  const isSame = (code & TRADER_AMOUNTS) === 0
  return {
    kind: 'liquidity',
    ...origin,
    event,
    baseMint,
    quoteMint,
    ...decimals,
    baseAmount,
    quoteAmount,
    traderBase: isSame ? baseAmount : readOptionalAmount(source),
    traderQuote: isSame ? quoteAmount : readOptionalAmount(source),
    lpAmount: readOptionalAmount(source),
    position: keys.readOptional(source)
  }
}

function writeCurve(out: ByteWriter, body: CurveChange, keys: KeyTable): void {
  out.byte(curveCodes.codeOf(body.event))
  keys.write(out, body.baseMint)
  keys.writeOptional(out, body.quoteMint)
  keys.write(out, body.curve)
  out.byte((body.progressPct === null ? 0 : PROGRESS) | (body.targetQuote === undefined ? 0 : TARGET))
  if (body.progressPct !== null) out.float(body.progressPct)
  if (body.targetQuote !== undefined) out.amount(body.targetQuote)
  keys.writeOptional(out, body.destination)
  out.byte(body.reserves === null ? 0 : 1)
  if (body.reserves !== null) writeCurveReserves(out, body.reserves)
}

function readCurve(source: ByteReader, origin: EventOrigin, keys: KeyTable): CurveChange {
  const event = curveCodes.wordOf(source.byte())
  const mints = { baseMint: keys.read(source), quoteMint: keys.readOptional(source) }
  const curve = keys.read(source)
  const stated = source.byte()
  return {
    kind: 'curve',
    ...origin,
    event,
    ...mints,
    curve,
    progressPct: (stated & PROGRESS) === 0 ? null : source.float(),
    ...((stated & TARGET) !== 0 && { targetQuote: source.amount() }),
    destination: keys.readOptional(source),
    reserves: source.byte() === 0 ? null : readCurveReserves(source)
  }
}

function writeCurveReserves(out: ByteWriter, reserves: CurveReserves): void {
  out.byte(
    CURVE_RESERVES.reduce((bits, name, i) => (reserves[name] === undefined ? bits : bits | (1 << i)), 0)
  )
  for (const name of CURVE_RESERVES) if (reserves[name] !== undefined) out.amount(reserves[name])
}

function readCurveReserves(source: ByteReader): CurveReserves {
  const stated = source.byte()
  const reserves: { -readonly [Name in keyof CurveReserves]: CurveReserves[Name] } = {}
  CURVE_RESERVES.forEach((name, i) => {
    if (stated & (1 << i)) reserves[name] = source.amount()
  })
  return reserves
}

function writePool(out: ByteWriter, body: PoolChange, keys: KeyTable): void {
  out.byte(poolCodes.codeOf(body.event))
  keys.write(out, body.baseMint)
  keys.write(out, body.quoteMint)
  keys.writeOptional(out, body.baseVault)
  keys.writeOptional(out, body.quoteVault)
  out.byte(body.feeBps === null ? 0 : 1)
  if (body.feeBps !== null) out.float(body.feeBps)
  writeOptionalAmount(out, body.initialBase)
  writeOptionalAmount(out, body.initialQuote)
}

function readPool(source: ByteReader, origin: EventOrigin, keys: KeyTable): PoolChange {
  return {
    kind: 'pool',
    ...origin,
    event: poolCodes.wordOf(source.byte()),
    baseMint: keys.read(source),
    quoteMint: keys.read(source),
    baseVault: keys.readOptional(source),
    quoteVault: keys.readOptional(source),
    feeBps: source.byte() === 0 ? null : source.float(),
    initialBase: readOptionalAmount(source),
    initialQuote: readOptionalAmount(source)
  }
}

function writeOptionalAmount(out: ByteWriter, amount: bigint | null): void {
  out.byte(amount === null ? 0 : 1)
  if (amount !== null) out.amount(amount)
}

function readOptionalAmount(source: ByteReader): bigint | null {
  return source.byte() === 0 ? null : source.amount()
}
