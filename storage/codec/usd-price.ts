import type { UsdPrice } from '../../src/market/activity-rows.ts'
import type { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'

const NONE = 0
const PRICED = 1
/** Not in older stores. */
const UNPRICED = 2

/** As `optionalFloat` writes a number or nothing, with a word more. */
export function writeUsdPrice(out: ByteWriter, price: UsdPrice): void {
  if (typeof price === 'number') out.optionalFloat(price)
  else out.byte(price === null ? NONE : UNPRICED)
}

export function readUsdPrice(source: ByteReader): UsdPrice {
  const code = source.byte()
  if (code === NONE) return null
  if (code === PRICED) return source.float()
  if (code === UNPRICED) return 'unpriced'
  throw new RangeError(`${code} stands for no price`)
}
