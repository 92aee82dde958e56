import { pubkeyFromBase58, samePubkey } from '../chain/pubkey.ts'
import { staticKey } from '../chain/wire.ts'
import type { WireTransaction } from '../chain/wire.ts'

/** Lamports of the smallest tip that counts (spec, Transactions 3). */
export const TIP_LAMPORTS_MIN = 1_000n

const SYSTEM_PROGRAM = pubkeyFromBase58('11111111111111111111111111111111')
/** Numbers of instructions of the system program. */
const TRANSFER = 2
const TRANSFER_WITH_SEED = 11

/**
 * Returns the lamports that a transaction's outer instructions transfer to any of the tip accounts (base58), by the system
 * program. A tip account counts as a static one only: an engine does not read lookup tables.
 */
export function tipLamports(wire: WireTransaction, tipAccounts: readonly string[]): bigint {
  const tips = new Set(tipAccounts.map((account) => keyText(pubkeyFromBase58(account))))
  let lamports = 0n
  for (const { program, accounts, data } of wire.instructions) {
    if (!samePubkey(staticKey(wire, program), SYSTEM_PROGRAM) || data.length < 12) continue
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
    const number = view.getUint32(0, true)
    if (number !== TRANSFER && number !== TRANSFER_WITH_SEED) continue
    const to = accounts[number === TRANSFER ? 1 : 2]
    if (to === undefined || to >= wire.keyCount || !tips.has(keyText(staticKey(wire, to)))) continue
    lamports += view.getBigUint64(4, true)
  }
  return lamports
}

const keyText = (key: Uint8Array): string => Buffer.from(key).toString('latin1')
