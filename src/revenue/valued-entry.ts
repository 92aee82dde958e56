import { humanAmount } from '../market/amount.ts'
import { SOL_DECIMALS, WSOL } from '../market/cash.ts'
import { deltaOf, type LedgerChange, type LedgerEntry } from './ledger-entry.ts'

/** Returns a change of an address with its values, from the prices of mints at the time of the block. */
export function valued(
  change: LedgerChange,
  address: string,
  prices: ReadonlyMap<string, number>
): LedgerEntry {
  const { signature, txIndex, index, account, mint, isNative, decimals, pre, post, kind } = change
  const { counterparty, confidence, feeLamports, feePayer, ixIndex } = change
  const price = prices.get(mint) ?? null
  const solUsd = prices.get(WSOL) ?? null
  const isPayer = isNative && feePayer === address
  const delta = deltaOf(change)
  const amount = humanAmount(delta < 0n ? -delta : delta, decimals)
  // Written out: a copy by spread takes several times as long.
  return {
    signature,
    txIndex,
    index,
    account,
    mint,
    isNative,
    decimals,
    pre,
    post,
    kind,
    counterparty,
    confidence,
    feeLamports,
    feePayer,
    ixIndex,
    valueUsd: price === null ? null : (delta < 0n ? -amount : amount) * price,
    feeUsd: isPayer && solUsd !== null ? humanAmount(feeLamports, SOL_DECIMALS) * solUsd : null
  }
}
