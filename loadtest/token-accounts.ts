import { TOKEN_PROGRAM_KEYS } from '../src/accounts/token-program.ts'
import type { Pubkey } from '../src/chain/pubkey.ts'
import type { AccountVersion } from '../storage/port.ts'

export const PROGRAM = TOKEN_PROGRAM_KEYS['spl-token']
export const SLOT = 10
export const DATA_BYTES = 165
export const MINT = { offset: 0, length: 32 }
export const OWNER = { offset: 32, length: 32 }
export const ACCOUNTS_OF_OWNER = 10
export const ACCOUNTS_OF_MINT = 1_000

/** Returns an account by its number; successive accounts share owner and mint. */
export function accountOf(n: number): AccountVersion {
  const data = new Uint8Array(DATA_BYTES)
  data.set(accountMint(Math.floor(n / ACCOUNTS_OF_MINT)))
  data.set(accountOwner(Math.floor(n / ACCOUNTS_OF_OWNER)), OWNER.offset)
  new DataView(data.buffer).setUint32(64, n, true)
  return {
    address: address(1, n),
    slot: SLOT,
    account: { lamports: 2_039_280n, executable: false, rentEpoch: 2n ** 64n - 1n, data }
  }
}

export function accountMint(n: number): Pubkey {
  return address(2, n)
}

export function accountOwner(n: number): Pubkey {
  return address(3, n)
}

/** Returns an address of a kind by its number. */
function address(kind: number, n: number): Pubkey {
  const bytes = new Uint8Array(32).fill(kind)
  const view = new DataView(bytes.buffer)
  // Spread over the keys, as addresses are.
  view.setUint32(0, Math.imul(n + 1, 2_654_435_761))
  view.setUint32(4, n)
  return bytes
}
