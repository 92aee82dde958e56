import { TOKEN_2022_PROGRAM } from './token-movement.ts'
import { PubkeyTable } from './pubkey.ts'
import type { Transaction } from './transaction.ts'

/** A withdrawal of withheld transfer fees of a Token-2022 mint. Accounts are key indexes. The amount is not stated. */
export interface FeeWithdrawal {
  readonly mint: number
  readonly destination: number
}

const TOKEN_2022 = new PubkeyTable<true>([[TOKEN_2022_PROGRAM, true]])
const TRANSFER_FEE_EXTENSION = 26
const FROM_MINT = 2
const FROM_ACCOUNTS = 3

/**
 * Lists the withdrawals of withheld transfer fees in a transaction. Harvesting fees to the mint is excluded: it changes no
 * balance, because no balance includes withheld fees.
 */
export function feeWithdrawalsIn({ instructions, keys, failed }: Transaction): readonly FeeWithdrawal[] {
  if (failed) return []
  return instructions.flatMap(({ program, accounts, data }) => {
    const isWithdrawal =
      data[0] === TRANSFER_FEE_EXTENSION && (data[1] === FROM_MINT || data[1] === FROM_ACCOUNTS)
    if (!isWithdrawal || accounts.length < 3 || keys.lookup(program, TOKEN_2022) === undefined) return []
    return [{ mint: accounts[0]!, destination: accounts[1]! }]
  })
}
