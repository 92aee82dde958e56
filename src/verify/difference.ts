import { encodeBase58 } from '../chain/base58.ts'

/** Something stored that is not what it is computed to be. Null stands for what is not there. */
export interface Difference {
  readonly kind: 'candle' | 'block' | 'trade' | 'pool_event' | 'launch'
  /** What it is of, such as a mint and an interval. */
  readonly of: Readonly<Record<string, unknown>>
  readonly stored: unknown
  readonly computed: unknown
}

/** As a line of JSON: amounts as text, bytes in base58. */
export function differenceText(difference: Difference): string {
  return JSON.stringify(difference, (_, value: unknown) => {
    if (typeof value === 'bigint') return String(value)
    return value instanceof Uint8Array ? encodeBase58(value) : value
  })
}
