import { decodeTransaction } from '../chain/decode.ts'
import type { Trade } from '../chain/events.ts'
import { Movements } from '../chain/movements.ts'
import { pubkeyToBase58 } from '../chain/pubkey.ts'
import type { Movement } from '../chain/token-movement.ts'
import type { TokenBalance, Transaction } from '../chain/transaction.ts'
import { feeWithdrawalsIn, type FeeWithdrawal } from '../chain/withheld-fees.ts'
import { SOL_DECIMALS, WSOL } from '../market/cash.ts'

/** A change of an account's balance by a transaction: of its lamports, or of the tokens that one owner has in it. */
export interface AccountChange {
  /** Key index. */
  readonly account: number
  /** The owner of a token account if it is stated, else the account itself; base58. */
  readonly party: string
  /** Base58; that of wrapped SOL for lamports. */
  readonly mint: string
  readonly isNative: boolean
  readonly decimals: number
  /** Base units. */
  readonly pre: bigint
  readonly post: bigint
}

/** An amount that an account gained (positive) or lost. */
export interface Flow extends Pick<AccountChange, 'account' | 'party'> {
  readonly amount: bigint
}

/** All balance changes of one transaction. */
export class TransactionChanges {
  readonly transaction: Transaction
  /** Keys whose lamports changed, in the order of keys. */
  readonly lamports: readonly AccountChange[]
  /** Changes of token accounts, in the order of keys. An account that changed its owner or mint has two. */
  readonly tokens: readonly AccountChange[]
  readonly #before: (TokenBalance | undefined)[] = []
  readonly #after: (TokenBalance | undefined)[] = []
  #lamportFlows: readonly Flow[] | undefined
  #rents: readonly Flow[] | undefined
  #trades: readonly Trade[] | undefined
  #movements: readonly Movement[] | undefined
  #feeWithdrawals: readonly FeeWithdrawal[] | undefined

  constructor(transaction: Transaction) {
    this.transaction = transaction
    const { failed, preTokenBalances, postTokenBalances } = transaction
    for (const balance of preTokenBalances) this.#before[balance.account] ??= balance
    for (const balance of postTokenBalances) this.#after[balance.account] ??= balance
    const keys = Array.from({ length: transaction.keys.length }, (_, account) => account)
    this.lamports = keys.flatMap((account) => this.#lamportsOf(account))
    this.tokens = failed ? [] : keys.flatMap((account) => this.#tokensOf(account))
  }

  /** The base58 of the key at an index. */
  key(account: number): string {
    return pubkeyToBase58(this.transaction.keys.bytes(account))
  }

  /** Returns a change without the fee of the transaction. */
  withoutFee({ account, isNative, pre, post }: AccountChange): bigint {
    return post - pre + (isNative && account === 0 ? this.transaction.feeLamports : 0n)
  }

  /** Lamports that keys gained or lost, without the fee, in the order of keys. */
  get lamportFlows(): readonly Flow[] {
    return (this.#lamportFlows ??= this.#listLamportFlows())
  }

  /** Lamports, wrapped SOL aside, put into or freed from the token accounts that the transaction created or closed. */
  get rents(): readonly Flow[] {
    return (this.#rents ??= this.#listRents())
  }

  /** The transfers, mints and burns of the transaction, in execution order. */
  get movements(): readonly Movement[] {
    return (this.#movements ??= new Movements(this.transaction).all())
  }

  /** Withdrawals of withheld transfer fees. */
  get feeWithdrawals(): readonly FeeWithdrawal[] {
    return (this.#feeWithdrawals ??= feeWithdrawalsIn(this.transaction))
  }

  /** The trades that the transaction decodes to. */
  get trades(): readonly Trade[] {
    return (this.#trades ??= decodeTransaction(this.transaction).events.filter(
      (event) => event.kind === 'trade'
    ))
  }

  #lamportsOf(account: number): readonly AccountChange[] {
    const [pre, post] = this.#lamportBalances(account)
    if (pre === post) return []
    const native = { mint: WSOL, isNative: true, decimals: SOL_DECIMALS }
    return [{ account, party: this.#partyOf(account), ...native, pre: BigInt(pre), post: BigInt(post) }]
  }

  /** Returns equal numbers for an account whose balances the record lacks. */
  #lamportBalances(account: number): readonly [pre: number, post: number] {
    const { preBalances, postBalances } = this.transaction
    const [pre, post] = [preBalances[account], postBalances[account]]
    return pre === undefined || post === undefined ? [0, 0] : [pre, post]
  }

  #tokensOf(account: number): readonly AccountChange[] {
    const [before, after] = [this.#before[account], this.#after[account]]
    if (before === undefined && after === undefined) return []
    const changes = isOfOneHolding(before, after)
      ? [this.#tokenChange(account, before, after)]
      : [this.#tokenChange(account, before, undefined), this.#tokenChange(account, undefined, after)]
    return changes.filter(({ pre, post }) => pre !== post)
  }

  #tokenChange(
    account: number,
    before: TokenBalance | undefined,
    after: TokenBalance | undefined
  ): AccountChange {
    const stated = (after ?? before)!
    const [pre, post] = [before?.amount ?? 0n, after?.amount ?? 0n]
    const isOwnerUnknown = before?.owner === null || after?.owner === null
    const party = (isOwnerUnknown ? null : ownerOf(stated)) ?? this.key(account)
    return { account, party, mint: mintOf(stated), isNative: false, decimals: stated.decimals, pre, post }
  }

  #partyOf(account: number): string {
    const balance = this.#after[account] ?? this.#before[account]
    return (balance === undefined ? null : ownerOf(balance)) ?? this.key(account)
  }

  #listLamportFlows(): readonly Flow[] {
    const flows = this.lamports.map((change) => ({ ...change, amount: this.withoutFee(change) }))
    const { preBalances, feeLamports } = this.transaction
    // A payer who got back exactly the fee has no change.
    if (preBalances.length > 0 && flows[0]?.account !== 0)
      return [{ account: 0, party: this.#partyOf(0), amount: feeLamports }, ...flows]
    return flows.filter(({ amount }) => amount !== 0n)
  }

  #listRents(): readonly Flow[] {
    const { lamports } = this
    const created = lamports.filter(
      ({ account }) => (this.#before[account] === undefined) !== (this.#after[account] === undefined)
    )
    return created.map(({ account, party, pre, post }) => {
      const wrapped = this.tokens.filter((each) => each.account === account && each.mint === WSOL)
      return { account, party, amount: post - pre - sumOf(wrapped) }
    })
  }
}

/** Sums up the changes of a list. */
export function sumOf(changes: readonly Pick<AccountChange, 'pre' | 'post'>[]): bigint {
  return changes.reduce((sum, { pre, post }) => sum + post - pre, 0n)
}

/** Returns whether two balances of an account are of one mint, and of one owner as far as both owners are known. */
function isOfOneHolding(before: TokenBalance | undefined, after: TokenBalance | undefined): boolean {
  if (before === undefined || after === undefined) return true
  const [a, b] = [ownerOf(before), ownerOf(after)]
  return mintOf(before) === mintOf(after) && (a === null || b === null || a === b)
}

const mintOf = (balance: TokenBalance): string => balance.mintBase58 ?? pubkeyToBase58(balance.mint)

function ownerOf(balance: TokenBalance): string | null {
  const text = balance.ownerBase58
  if (text !== undefined) return text
  return balance.owner === null ? null : pubkeyToBase58(balance.owner)
}
