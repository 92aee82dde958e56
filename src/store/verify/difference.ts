import { encodeBase58 } from '../../chain/base58.ts'

/** A stored value that differs from the computed one; null for a missing value. */
export interface Difference {
  readonly kind: 'candle' | 'block' | 'trade' | 'pool_event' | 'launch' | 'venues'
  /** The address of the value, such as a mint and an interval. */
  readonly of: Readonly<Record<string, unknown>>
  readonly stored: unknown
  readonly computed: unknown
}

/** Formats a difference as one line of JSON: amounts as text, bytes in base58. */
export function differenceText(difference: Difference): string {
  return JSON.stringify(difference, (_, value: unknown) => {
    if (typeof value === 'bigint') return String(value)
    return value instanceof Uint8Array ? encodeBase58(value) : value
  })
}
