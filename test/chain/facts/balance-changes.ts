import type { Fee, Trade } from '../../../src/chain/events.ts'
import { pubkeyFromBase58, samePubkey, type Pubkey } from '../../../src/chain/pubkey.ts'
import type { Transaction } from '../../../src/chain/transaction.ts'

const WRAPPED_SOL = pubkeyFromBase58('So11111111111111111111111111111111111111112')

/**
 * Returns whether the reported balances show a trade: one account gained the input and one lost the output, to within the
 * trade's fees of the mint. Uses balances alone, not the decoder.
 */
export function balancesShow(transaction: Transaction, { fees, ...trade }: Trade): boolean {
  const within = (mint: Pubkey, change: bigint): boolean => {
    const fee = totalOf(fees, mint)
    return changesOf(transaction, mint).some((seen) => seen >= change - fee && seen <= change + fee)
  }
  return within(trade.inMint, trade.inAmount) && within(trade.outMint, -trade.outAmount)
}

/** Returns the change of each account of a mint; lamports count as wrapped SOL. */
function changesOf(transaction: Transaction, mint: Pubkey): bigint[] {
  const { preTokenBalances, postTokenBalances, preBalances, postBalances } = transaction
  const changes = new Map<number, bigint>()
  const add = (account: number, amount: bigint): void =>
    void changes.set(account, (changes.get(account) ?? 0n) + amount)
  for (const balance of preTokenBalances) {
    if (samePubkey(balance.mint, mint)) add(balance.account, -balance.amount)
  }
  for (const balance of postTokenBalances) {
    if (samePubkey(balance.mint, mint)) add(balance.account, balance.amount)
  }
  const lamports = postBalances.map((after, account) => BigInt(after) - BigInt(preBalances[account]!))
  return samePubkey(mint, WRAPPED_SOL) ? [...changes.values(), ...lamports] : [...changes.values()]
}

function totalOf(fees: readonly Fee[], mint: Pubkey): bigint {
  return fees.reduce((total, fee) => (samePubkey(fee.mint, mint) ? total + fee.amount : total), 0n)
}
