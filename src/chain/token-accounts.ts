import { isZeroPubkey, pubkeyFromBase58, samePubkey, type Pubkey } from './pubkey.ts'
import type { Movement } from './token-movement.ts'
import type { Movements } from './movements.ts'
import type { TokenBalance, Transaction } from './transaction.ts'

/** Wrapped SOL; native SOL legs of bonding curves are reported under it. */
export const NATIVE_MINT = pubkeyFromBase58('So11111111111111111111111111111111111111112')
export const NATIVE_DECIMALS = 9

/**
 * What a transaction says of its token accounts: mint, decimals, owner and what each was credited. Built from the
 * balances that the node reports, accounts that were opened on the way and checked transfers; nothing is assumed.
 */
export class TokenAccounts {
  readonly #transaction: Transaction
  readonly #moved: Movements
  readonly #pre: (TokenBalance | undefined)[] = []
  readonly #post: (TokenBalance | undefined)[] = []
  /** Decimals of mints that were handed out, by identity; a base58 source decodes a key only when it is asked for. */
  readonly #known = new Map<Pubkey, number>([[NATIVE_MINT, NATIVE_DECIMALS]])
  readonly #stated: { readonly mint: Pubkey; readonly decimals: number }[] = []

  constructor(transaction: Transaction, moved: Movements) {
    this.#transaction = transaction
    this.#moved = moved
    for (const balance of transaction.preTokenBalances) this.#pre[balance.account] = balance
    for (const balance of transaction.postTokenBalances) this.#post[balance.account] = balance
  }

  /** The mint of a token account; null when the transaction does not show it. */
  mintOf(account: number): Pubkey | null {
    if (account < 0) return null
    const balance = this.#pre[account] ?? this.#post[account]
    if (balance !== undefined) {
      const { mint } = balance
      this.#known.set(mint, balance.decimals)
      return mint
    }
    const index = this.#mintIndexOf(account)
    return index < 0 ? null : this.#transaction.keys.bytes(index)
  }

  /** Key index of the mint of an account without a reported balance: one that was opened and closed on the way. */
  #mintIndexOf(account: number): number {
    for (const movement of this.#moved.all()) {
      if (movement.mint >= 0 && (movement.source === account || movement.destination === account)) {
        return movement.mint
      }
    }
    return this.#moved.openings().find((opening) => opening.account === account)?.mint ?? -1
  }

  /** The mint that a movement moved: as stated, else that of either account. */
  mintMoved(movement: Movement): Pubkey | null {
    if (movement.mint >= 0) return this.#transaction.keys.bytes(movement.mint)
    return this.mintOf(movement.destination) ?? this.mintOf(movement.source)
  }

  /** The decimals of a mint; null when nothing in the transaction states them. */
  decimalsOf(mint: Pubkey): number | null {
    const known = this.#known.get(mint)
    if (known !== undefined) return known
    const found = this.#findDecimals(mint)
    if (found !== null) this.#known.set(mint, found)
    return found
  }

  #findDecimals(mint: Pubkey): number | null {
    if (samePubkey(mint, NATIVE_MINT)) return NATIVE_DECIMALS
    const { preTokenBalances, postTokenBalances, keys } = this.#transaction
    for (const balance of postTokenBalances) if (samePubkey(balance.mint, mint)) return balance.decimals
    for (const balance of preTokenBalances) if (samePubkey(balance.mint, mint)) return balance.decimals
    for (const movement of this.#moved.all()) {
      if (movement.decimals >= 0 && samePubkey(keys.bytes(movement.mint), mint)) return movement.decimals
    }
    return this.#stated.find((stated) => samePubkey(stated.mint, mint))?.decimals ?? null
  }

  /** Decimals that a venue's own event or launch data states; never override what the token program said. */
  stateDecimals(mint: Pubkey, decimals: number): void {
    this.#stated.push({ mint, decimals })
  }

  /** The owner of a token account as the node reports it; null in older records or when not reported. */
  ownerOf(account: number): Pubkey | null {
    return (this.#pre[account] ?? this.#post[account])?.owner ?? null
  }

  /** Balance before the transaction, zero for an account that did not exist; null when the record has none of it. */
  balanceBefore(account: number): bigint | null {
    const balance = this.#pre[account]
    if (balance !== undefined) return balance.amount
    return this.#post[account] !== undefined || this.#isTemporary(account) ? 0n : null
  }

  balanceAfter(account: number): bigint | null {
    const balance = this.#post[account]
    if (balance !== undefined) return balance.amount
    return this.#pre[account] !== undefined || this.#isTemporary(account) ? 0n : null
  }

  /** Opened and closed within the transaction, so that it began and ended empty. */
  #isTemporary(account: number): boolean {
    return (
      this.#post.length > 0 &&
      this.#pre[account] === undefined &&
      this.#post[account] === undefined &&
      this.#moved.openings().some((opening) => opening.account === account)
    )
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
    for (const other of this.#moved.all()) {
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
   * Whether the reported balances of an account that stood before and after contradict what was moved: neither the
   * given change nor all movements of the transaction lead from the one to the other. Lamports that were sent to
   * wrapped SOL may count or not, as it takes another instruction to make tokens of them.
   */
  balancesContradict(account: number, change: bigint): boolean {
    const before = this.#pre[account]
    const after = this.#post[account]
    if (before === undefined || after === undefined) return false
    const difference = after.amount - before.amount
    if (difference === change) return false
    let tokens = 0n
    let lamports = 0n
    for (const movement of this.#moved.all()) {
      if (movement.source === account) tokens -= movement.amount
      if (movement.destination !== account) continue
      const credited = this.credited(movement)
      if (credited === null) return false
      if (movement.kind === 'lamports') lamports += movement.amount
      else tokens += credited
    }
    return difference !== tokens && difference !== tokens + lamports
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
