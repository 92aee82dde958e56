import { pubkeyMapKey, samePubkey, type Pubkey } from '../../chain/pubkey.ts'
import { NATIVE_MINT } from '../../chain/token-accounts.ts'
import type { LocalAccount } from '../chain.ts'
import { associatedTokenAccount } from '../../signing/program-address.ts'
import { SYSTEM, TOKEN, TOKEN_2022 } from '../programs.ts'
import type { LedgerView } from './script.ts'
import { mintAccount, newMint, newTokenAccount, rentExempt, tokenAccount } from './token-layouts.ts'

type Draft = { -readonly [K in keyof LocalAccount]: LocalAccount[K] }

const NO_RENT_EPOCH = 2n ** 64n - 1n

/**
 * The market's accounts, with their data as on chain and nothing else. Changes of a transaction are a draft until the
 * transaction is committed or dropped; reads see the draft. Returned accounts are never modified.
 */
export class Ledger implements LedgerView {
  readonly #accounts = new Map<string, LocalAccount>()
  /** Reads accounts that this ledger has not seen from the chain; null if there is no chain. */
  readonly #elsewhere: ((address: Pubkey) => LocalAccount | null) | null
  #draft: Map<string, Draft> | null = null

  constructor(
    accounts: Iterable<LocalAccount> = [],
    elsewhere: ((address: Pubkey) => LocalAccount | null) | null = null
  ) {
    this.#elsewhere = elsewhere
    this.#set(newAccount(NATIVE_MINT, TOKEN, rentExempt(82), newMint(9, null)))
    for (const account of accounts) this.#set(account)
  }

  /** Returns all accounts in order of creation; they suffice to recreate the ledger. */
  accounts(): readonly LocalAccount[] {
    return [...this.#accounts.values()].filter(({ lamports }) => lamports > 0n)
  }

  get size(): number {
    return this.#accounts.size
  }

  /**
   * Drops all accounts, so that they are read from the chain again: others may have paid into them. Called only once the
   * chain has everything that was committed here. If there is no chain, nothing happens.
   */
  refresh(): void {
    if (this.#elsewhere !== null) this.#accounts.clear()
  }

  /** Begins a transaction; one at a time. */
  begin(): void {
    if (this.#draft !== null) throw new Error('a transaction is open')
    this.#draft = new Map()
  }

  /** Ends the transaction and returns the changed accounts. A deleted account is returned once, without lamports. */
  commit(): readonly LocalAccount[] {
    const changed = [...this.#open().values()]
    this.#draft = null
    for (const account of changed) this.#set(account)
    return changed
  }

  drop(): void {
    this.#draft = null
  }

  /** Returns an account in its current state; null if it does not exist. */
  account(address: Pubkey): LocalAccount | null {
    const key = pubkeyMapKey(address)
    const account = this.#draft?.get(key) ?? this.#known(key, address)
    return account === undefined || account.lamports === 0n ? null : account
  }

  /** Tells whether the open transaction changed an account. */
  isDrafted(address: Pubkey): boolean {
    return this.#open().has(pubkeyMapKey(address))
  }

  /** Returns an account as before the open transaction. */
  accountBefore(address: Pubkey): LocalAccount | null {
    return this.#known(pubkeyMapKey(address), address) ?? null
  }

  lamports(address: Pubkey): bigint {
    return this.account(address)?.lamports ?? 0n
  }

  data(address: Pubkey): Uint8Array | null {
    return this.account(address)?.data ?? null
  }

  tokens(address: Pubkey): bigint {
    const account = this.account(address)
    return account !== null && holdsTokens(account) ? tokenAccount.amount(account.data) : 0n
  }

  mint(address: Pubkey) {
    const account = this.account(address)
    if (account === null || !mintAccount.is(account.data)) throw new Error('there is no such mint')
    const { data, owner } = account
    return { decimals: mintAccount.decimals(data), supply: mintAccount.supply(data), program: owner }
  }

  tokenAccountOf(owner: Pubkey, mint: Pubkey): Pubkey {
    return associatedTokenAccount(owner, mint, this.mint(mint).program)
  }

  /** Adds lamports, or removes them if negative; a missing account is created with the system program as owner. */
  addLamports(address: Pubkey, lamports: bigint): void {
    const draft = this.#touch(address)
    draft.lamports += lamports
    if (draft.lamports < 0n) throw new LackingFunds('lamports')
  }

  create(address: Pubkey, owner: Pubkey, data: Uint8Array): void {
    const draft = this.#touch(address)
    draft.owner = owner
    draft.data = data
  }

  setData(address: Pubkey, data: Uint8Array): void {
    this.#touch(address).data = data
  }

  close(address: Pubkey, to: Pubkey): void {
    const draft = this.#touch(address)
    const { lamports } = draft
    draft.lamports = 0n
    draft.data = new Uint8Array(0)
    draft.owner = SYSTEM
    this.addLamports(to, lamports)
  }

  createTokenAccount(address: Pubkey, owner: Pubkey, mint: Pubkey, immutable: boolean): void {
    this.create(address, this.mint(mint).program, newTokenAccount(mint, owner, immutable))
  }

  /** Adds tokens to an account, or removes them if negative; wrapped SOL also moves its lamports. */
  addTokens(address: Pubkey, mint: Pubkey, amount: bigint): void {
    const draft = this.#touch(address)
    if (!holdsTokens(draft)) throw new Error('there is no such token account')
    if (!samePubkey(tokenAccount.mint(draft.data), mint)) throw new Error('a token account of another mint')
    const after = tokenAccount.amount(draft.data) + amount
    if (after < 0n) throw new LackingFunds('tokens')
    tokenAccount.setAmount(draft.data, after)
    if (tokenAccount.isNative(draft.data)) draft.lamports += amount
  }

  /** Converts lamports sent to an account of wrapped SOL to tokens. */
  syncNative(address: Pubkey): void {
    const draft = this.#touch(address)
    tokenAccount.setAmount(draft.data, draft.lamports - tokenAccount.nativeReserve(draft.data))
  }

  addSupply(mint: Pubkey, amount: bigint): void {
    const draft = this.#touch(mint)
    mintAccount.setSupply(draft.data, mintAccount.supply(draft.data) + amount)
  }

  #touch(address: Pubkey): Draft {
    const open = this.#open()
    const key = pubkeyMapKey(address)
    const drafted = open.get(key)
    if (drafted !== undefined) return drafted
    const account = this.#known(key, address)
    const draft =
      account === undefined
        ? newAccount(new Uint8Array(address), SYSTEM, 0n, new Uint8Array(0))
        : { ...account, data: account.data.slice() }
    open.set(key, draft)
    return draft
  }

  #known(key: string, address: Pubkey): LocalAccount | undefined {
    const known = this.#accounts.get(key)
    // A closed account stays recorded here: the chain may still have it open.
    if (known !== undefined) return known
    const found = this.#elsewhere?.(address) ?? null
    if (found === null || found.lamports === 0n) return undefined
    this.#accounts.set(key, found)
    return found
  }

  #open(): Map<string, Draft> {
    if (this.#draft === null) throw new Error('no transaction is open')
    return this.#draft
  }

  #set(account: LocalAccount): void {
    this.#accounts.set(pubkeyMapKey(account.address), account)
  }
}

/** Thrown by a transfer of more than the account holds. */
export class LackingFunds extends Error {
  constructor(what: string) {
    super(`an account lacks the ${what}`)
  }
}

/** Tells whether an account is a token account of one of the token programs. */
export function holdsTokens({ owner, data }: LocalAccount): boolean {
  return (samePubkey(owner, TOKEN) || samePubkey(owner, TOKEN_2022)) && tokenAccount.is(data)
}

export function newAccount(address: Pubkey, owner: Pubkey, lamports: bigint, data: Uint8Array): Draft {
  return { address, owner, lamports, data, executable: false, rentEpoch: NO_RENT_EPOCH }
}
