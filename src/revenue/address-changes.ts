import { WSOL } from '../market/cash.ts'
import {
  sumOf,
  type AccountChange,
  type Flow,
  type NamedTrade,
  type TransactionChanges
} from './transaction-changes.ts'

/** The amount of a mint that another party gained (positive) or lost, in all of its accounts. */
export interface OtherParty {
  readonly party: string
  readonly amount: bigint
}

/**
 * The changes of a transaction from the view of a watched address. Token accounts count for their owners. The address counts
 * for itself, even if it is a token account.
 */
export class AddressChanges {
  readonly address: string
  readonly all: TransactionChanges
  /** Key index of the address; -1 if it only owns token accounts. */
  readonly #key: number
  #own: readonly AccountChange[] | undefined
  #lamports: bigint | undefined
  #wrapped: bigint | undefined
  /** The change that was asked for last, with what was found: kind, counterparty and instruction need the same. */
  #opposite: { readonly of: AccountChange; readonly parties: readonly OtherParty[] } | undefined
  #ownTrades: { readonly of: AccountChange; readonly trades: readonly NamedTrade[] } | undefined

  constructor(address: string, key: number, all: TransactionChanges) {
    this.address = address
    this.all = all
    this.#key = key
  }

  /** The changes of the address: its lamports first, then token accounts in the order of keys. */
  get own(): readonly AccountChange[] {
    return (this.#own ??= this.#listOwn())
  }

  /** Lamports that the address gained or lost, without the fee. */
  get lamports(): bigint {
    return (this.#lamports ??=
      this.all.lamportFlows.find(({ account }) => account === this.#key)?.amount ?? 0n)
  }

  /** Wrapped SOL that the address gained or lost. */
  get wrapped(): bigint {
    return (this.#wrapped ??= sumOf(this.own.filter(({ isNative, mint }) => !isNative && mint === WSOL)))
  }

  /** Returns whether an account or its owner counts for the address. */
  isOwn({ account, party }: Pick<Flow, 'account' | 'party'>): boolean {
    return account === this.#key || party === this.address
  }

  /** Net amounts of a mint that other parties gained or lost, in the order of keys; without the fee for lamports. */
  othersOf(mint: Pick<AccountChange, 'mint' | 'isNative'>): readonly OtherParty[] {
    const others: { party: string; amount: bigint }[] = []
    for (const flow of this.all.flowsOf(mint)) {
      if (this.isOwn(flow)) continue
      const { party, amount } = flow
      const known = others.find((each) => each.party === party)
      if (known === undefined) others.push({ party, amount })
      else known.amount += amount
    }
    return others
  }

  /**
   * Lists the other parties with a change opposite to one of the address. Wrapped SOL that no other party gained or lost came
   * from lamports, or became lamports, so lamports count for it.
   */
  oppositeTo(change: AccountChange): readonly OtherParty[] {
    if (this.#opposite?.of !== change) this.#opposite = { of: change, parties: this.#oppositeTo(change) }
    return this.#opposite.parties
  }

  #oppositeTo(change: AccountChange): readonly OtherParty[] {
    const own = this.all.withoutFee(change)
    const isOpposite = ({ amount }: OtherParty): boolean => areOpposite(amount, own)
    const found = this.othersOf(change).filter(isOpposite)
    return found.length === 0 && change.mint === WSOL && !change.isNative
      ? this.othersOf({ mint: WSOL, isNative: true }).filter(isOpposite)
      : found
  }

  /** Lists the trades by the address, or by the owner of an account that it is, in which a change has its mint. */
  tradesOf(change: AccountChange): readonly NamedTrade[] {
    if (this.#ownTrades?.of !== change) this.#ownTrades = { of: change, trades: this.#tradesOf(change) }
    return this.#ownTrades.trades
  }

  #tradesOf(change: AccountChange): readonly NamedTrade[] {
    const { trades } = this.all
    if (trades.length === 0) return trades
    const { party, mint, isNative } = change
    const found = trades.filter(
      (trade) => trade.user === party && (trade.inMint === mint || trade.outMint === mint)
    )
    return isNative && this.#haveWrappedLeg(found) ? [] : found
  }

  #listOwn(): readonly AccountChange[] {
    const own = this.all.lamports.filter(({ account }) => account === this.#key)
    own.push(...this.#ownTokens())
    return own
  }

  /** The tokens of accounts that the address owns, or is. An account that it is counts whoever owns it. */
  #ownTokens(): readonly AccountChange[] {
    const held = this.all.tokens.filter((change) => this.isOwn(change))
    if (!held.some(({ account }) => account === this.#key)) return held
    const itself = Map.groupBy(
      held.filter(({ account }) => account === this.#key),
      ({ mint }) => mint
    )
    const merged = [...itself.values()].map((changes) => ({
      ...changes[0]!,
      pre: changes.reduce((sum, { pre }) => sum + pre, 0n),
      post: changes.reduce((sum, { post }) => sum + post, 0n)
    }))
    const owned = held.filter(({ account }) => account !== this.#key)
    return [...merged.filter(({ pre, post }) => pre !== post), ...owned].sort((a, b) => a.account - b.account)
  }

  /** Returns whether wrapped SOL of the address, and so not its lamports, paid for trades or was received in them. */
  #haveWrappedLeg(trades: readonly NamedTrade[]): boolean {
    const { wrapped } = this
    return trades.some(
      ({ inMint, outMint }) => (wrapped < 0n && inMint === WSOL) || (wrapped > 0n && outMint === WSOL)
    )
  }
}

/** Returns whether one amount is a gain and the other a loss. */
export const areOpposite = (a: bigint, b: bigint): boolean => (a < 0n && b > 0n) || (a > 0n && b < 0n)
