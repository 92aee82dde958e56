import type { ChainEvent } from '../../../src/chain/events.ts'
import { pubkeyMapKey, pubkeyToBase58 } from '../../../src/chain/pubkey.ts'
import type { AccountKeys } from '../../../src/chain/transaction.ts'

/**
 * Events as JSON for comparison. Fields are in order of their names. Addresses are `@` and their position among the
 * transaction's keys (base58 if they have none). Amounts are digits with an `n`.
 */
export function eventText(events: readonly ChainEvent[], keys: AccountKeys): string {
  const places = new Map<string, number>()
  for (let place = keys.length - 1; place >= 0; place--) places.set(pubkeyMapKey(keys.bytes(place)), place)
  const plain = (value: unknown): unknown => {
    if (value instanceof Uint8Array) {
      const place = places.get(pubkeyMapKey(value))
      return place === undefined ? pubkeyToBase58(value) : `@${place}`
    }
    if (typeof value === 'bigint') return `${value}n`
    if (Array.isArray(value)) return value.map(plain)
    if (value === null || typeof value !== 'object') return value
    const fields = Object.entries(value).filter(([, field]) => field !== undefined)
    return Object.fromEntries(
      fields.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, field]) => [name, plain(field)])
    )
  }
  return JSON.stringify(plain(events))
}
