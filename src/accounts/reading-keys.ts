import type { Pubkey } from '../chain/pubkey.ts'

/** Returns the key of a shared reading: its kind, and the address. */
export const keyOfAddress = (kind: string, address: Pubkey): string =>
  `${kind}:${Buffer.from(address).toString('base64url')}`

/** Returns the address in a key of a kind; null for a key of another kind. */
export function addressInKey(kind: string, key: string): Pubkey | null {
  if (!key.startsWith(`${kind}:`)) return null
  const address = Buffer.from(key.slice(kind.length + 1), 'base64url')
  return address.length === 32 ? Uint8Array.from(address) : null
}
