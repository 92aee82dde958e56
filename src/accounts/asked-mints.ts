import { pubkeyMapKey, type Pubkey } from '../chain/pubkey.ts'

/** Returns addresses in their order, each once. */
export function distinct(addresses: readonly Pubkey[]): Pubkey[] {
  return [...new Map(addresses.map((address) => [pubkeyMapKey(address), address])).values()]
}
