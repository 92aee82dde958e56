import { encodeBase58 } from '../chain/base58.ts'

const SYSTEM_PROGRAM = '11111111111111111111111111111111'
/** Version, state and authority come before the value (solana-nonce, versions.rs and state.rs). */
const VALUE_AT = 40
const VALUE_BYTES = 32
const INITIALIZED = 1

/** Returns the value of a durable nonce in base58; null where an account is no initialized nonce. */
export function nonceValueOf({
  owner,
  data
}: {
  readonly owner: string
  readonly data: Uint8Array
}): string | null {
  if (owner !== SYSTEM_PROGRAM || data.length < VALUE_AT + VALUE_BYTES) return null
  const state = new DataView(data.buffer, data.byteOffset).getUint32(4, true)
  return state === INITIALIZED ? encodeBase58(data.subarray(VALUE_AT, VALUE_AT + VALUE_BYTES)) : null
}
