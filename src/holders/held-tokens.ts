import { isRefused } from '../accounts/optional-key.ts'
import type { AccountNode } from '../accounts/ports.ts'
import { readTokenAccount } from '../accounts/token-account.ts'
import { TOKEN_PROGRAM_KEYS, TOKEN_PROGRAM_NAMES, type TokenProgramName } from '../accounts/token-program.ts'
import { pubkeyMapKey, type Pubkey } from '../chain/pubkey.ts'

/** A wallet's balance of a token, in all of its accounts. */
export interface HeldToken {
  readonly mint: Pubkey
  readonly amount: bigint
  readonly tokenProgram: TokenProgramName
  /** Token accounts with tokens. */
  readonly accounts: number
  /** Whether one of them is frozen. */
  readonly isFrozen: boolean
}

export interface HeldTokens {
  /** The oldest slot of the node's answers. */
  readonly slot: number
  readonly lamports: bigint
  readonly tokens: readonly HeldToken[]
}

/** Reads what a wallet has: SOL, and the tokens of both programs. Rejects like the node. */
export async function heldTokens(
  node: Pick<AccountNode, 'accounts' | 'tokenAccounts'>,
  wallet: Pubkey,
  signal: AbortSignal
): Promise<HeldTokens> {
  const [native, ...answers] = await Promise.all([
    node.accounts([wallet], signal),
    ...TOKEN_PROGRAM_NAMES.map(async (name) => node.tokenAccounts(wallet, TOKEN_PROGRAM_KEYS[name], signal))
  ])
  const tokens = new Map<string, HeldToken>()
  for (const { account } of answers.flatMap(({ accounts }) => accounts)) {
    const read = readTokenAccount(account)
    if (isRefused(read) || read.amount === 0n) continue
    const { mint, tokenProgram } = read
    const before = tokens.get(pubkeyMapKey(mint))
    tokens.set(pubkeyMapKey(mint), {
      mint,
      tokenProgram,
      amount: (before?.amount ?? 0n) + read.amount,
      accounts: (before?.accounts ?? 0) + 1,
      isFrozen: (before?.isFrozen ?? false) || read.state === 'frozen'
    })
  }
  return {
    slot: Math.min(native.slot, ...answers.map(({ slot }) => slot)),
    lamports: native.accounts[0]?.lamports ?? 0n,
    tokens: [...tokens.values()]
  }
}
