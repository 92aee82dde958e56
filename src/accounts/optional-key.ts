import type { Pubkey } from '../chain/pubkey.ts'
import { refused, type Refused } from './refused.ts'

/** Reads an address; null if all bytes are zero. */
export function keyOrNull(data: Uint8Array, at: number): Pubkey | null {
  const key = data.slice(at, at + 32)
  return key.every((byte) => byte === 0) ? null : key
}

/** Reads an address after a tag of four bytes: 1 if the address is set, 0 if not. */
export function taggedKey(data: Uint8Array, at: number): Pubkey | null | Refused {
  const tag = new DataView(data.buffer, data.byteOffset).getUint32(at, true)
  if (tag > 1) return refused(`has tag ${tag} at byte ${at}`)
  return tag === 0 ? null : data.slice(at + 4, at + 36)
}

/** Tells a refusal from an address or null. */
export const isRefused = (value: unknown): value is Refused =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'refused'
