import type { Fee, StatedCurve } from '../../src/chain/events.ts'
import type { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'
import { feeKindCodes } from './codes.ts'
import type { KeyTable } from './key-table.ts'

const NO_FEES: readonly Fee[] = []
/** Facts of a bonding curve in the order of their bits; a bit is set if the fact is stated. */
const CURVE_FACTS = ['forSale', 'targetQuote', 'sqrtPrice'] as const

export function writeFees(out: ByteWriter, fees: readonly Fee[], keys: KeyTable): void {
  out.count(fees.length)
  for (const fee of fees) {
    out.byte(feeKindCodes.codeOf(fee.kind))
    keys.write(out, fee.mint)
    out.amount(fee.amount)
  }
}

export function readFees(source: ByteReader, keys: KeyTable): Fee[] {
  const fees: Fee[] = []
  for (let left = source.count(); left > 0; left--)
    fees.push({ kind: feeKindCodes.wordOf(source.byte()), mint: keys.read(source), amount: source.amount() })
  return fees
}

/** Skips fees. Their mints may be named first here, so they are read. */
export function skipFees(source: ByteReader, keys: KeyTable): readonly Fee[] {
  for (let left = source.count(); left > 0; left--) {
    source.byte()
    keys.read(source)
    source.skipAmount()
  }
  return NO_FEES
}

export function writeStatedCurve(out: ByteWriter, stated: StatedCurve): void {
  out.byte(CURVE_FACTS.reduce((bits, name, i) => (stated[name] === undefined ? bits : bits | (1 << i)), 0))
  for (const name of CURVE_FACTS) if (stated[name] !== undefined) out.amount(stated[name])
}

export function readStatedCurve(source: ByteReader): StatedCurve {
  const bits = source.byte()
  const stated: { -readonly [Name in keyof StatedCurve]: StatedCurve[Name] } = {}
  CURVE_FACTS.forEach((name, i) => {
    if (bits & (1 << i)) stated[name] = source.amount()
  })
  return stated
}
