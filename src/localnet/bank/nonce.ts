import { nonceAdvanceOf, nonceStateOf } from '../../chain/nonce.ts'
import { samePubkey } from '../../chain/pubkey.ts'
import { staticKey } from '../../chain/wire.ts'
import type { WireTransaction } from '../../chain/wire.ts'
import type { LocalAccount } from '../chain.ts'

/**
 * Tells whether a transaction uses a durable nonce instead of a blockhash: its first instruction advances the nonce
 * account, whose value equals the transaction's blockhash field and whose authority signs.
 */
export function standsOnNonce(
  wire: WireTransaction,
  accountOf: (address: Uint8Array) => LocalAccount | null
): boolean {
  const advance = nonceAdvanceOf(wire)
  const account = advance && accountOf(advance.account)
  const state = account && nonceStateOf(account)
  if (!state) return false
  const signs = [...wire.instructions[0]!.accounts].some(
    (at) => at < wire.header.signatures && samePubkey(staticKey(wire, at), state.authority)
  )
  return signs && samePubkey(state.value, wire.lifetime)
}
