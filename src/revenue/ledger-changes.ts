import { encodeBase58 } from '../chain/base58.ts'
import type { PlainEvents } from '../chain/decode-block.ts'
import { samePubkey, type PubkeyTable } from '../chain/pubkey.ts'
import type { Block, TokenBalance, Transaction } from '../chain/transaction.ts'
import { AddressChanges } from './address-changes.ts'
import { counterpartyOf } from './counterparty.ts'
import type { EntryKind } from './entry-enums.ts'
import { entryKind, isNetworkFee } from './entry-kind.ts'
import type { LedgerChange } from './ledger-entry.ts'
import { rewardChanges } from './reward-changes.ts'
import { TransactionChanges, type AccountChange } from './transaction-changes.ts'

/**
 * Returns the changes of watched addresses in a block by its transactions and rewards, by address (base58), in the order of
 * the block. `watched` maps addresses to their base58.
 *
 * Nodes state the balances of every account of a transaction before and after it. Balances that did not change are not
 * looked up, so that a transaction without a watched address costs next to nothing. Lamports above 2^53 are rounded,
 * as in the blocks. The result retains no memory of the block. Transactions whose events `plain` has are not decoded again.
 * Over blocks without a gap, the changes of an account add up to its change of balance (INVARIANTS 7).
 */
export function ledgerChanges(
  { transactions, rewards }: Pick<Block, 'transactions' | 'rewards'>,
  watched: PubkeyTable<string>,
  plain?: PlainEvents
): Map<string, LedgerChange[]> {
  if (watched.size === 0) return new Map()
  const rewarded = rewardChanges(rewards, (address) => watched.ofText(address) !== undefined)
  const changes = new Map(rewarded.before)
  for (let place = 0; place < transactions.length; place++) {
    const transaction = transactions[place]!
    const addresses = changedAddresses(transaction, watched)
    if (addresses === null) continue
    const all = new TransactionChanges(transaction, plain?.get(transaction))
    add(changes, all, transaction.index ?? place, addresses)
  }
  for (const [address, rows] of rewarded.after) append(changes, address, rows)
  return changes
}

/** Watched addresses with their key indexes; -1 for an address that only owns token accounts. */
type Addresses = Map<string, number>

/**
 * Returns the watched addresses whose lamports or tokens a transaction may have changed; null if it changed no
 * watched address.
 */
function changedAddresses(transaction: Transaction, watched: PubkeyTable<string>): Addresses | null {
  const { keys, preBalances, postBalances, failed } = transaction
  let found: Addresses | null = null
  // A failed transaction changes only the lamports of its payer, key 0.
  const count = failed ? 1 : Math.min(preBalances.length, keys.length)
  for (let account = 0; account < count; account++) {
    if (preBalances[account] === postBalances[account]) continue
    const address = keys.lookup(account, watched)
    if (address !== undefined) (found ??= new Map()).set(address, account)
  }
  return failed ? found : withTokens(transaction, watched, found)
}

/** Adds the watched addresses that are, or own, a token account whose balance differs after a transaction. */
function withTokens(
  { keys, preTokenBalances: before, postTokenBalances: after }: Transaction,
  watched: PubkeyTable<string>,
  addresses: Addresses | null
): Addresses | null {
  let found = addresses
  const addOwners = (balance: TokenBalance): void => {
    const owner = ownerIn(balance, watched)
    if (owner !== undefined && !(found ??= new Map()).has(owner)) found.set(owner, -1)
    const account = keys.lookup(balance.account, watched)
    if (account !== undefined) (found ??= new Map()).set(account, balance.account)
  }
  for (let at = 0; at < before.length; at++) {
    const later = balanceOf(after, before[at]!.account, at)
    if (later !== null && isSame(before[at]!, later)) continue
    addOwners(before[at]!)
    if (later !== null) addOwners(later)
  }
  for (let at = 0; at < after.length; at++)
    if (balanceOf(before, after[at]!.account, at) === null) addOwners(after[at]!)
  return found
}

/** Returns the balance of an account, which is mostly at equal indexes in both lists. */
function balanceOf(balances: readonly TokenBalance[], account: number, at: number): TokenBalance | null {
  const likely = balances[at]
  if (likely !== undefined && likely.account === account) return likely
  for (const each of balances) if (each.account === account) return each
  return null
}

/** Returns whether an account's balance is equal before and after; compares texts where a source has them. */
function isSame(a: TokenBalance, b: TokenBalance): boolean {
  if (a.amountText === undefined || a.amountText !== b.amountText) if (a.amount !== b.amount) return false
  if (a.mintBase58 === undefined || a.mintBase58 !== b.mintBase58)
    if (!samePubkey(a.mint, b.mint)) return false
  if (typeof a.ownerBase58 === 'string' && a.ownerBase58 === b.ownerBase58) return true
  return a.owner === null || b.owner === null ? a.owner === b.owner : samePubkey(a.owner, b.owner)
}

function ownerIn(balance: TokenBalance, watched: PubkeyTable<string>): string | undefined {
  const text = balance.ownerBase58
  if (typeof text === 'string') return watched.ofText(text)
  return balance.owner === null ? undefined : watched.ofBytes(balance.owner)
}

function add(
  changes: Map<string, LedgerChange[]>,
  all: TransactionChanges,
  txIndex: number,
  addresses: Addresses
): void {
  const { transaction } = all
  const signature = encodeBase58(transaction.signature)
  const { feeLamports } = transaction
  const feePayer = all.key(0)
  for (const [address, key] of addresses) {
    const seen = new AddressChanges(address, key, all)
    const rows = seen.own.map((change, index): LedgerChange => {
      const { account, mint, isNative, decimals, pre, post } = change
      const kind = entryKind(change, seen)
      const { counterparty, confidence } = counterpartyOf(change, kind, seen)
      return {
        signature,
        txIndex,
        index,
        account: all.key(account),
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
        ixIndex: ixIndexOf(change, kind, seen)
      }
    })
    if (rows.length > 0) append(changes, address, rows)
  }
}

function append(changes: Map<string, LedgerChange[]>, address: string, rows: LedgerChange[]): void {
  const earlier = changes.get(address)
  if (earlier === undefined) changes.set(address, rows)
  else earlier.push(...rows)
}

/** Returns the outer instruction that changed a balance; null if it is ambiguous, or no instruction did. */
function ixIndexOf(change: AccountChange, kind: EntryKind, seen: AddressChanges): number | null {
  if (isNetworkFee(change, seen)) return null
  // A changed account is writable wherever it is named.
  if (kind !== 'swap') return seen.all.outerIndexOf(change.account)
  const [first, ...more] = seen.tradesOf(change).map(({ trade }) => trade.ixIndex)
  return first === undefined || more.some((ixIndex) => ixIndex !== first) ? null : first
}
