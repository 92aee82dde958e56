import { samePubkey } from '../../chain/pubkey.ts'
import type { LocalAccount, MetaTokenBalance } from '../chain.ts'
import { NATIVE_MINT } from '../../chain/token-accounts.ts'
import { isTokenProgram } from './programs.ts'

const TOKEN_ACCOUNT_BYTES = 165
const MINT_BYTES = 82
const STATE_OFFSET = 108
const MINT_INITIALIZED_OFFSET = 45
const MINT_DECIMALS_OFFSET = 44
/** Account kinds. A byte after the account's own bytes distinguishes Token-2022 accounts and mints with extensions. */
const MINT_TYPE = 1
const ACCOUNT_TYPE = 2

/**
 * Returns the balances that a node records for the token accounts of a transaction, in order. `accounts` has null for
 * missing accounts and for accounts called as programs, for which a node records no balance.
 */
export function tokenBalancesOf(
  accounts: readonly (LocalAccount | null)[],
  accountOf: (address: Uint8Array) => LocalAccount | null
): MetaTokenBalance[] {
  const balances: MetaTokenBalance[] = []
  for (const [accountIndex, account] of accounts.entries()) {
    if (account === null || !isTokenAccount(account)) continue
    const mint = account.data.slice(0, 32)
    const decimals = decimalsOf(mint, accountOf)
    if (decimals === null) continue
    const view = new DataView(account.data.buffer, account.data.byteOffset)
    balances.push({
      accountIndex,
      mint,
      owner: account.data.slice(32, 64),
      program: account.owner,
      amount: view.getBigUint64(64, true),
      decimals
    })
  }
  return balances
}

function isTokenAccount({ owner, data }: LocalAccount): boolean {
  if (!isTokenProgram(owner) || data.length < TOKEN_ACCOUNT_BYTES || data[STATE_OFFSET] === 0) return false
  return data.length === TOKEN_ACCOUNT_BYTES || data[TOKEN_ACCOUNT_BYTES] === ACCOUNT_TYPE
}

function decimalsOf(
  mint: Uint8Array,
  accountOf: (address: Uint8Array) => LocalAccount | null
): number | null {
  if (samePubkey(mint, NATIVE_MINT)) return 9
  const account = accountOf(mint)
  if (account === null || !isTokenProgram(account.owner)) return null
  const { data } = account
  if (data.length !== MINT_BYTES && data[TOKEN_ACCOUNT_BYTES] !== MINT_TYPE) return null
  return data[MINT_INITIALIZED_OFFSET] === 1 ? data[MINT_DECIMALS_OFFSET]! : null
}
