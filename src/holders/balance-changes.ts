import { pubkeyMapKey, samePubkey, type Pubkey, type PubkeyTable } from '../chain/pubkey.ts'
import type { Block, TokenBalance, Transaction } from '../chain/transaction.ts'
import type { HeldBalance } from './row-bytes.ts'

/** How a block has changed a token account. */
export interface BalanceChange {
  readonly account: Pubkey
  /** Base units before the block; 0 for an account that did not exist. */
  readonly before: bigint
  /** Null for an account that is empty or closed after the block. */
  after: HeldBalance | null
}

/** The changes that a block has made to the accounts of a mint, by account. */
export interface MintChanges {
  readonly accounts: Map<string, BalanceChange>
  /** Why the block's changes are incomplete; null if they are complete. */
  fault: string | null
}

/** The changes of token balances in a block, by mint. */
export type BalanceChanges = ReadonlyMap<string, MintChanges>

/**
 * Returns the changes of token accounts in a block, by mint: of the given mints, or of all. `mints` maps mints to
 * their `pubkeyMapKey`.
 *
 * Nodes state the balance of every token account of a transaction before and after it. An account without a balance
 * after it was closed. Failed transactions change nothing. The result retains no memory of the block.
 */
export function balanceChanges(
  { transactions }: Pick<Block, 'transactions'>,
  mints: PubkeyTable<string> | null
): BalanceChanges {
  const changes = new Map<string, MintChanges>()
  for (const transaction of transactions) {
    if (transaction.failed) continue
    const { preTokenBalances: before, postTokenBalances: after } = transaction
    for (let at = 0; at < before.length; at++) {
      const balance = before[at]!
      const found = balanceOf(after, balance.account, at)
      const later = found !== null && isOfSameMint(found, balance) ? found : null
      // Four in ten accounts are named by a transaction that does not move them.
      if (later !== null && hasSameTexts(balance, later)) continue
      const mint = mintKeyOf(balance, mints)
      if (mint === undefined) continue
      if (later === null || !isSame(balance, later)) add(changes, mint, transaction, balance, later)
    }
    for (let at = 0; at < after.length; at++) {
      const balance = after[at]!
      const earlier = balanceOf(before, balance.account, at)
      if (earlier !== null && isOfSameMint(earlier, balance)) continue
      const mint = mintKeyOf(balance, mints)
      if (mint !== undefined) add(changes, mint, transaction, null, balance)
    }
  }
  return changes
}

function mintKeyOf(balance: TokenBalance, mints: PubkeyTable<string> | null): string | undefined {
  if (mints === null) return pubkeyMapKey(balance.mint)
  const text = balance.mintBase58
  return text === undefined ? mints.ofBytes(balance.mint) : mints.ofText(text)
}

function add(
  changes: Map<string, MintChanges>,
  mint: string,
  { keys }: Transaction,
  before: TokenBalance | null,
  after: TokenBalance | null
): void {
  const amount = before?.amount ?? 0n
  const isEmpty = after === null || after.amount === 0n
  if (isEmpty && amount === 0n) return
  let ofMint = changes.get(mint)
  if (ofMint === undefined) changes.set(mint, (ofMint = { accounts: new Map(), fault: null }))
  const address = keys.bytes((after ?? before)!.account)
  const account = pubkeyMapKey(address)
  if (!isEmpty && after.owner === null) ofMint.fault ??= 'a balance has no owner'
  const held = isEmpty ? null : { owner: new Uint8Array(after.owner ?? []), amount: after.amount }
  const known = ofMint.accounts.get(account)
  if (known === undefined) {
    ofMint.accounts.set(account, { account: new Uint8Array(address), before: amount, after: held })
    return
  }
  if ((known.after?.amount ?? 0n) !== amount)
    ofMint.fault ??= 'balances of two transactions do not follow each other'
  known.after = held
}

/** Returns the balance of an account, which is mostly at equal indexes in both lists. */
function balanceOf(balances: readonly TokenBalance[], account: number, at: number): TokenBalance | null {
  const likely = balances[at]
  if (likely !== undefined && likely.account === account) return likely
  for (const each of balances) if (each.account === account) return each
  return null
}

const isOfSameMint = (a: TokenBalance, b: TokenBalance): boolean =>
  (a.mintBase58 !== undefined && a.mintBase58 === b.mintBase58) || samePubkey(a.mint, b.mint)

/** Tells whether two balances of an account are equal by their texts; false if one has none. */
const hasSameTexts = (a: TokenBalance, b: TokenBalance): boolean =>
  a.amountText !== undefined &&
  a.amountText === b.amountText &&
  typeof a.ownerBase58 === 'string' &&
  a.ownerBase58 === b.ownerBase58

/** Tells whether two balances of an account are equal, comparing their texts if both have one. */
function isSame(a: TokenBalance, b: TokenBalance): boolean {
  const isSameText = a.amountText !== undefined && a.amountText === b.amountText
  if (!isSameText && a.amount !== b.amount) return false
  if (typeof a.ownerBase58 === 'string' && a.ownerBase58 === b.ownerBase58) return true
  return a.owner !== null && b.owner !== null && samePubkey(a.owner, b.owner)
}
