import { NATIVE_DECIMALS, NATIVE_MINT } from './native-mint.ts'
import { distinctPubkeys, isZeroPubkey, pubkeyFromBase58, samePubkey, type Pubkey } from './pubkey.ts'
import { SignerChanges } from './signer-changes.ts'
import type { Movement } from './token-movement.ts'
import type { Movements } from './movements.ts'
import type { TokenBalance, Transaction } from './transaction.ts'
import { withheldOf, type TransferFeeLookup } from './transfer-fee.ts'

export { NATIVE_DECIMALS, NATIVE_MINT } from './native-mint.ts'

/** The program that derives and creates the usual token account of a wallet for a mint. */
export const ASSOCIATED_TOKEN = pubkeyFromBase58('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL')
/**
 * The token accounts of a transaction: mint, decimals, owner and credited amounts. Built from the balances that the
 * node reports, accounts opened on the way, and checked transfers; nothing is assumed.
 */
export class TokenAccounts {
  readonly #transaction: Transaction
  readonly #moved: Movements
  readonly #pre: (TokenBalance | undefined)[] = []
  readonly #post: (TokenBalance | undefined)[] = []
  /** Decimals of mints returned so far, by identity, because a base58 source decodes a key only on first use. */
  readonly #known = new Map<Pubkey, number>([[NATIVE_MINT, NATIVE_DECIMALS]])
  readonly #stated: { readonly mint: Pubkey; readonly decimals: number }[] = []
  readonly #feeOf: TransferFeeLookup | null
  readonly #openFees = new Set<Pubkey>()
  #signers: SignerChanges | undefined

  constructor(transaction: Transaction, moved: Movements, feeOf: TransferFeeLookup | null = null) {
    this.#feeOf = feeOf
    this.#transaction = transaction
    this.#moved = moved
    for (const balance of transaction.preTokenBalances) this.#pre[balance.account] = balance
    for (const balance of transaction.postTokenBalances) this.#post[balance.account] = balance
  }

  /** Returns the mint of a token account; null if the transaction does not show it. */
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

  /**
   * Returns the key index of the mint of an account without a reported balance: it was opened and closed in the
   * transaction.
   */
  #mintIndexOf(account: number): number {
    for (const movement of this.#moved.all()) {
      if (movement.mint >= 0 && (movement.source === account || movement.destination === account)) {
        return movement.mint
      }
    }
    return this.#moved.openings().find((opening) => opening.account === account)?.mint ?? -1
  }

  /** Returns the mint of a movement: the stated one, or the mint of either account; null if unknown. */
  mintMoved(movement: Movement): Pubkey | null {
    if (movement.mint >= 0) return this.#transaction.keys.bytes(movement.mint)
    return this.mintOf(movement.destination) ?? this.mintOf(movement.source)
  }

  /** Returns the decimals of a mint; null if nothing in the transaction states them. */
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

  /** Adds decimals that a venue's own event or launch data states. They never override the token program's. */
  stateDecimals(mint: Pubkey, decimals: number): void {
    this.#stated.push({ mint, decimals })
  }

  /** Returns the owner of a token account as the node reports it; null in older records or if not reported. */
  ownerOf(account: number): Pubkey | null {
    return (this.#pre[account] ?? this.#post[account])?.owner ?? null
  }

  /** Returns the balance before the transaction, zero for an account that did not exist; null if not recorded. */
  balanceBefore(account: number): bigint | null {
    const balance = this.#pre[account]
    if (balance !== undefined) return balance.amount
    return this.#post[account] !== undefined || this.#isTemporary(account) ? 0n : null
  }

  /** Returns the balance after the transaction, zero for an account that it closed; null if not recorded. */
  balanceAfter(account: number): bigint | null {
    const balance = this.#post[account]
    if (balance !== undefined) return balance.amount
    return this.#pre[account] !== undefined || this.#isTemporary(account) ? 0n : null
  }

  /** Tells whether an account was opened and closed within the transaction, so that it began and ended empty. */
  #isTemporary(account: number): boolean {
    return (
      this.#post.length > 0 &&
      this.#pre[account] === undefined &&
      this.#post[account] === undefined &&
      this.#moved.openings().some((opening) => opening.account === account)
    )
  }

  /**
   * Returns the amount that a transfer credited to its destination: the amount less a Token-2022 transfer fee. An
   * unstated fee follows from the destination's balances, if no other transfer to that account has an open fee. Otherwise
   * it follows from the mint's fee, if that fee is known and explains the balances. Otherwise returns null.
   */
  credited(movement: Movement): bigint | null {
    if (movement.fee !== null) return movement.amount - movement.fee
    if (!movement.mayWithhold || movement.amount === 0n) return movement.amount
    const account = movement.destination
    const before = this.balanceBefore(account)
    const after = this.balanceAfter(account)
    if (before === null || after === null) return this.#creditedByFee(movement, [movement], null)
    let gross = after - before
    const open: Movement[] = []
    let openAmount = 0n
    for (const other of this.#moved.all()) {
      if (other.kind === 'lamports') continue
      if (other.source === account) gross += other.amount
      if (other.destination !== account) continue
      if (other.mayWithhold && other.fee === null && other.amount > 0n) {
        open.push(other)
        openAmount += other.amount
      } else gross -= other.amount - (other.fee ?? 0n)
    }
    if (gross === openAmount) return movement.amount
    if (open.length === 1) return gross > 0n && gross < movement.amount ? gross : null
    return this.#creditedByFee(movement, open, gross)
  }

  /**
   * Returns the amount that a transfer credits, computed from the fee of its mint. `open` are all transfers whose fees
   * together explain `credited`, the amount that the balances show for them. `credited` is null if the balances are not
   * reported.
   */
  #creditedByFee(movement: Movement, open: readonly Movement[], credited: bigint | null): bigint | null {
    const mint = this.mintMoved(movement)
    if (mint === null) return null
    const fee = this.#feeOf?.(mint) ?? null
    if (fee === null) {
      this.#openFees.add(mint)
      return null
    }
    const net = (amount: bigint): bigint => amount - withheldOf(fee, amount)
    const sum = open.reduce((total, { amount }) => total + net(amount), 0n)
    return credited === null || credited === sum ? net(movement.amount) : null
  }

  /** Mints whose transfer fee was needed and is unknown. */
  get openFees(): readonly Pubkey[] {
    return distinctPubkeys([...this.#openFees])
  }

  /**
   * Tells whether the reported balances of an account contradict the movements: neither the given change nor all movements
   * of the transaction lead from the earlier balance to the later one. Lamports sent to a wrapped SOL account may or may not
   * count, because another instruction must convert them to tokens. False unless both balances are reported.
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
   * Returns the trader. First choice is the authority if it signed, second the signer that owns
   * one of the trader's token accounts, third the owner of the account that paid, signer or not. `Emitter` prefers
   * `heldBySigner` to the third. The fee payer is returned only if no account names a trader.
   *
   * @param authority key index; -1 if unknown
   * @param tokenAccounts key indexes; the account that paid comes first
   */
  trader(authority: number, tokenAccounts: readonly number[]): Pubkey {
    const { keys, signerCount } = this.#transaction
    if (authority >= 0 && authority < signerCount) return keys.bytes(authority)
    let payer: Pubkey | null = null
    for (const account of tokenAccounts) {
      const owner = this.ownerOf(account)
      if (owner === null || isZeroPubkey(owner)) continue
      if (this.isSigner(owner)) return owner
      if (account === tokenAccounts[0]) payer = owner
    }
    return payer ?? keys.bytes(authority < 0 ? 0 : authority)
  }

  isSigner(key: Pubkey): boolean {
    const { keys, signerCount } = this.#transaction
    for (let signer = 0; signer < signerCount; signer++) {
      const signed = keys.bytes(signer)
      if (signed === key || samePubkey(signed, key)) return true
    }
    return false
  }

  /**
   * Returns a signer whose own balance of one of the mints changed in the transaction; null if no signer's changed.
   * Lamports count for wrapped SOL, beyond the fee and other costs.
   */
  heldBySigner(mints: readonly Pubkey[]): Pubkey | null {
    this.#signers ??= new SignerChanges(this.#transaction, this.#moved)
    const holder = this.#signers.holderOf(mints)
    if (holder !== null || !mints.some((mint) => samePubkey(mint, NATIVE_MINT))) return holder
    return this.#signers.lamportHolder()
  }
}
