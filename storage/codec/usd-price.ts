import type { UsdPrice } from '../../src/market/activity-rows.ts'
import type { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'

const NONE = 0
const PRICED = 1
/** Does not occur in older stores. */
const UNPRICED = 2

/** Writes a price in the layout of `optionalFloat`, with one more code for `unpriced`. */
export function writeUsdPrice(out: ByteWriter, price: UsdPrice): void {
  if (typeof price === 'number') out.optionalFloat(price)
  else out.byte(price === null ? NONE : UNPRICED)
}

/** Reads a price: a float, null, or `unpriced`. Throws RangeError for an unknown code. */
export function readUsdPrice(source: ByteReader): UsdPrice {
  const code = source.byte()
  if (code === NONE) return null
  if (code === PRICED) return source.float()
  if (code === UNPRICED) return 'unpriced'
  throw new RangeError(`${code} stands for no price`)
}
