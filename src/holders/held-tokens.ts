import { isRefused } from '../accounts/optional-key.ts'
import type { AccountNode } from '../accounts/ports.ts'
import { readTokenBalance } from '../accounts/token-account.ts'
import { TOKEN_PROGRAM_KEYS, TOKEN_PROGRAM_NAMES, type TokenProgramName } from '../accounts/token-program.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import { AddressNumbers } from './address-numbers.ts'

/** A wallet's balance of a token, in all of its accounts. */
export interface HeldToken {
  readonly mint: Pubkey
  readonly amount: bigint
  readonly tokenProgram: TokenProgramName
  /** Token accounts with tokens. */
  readonly accounts: number
  /** Whether one of the accounts is frozen. */
  readonly isFrozen: boolean
}

export interface HeldTokens {
  /** The oldest slot of the node's answers. */
  readonly slot: number
  readonly lamports: bigint
  readonly tokens: readonly HeldToken[]
}

/** Reads the balances of a wallet: SOL, and the tokens of both programs. Rejects like the node. */
export async function heldTokens(
  node: Pick<AccountNode, 'accounts' | 'tokenAccounts'>,
  wallet: Pubkey,
  signal: AbortSignal
): Promise<HeldTokens> {
  const [native, ...answers] = await Promise.all([
    node.accounts([wallet], signal),
    ...TOKEN_PROGRAM_NAMES.map(async (name) => node.tokenAccounts(wallet, TOKEN_PROGRAM_KEYS[name], signal))
  ])
  const mints = new AddressNumbers(answers.reduce((sum, { accounts }) => sum + accounts.length, 0))
  const tokens: { -readonly [K in keyof HeldToken]: HeldToken[K] }[] = []
  for (const { accounts } of answers)
    for (const { account } of accounts) {
      const read = readTokenBalance(account)
      if (isRefused(read) || read.amount === 0n) continue
      const { tokenProgram, amount } = read
      const isFrozen = read.state === 'frozen'
      const number = mints.of(account.data)
      const before = tokens[number]
      if (before === undefined)
        tokens.push({ mint: mints.addresses[number]!, tokenProgram, amount, accounts: 1, isFrozen })
      else {
        before.amount += amount
        before.accounts++
        before.isFrozen ||= isFrozen
      }
    }
  return {
    slot: Math.min(native.slot, ...answers.map(({ slot }) => slot)),
    lamports: native.accounts[0]?.lamports ?? 0n,
    tokens
  }
}
