import { address } from './layout.ts'
import { isZeroPubkey, pubkeyMapKey, samePubkey, type Pubkey } from './pubkey.ts'
import type { Movement } from './token-movement.ts'
import type { TokenBalance, Transaction } from './transaction.ts'

/** Wrapped SOL; native SOL legs of bonding curves are reported under it. */
export const NATIVE_MINT = address('So11111111111111111111111111111111111111112')
export const NATIVE_DECIMALS = 9

/**
 * What a transaction says of its token accounts: mint, decimals, owner and what each was credited. Built from the
 * balances that the node reports, accounts that were opened on the way and checked transfers; nothing is assumed.
 */
export class TokenAccounts {
  readonly #transaction: Transaction
  readonly #movements: readonly Movement[]
  readonly #pre = new Map<number, TokenBalance>()
  readonly #post = new Map<number, TokenBalance>()
  readonly #mints = new Map<number, Pubkey>()
  readonly #decimals = new Map<string, number>()

  constructor(
    transaction: Transaction,
    movements: readonly Movement[],
    openings: readonly { readonly account: number; readonly mint: number }[]
  ) {
    this.#transaction = transaction
    this.#movements = movements
    this.#decimals.set(pubkeyMapKey(NATIVE_MINT), NATIVE_DECIMALS)
    for (const balance of transaction.preTokenBalances) this.#learn(this.#pre, balance)
    for (const balance of transaction.postTokenBalances) this.#learn(this.#post, balance)
    for (const { account, mint } of openings) {
      if (!this.#mints.has(account)) this.#mints.set(account, transaction.keys.bytes(mint))
    }
    for (const movement of movements) {
      if (movement.mint < 0) continue
      const mint = transaction.keys.bytes(movement.mint)
      if (movement.source >= 0) this.#mints.set(movement.source, mint)
      if (movement.destination >= 0) this.#mints.set(movement.destination, mint)
      if (movement.decimals >= 0) this.#decimals.set(pubkeyMapKey(mint), movement.decimals)
    }
  }

  #learn(balances: Map<number, TokenBalance>, balance: TokenBalance): void {
    balances.set(balance.account, balance)
    this.#mints.set(balance.account, balance.mint)
    this.#decimals.set(pubkeyMapKey(balance.mint), balance.decimals)
  }

  /** The mint of a token account; null when the transaction does not show it. */
  mintOf(account: number): Pubkey | null {
    return this.#mints.get(account) ?? null
  }

  /** The mint that a movement moved: as stated, else that of either account. */
  mintMoved(movement: Movement): Pubkey | null {
    if (movement.mint >= 0) return this.#transaction.keys.bytes(movement.mint)
    return this.mintOf(movement.destination) ?? this.mintOf(movement.source)
  }

  /** The decimals of a mint; null when nothing in the transaction states them. */
  decimalsOf(mint: Pubkey): number | null {
    return this.#decimals.get(pubkeyMapKey(mint)) ?? null
  }

  /** Decimals that a venue's own event or launch data states; never overrides what the token program said. */
  stateDecimals(mint: Pubkey, decimals: number): void {
    const key = pubkeyMapKey(mint)
    if (!this.#decimals.has(key)) this.#decimals.set(key, decimals)
  }

  /** The owner of a token account as the node reports it; null in older records or when not reported. */
  ownerOf(account: number): Pubkey | null {
    return (this.#pre.get(account) ?? this.#post.get(account))?.owner ?? null
  }

  /** Balance before the transaction, zero for an account that did not exist; null when the record has none of it. */
  balanceBefore(account: number): bigint | null {
    const balance = this.#pre.get(account)
    if (balance !== undefined) return balance.amount
    return this.#post.has(account) ? 0n : null
  }

  balanceAfter(account: number): bigint | null {
    const balance = this.#post.get(account)
    if (balance !== undefined) return balance.amount
    return this.#pre.has(account) ? 0n : null
  }

  /**
   * What a transfer credited to its destination: the amount, less a Token-2022 transfer fee. Where the fee is not
   * stated it follows from the destination's balances, provided this is the only transfer to it whose fee is open.
   * Null when it cannot be known.
   */
  credited(movement: Movement): bigint | null {
    if (movement.fee !== null) return movement.amount - movement.fee
    if (!movement.mayWithhold || movement.amount === 0n) return movement.amount
    const account = movement.destination
    const before = this.balanceBefore(account)
    const after = this.balanceAfter(account)
    if (before === null || after === null) return null
    let gross = after - before
    let open = 0
    let openAmount = 0n
    for (const other of this.#movements) {
      if (other.kind === 'lamports') continue
      if (other.source === account) gross += other.amount
      if (other.destination !== account) continue
      if (other.mayWithhold && other.fee === null && other.amount > 0n) {
        open++
        openAmount += other.amount
      } else gross -= other.amount - (other.fee ?? 0n)
    }
    if (gross === openAmount) return movement.amount
    return open === 1 && gross > 0n && gross < movement.amount ? gross : null
  }

  /**
   * Who traded (spec choices, section 12): the authority if it signed, else the signer that owns one of the
   * trader's token accounts, else the fee payer.
   */
  trader(authority: number, tokenAccounts: readonly number[]): Pubkey {
    const { keys, signerCount } = this.#transaction
    if (authority >= 0 && authority < signerCount) return keys.bytes(authority)
    for (const account of tokenAccounts) {
      const owner = this.ownerOf(account)
      if (owner === null || isZeroPubkey(owner)) continue
      for (let signer = 0; signer < signerCount; signer++) {
        if (samePubkey(keys.bytes(signer), owner)) return owner
      }
    }
    return keys.bytes(0)
  }
}
