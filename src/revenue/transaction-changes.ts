import { decodeTransaction } from '../chain/decode.ts'
import type { ChainEvent, Fee, Trade } from '../chain/events.ts'
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

/** The amounts of a mint that accounts gained (positive) or lost. */
interface MintFlows {
  /** In the order of keys. */
  readonly flows: readonly Flow[]
  readonly sum: bigint
}

/** A trade with its addresses in base58. */
export interface NamedTrade {
  readonly trade: Trade
  readonly user: string
  readonly inMint: string
  readonly outMint: string
  readonly fees: readonly NamedFee[]
}

/** A fee of a trade with its mint in base58. */
export interface NamedFee extends Pick<Fee, 'kind' | 'amount'> {
  readonly mint: string
}

/** Places of a list by account: no outer instruction names the account, or several do. */
const UNNAMED = -1
const AMBIGUOUS = -2

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
  #trades: readonly NamedTrade[] | undefined
  readonly #events: readonly ChainEvent[] | undefined
  /** Flows of tokens by mint. */
  readonly #flows = new Map<string, MintFlows>()
  readonly #keys: (string | undefined)[] = []
  /** By account, the outer instruction that names it. */
  #outerIndexes: Int32Array | undefined
  #movements: readonly Movement[] | undefined
  #feeWithdrawals: readonly FeeWithdrawal[] | undefined

  /** `events` are those that the transaction decodes to, if they are known. */
  constructor(transaction: Transaction, events?: readonly ChainEvent[]) {
    this.transaction = transaction
    this.#events = events
    const { failed, preTokenBalances, postTokenBalances } = transaction
    for (const balance of preTokenBalances) this.#before[balance.account] ??= balance
    for (const balance of postTokenBalances) this.#after[balance.account] ??= balance
    const [lamports, tokens]: [AccountChange[], AccountChange[]] = [[], []]
    for (let account = 0; account < transaction.keys.length; account++) {
      this.#addLamportsOf(account, lamports)
      if (!failed) this.#addTokensOf(account, tokens)
    }
    this.lamports = lamports
    this.tokens = tokens
  }

  /** The base58 of the key at an index. */
  key(account: number): string {
    return (this.#keys[account] ??= pubkeyToBase58(this.transaction.keys.bytes(account)))
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
  get trades(): readonly NamedTrade[] {
    return (this.#trades ??= (this.#events ?? decodeTransaction(this.transaction).events)
      .filter((event) => event.kind === 'trade')
      .map(namedTrade))
  }

  /** Flows of a mint's tokens, or of lamports without the fee. */
  flowsOf({ mint, isNative }: Pick<AccountChange, 'mint' | 'isNative'>): readonly Flow[] {
    return isNative ? this.lamportFlows : this.#flowsOf(mint).flows
  }

  /** Returns by how much the tokens of a mint became more. */
  supplyChange(mint: string): bigint {
    return this.#flowsOf(mint).sum
  }

  /** Returns the only outer instruction that names an account, itself or in its calls; null if none or several do. */
  outerIndexOf(account: number): number | null {
    const outerIndex = (this.#outerIndexes ??= this.#listOuterIndexes())[account] ?? UNNAMED
    return outerIndex < 0 ? null : outerIndex
  }

  #flowsOf(mint: string): MintFlows {
    const known = this.#flows.get(mint)
    if (known !== undefined) return known
    const flows: Flow[] = []
    let sum = 0n
    for (const change of this.tokens) {
      if (change.mint !== mint) continue
      const amount = change.post - change.pre
      flows.push({ account: change.account, party: change.party, amount })
      sum += amount
    }
    const found = { flows, sum }
    this.#flows.set(mint, found)
    return found
  }

  #listOuterIndexes(): Int32Array {
    const { keys, instructions } = this.transaction
    const outerIndexes = new Int32Array(keys.length).fill(UNNAMED)
    for (const { accounts, outerIndex } of instructions)
      for (let i = 0; i < accounts.length; i++) {
        const account = accounts[i]!
        const known = outerIndexes[account]
        if (known === UNNAMED) outerIndexes[account] = outerIndex
        else if (known !== outerIndex) outerIndexes[account] = AMBIGUOUS
      }
    return outerIndexes
  }

  #addLamportsOf(account: number, changes: AccountChange[]): void {
    const { preBalances, postBalances } = this.transaction
    const [pre, post] = [preBalances[account], postBalances[account]]
    // The record may lack balances.
    if (pre === post || pre === undefined || post === undefined) return
    changes.push({
      account,
      party: this.#partyOf(account),
      mint: WSOL,
      isNative: true,
      decimals: SOL_DECIMALS,
      pre: BigInt(pre),
      post: BigInt(post)
    })
  }

  #addTokensOf(account: number, changes: AccountChange[]): void {
    const [before, after] = [this.#before[account], this.#after[account]]
    if (before === undefined && after === undefined) return
    if (isOfOneHolding(before, after)) this.#addTokens(account, before, after, changes)
    else {
      this.#addTokens(account, before, undefined, changes)
      this.#addTokens(account, undefined, after, changes)
    }
  }

  #addTokens(
    account: number,
    before: TokenBalance | undefined,
    after: TokenBalance | undefined,
    changes: AccountChange[]
  ): void {
    const pre = before?.amount ?? 0n
    const post = after?.amount ?? 0n
    if (pre === post) return
    const stated = (after ?? before)!
    const isOwnerUnknown = before?.owner === null || after?.owner === null
    const party = (isOwnerUnknown ? null : ownerOf(stated)) ?? this.key(account)
    const { decimals } = stated
    changes.push({ account, party, mint: mintOf(stated), isNative: false, decimals, pre, post })
  }

  #partyOf(account: number): string {
    const balance = this.#after[account] ?? this.#before[account]
    return (balance === undefined ? null : ownerOf(balance)) ?? this.key(account)
  }

  #listLamportFlows(): readonly Flow[] {
    const flows: Flow[] = []
    const { preBalances, feeLamports } = this.transaction
    // A payer who got back exactly the fee has no change.
    const lacksPayer = preBalances.length > 0 && this.lamports[0]?.account !== 0
    if (lacksPayer) flows.push({ account: 0, party: this.#partyOf(0), amount: feeLamports })
    for (const change of this.lamports) {
      const amount = this.withoutFee(change)
      if (lacksPayer || amount !== 0n) flows.push({ account: change.account, party: change.party, amount })
    }
    return flows
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

function namedTrade(trade: Trade): NamedTrade {
  return {
    trade,
    user: pubkeyToBase58(trade.user),
    inMint: pubkeyToBase58(trade.inMint),
    outMint: pubkeyToBase58(trade.outMint),
    fees: trade.fees.map(({ kind, mint, amount }) => ({ kind, mint: pubkeyToBase58(mint), amount }))
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
