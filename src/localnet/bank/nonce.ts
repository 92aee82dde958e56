import { samePubkey } from '../../chain/pubkey.ts'
import type { WireTransaction } from '../../chain/wire.ts'
import type { LocalAccount } from '../chain.ts'
import { staticKey } from './account-keys.ts'
import { SYSTEM } from '../programs.ts'

const ADVANCE_NONCE = 4
const INITIALIZED = 1
const NONCE_BYTES = 80

/**
 * Whether a transaction uses a durable nonce instead of a blockhash: its first instruction advances the nonce account,
 * whose value equals the transaction's blockhash field and whose authority signs.
 */
export function standsOnNonce(
  wire: WireTransaction,
  accountOf: (address: Uint8Array) => LocalAccount | null
): boolean {
  const first = wire.instructions[0]
  if (first === undefined || !samePubkey(staticKey(wire, first.program), SYSTEM)) return false
  const { data, accounts } = first
  const index = accounts[0]
  if (data.length < 4 || new DataView(data.buffer, data.byteOffset).getUint32(0, true) !== ADVANCE_NONCE)
    return false
  if (index === undefined || index >= wire.keyCount) return false
  const account = accountOf(staticKey(wire, index))
  if (account === null || !samePubkey(account.owner, SYSTEM) || account.data.length !== NONCE_BYTES)
    return false
  if (new DataView(account.data.buffer, account.data.byteOffset).getUint32(4, true) !== INITIALIZED)
    return false
  const authority = account.data.subarray(8, 40)
  const signs = [...accounts].some(
    (at) => at < wire.header.signatures && samePubkey(staticKey(wire, at), authority)
  )
  return signs && samePubkey(account.data.subarray(40, 72), wire.lifetime)
}
