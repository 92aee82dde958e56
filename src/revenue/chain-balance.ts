import type { Account } from '../accounts/ports.ts'
import { tokenProgramOf } from '../accounts/token-program.ts'
import { pubkeyFromBase58, pubkeyToBase58, samePubkey, type Pubkey } from '../chain/pubkey.ts'

/** The balances of an account, as the chain has them. */
export interface ChainBalance {
  /** 0 for an account that does not exist. */
  readonly lamports: bigint
  /** Null if it is not a token account. */
  readonly token: { readonly owner: string; readonly mint: string; readonly amount: bigint } | null
  /** The program that owns the account; null if it does not exist. */
  readonly program: Pubkey | null
}

const REWARDED_PROGRAMS = [
  'Stake11111111111111111111111111111111111111',
  'Vote111111111111111111111111111111111111111'
].map(pubkeyFromBase58)

/** Tells whether the chain pays rewards of stake or votes to an account. */
export const isRewarded = ({ program }: Pick<ChainBalance, 'program'>): boolean =>
  program !== null && REWARDED_PROGRAMS.some((each) => samePubkey(each, program))

/** Bytes of a token account without extensions. In an account with extensions, the next byte is 2. */
const ACCOUNT_BYTES = 165
const STATE_AT = 108

/** Returns the balances of an account; null stands for one that does not exist. */
export function heldBalance(account: Pick<Account, 'lamports' | 'owner' | 'data'> | null): ChainBalance {
  if (account === null) return { lamports: 0n, token: null, program: null }
  const { lamports, owner, data } = account
  const isToken =
    tokenProgramOf(owner) !== null &&
    (data.length === ACCOUNT_BYTES || data[ACCOUNT_BYTES] === 2) &&
    data[STATE_AT] !== 0
  if (!isToken) return { lamports, token: null, program: owner }
  const amount = new DataView(data.buffer, data.byteOffset, data.byteLength).getBigUint64(64, true)
  const [mint, holder] = [data.slice(0, 32), data.slice(32, 64)].map(pubkeyToBase58) as [string, string]
  return { lamports, token: { owner: holder, mint, amount }, program: owner }
}
