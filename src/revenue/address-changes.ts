import type { Trade } from '../chain/events.ts'
import { pubkeyToBase58 } from '../chain/pubkey.ts'
import { WSOL } from '../market/cash.ts'
import { sumOf, type AccountChange, type Flow, type TransactionChanges } from './transaction-changes.ts'

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

  constructor(address: string, key: number, all: TransactionChanges) {
    this.address = address
    this.all = all
    this.#key = key
  }

  /** The changes of the address: its lamports first, then token accounts in the order of keys. */
  get own(): readonly AccountChange[] {
    return (this.#own ??= [
      ...this.all.lamports.filter(({ account }) => account === this.#key),
      ...this.#ownTokens()
    ])
  }

  /** Lamports that the address gained or lost, without the fee. */
  get lamports(): bigint {
    return this.all.lamportFlows.find(({ account }) => account === this.#key)?.amount ?? 0n
  }

  /** Wrapped SOL that the address gained or lost. */
  get wrapped(): bigint {
    return sumOf(this.own.filter(({ isNative, mint }) => !isNative && mint === WSOL))
  }

  /** Returns whether an account or its owner counts for the address. */
  isOwn({ account, party }: Pick<Flow, 'account' | 'party'>): boolean {
    return account === this.#key || party === this.address
  }

  /** Net amounts of a mint that other parties gained or lost, in the order of keys; without the fee for lamports. */
  othersOf({ mint, isNative }: Pick<AccountChange, 'mint' | 'isNative'>): ReadonlyMap<string, bigint> {
    const flows = isNative
      ? this.all.lamportFlows
      : this.all.tokens
          .filter((change) => change.mint === mint)
          .map((change) => ({ ...change, amount: this.all.withoutFee(change) }))
    const others = new Map<string, bigint>()
    for (const flow of flows)
      if (!this.isOwn(flow)) others.set(flow.party, (others.get(flow.party) ?? 0n) + flow.amount)
    return others
  }

  /**
   * Lists the other parties with a change opposite to one of the address, with their amounts. Wrapped SOL that no other
   * party gained or lost came from lamports, or became lamports, so lamports count for it.
   */
  oppositeTo(change: AccountChange): readonly (readonly [party: string, amount: bigint])[] {
    const amount = this.all.withoutFee(change)
    const found = [...this.othersOf(change)].filter(([, other]) => areOpposite(other, amount))
    return found.length === 0 && change.mint === WSOL && !change.isNative
      ? [...this.othersOf({ mint: WSOL, isNative: true })].filter(([, other]) => areOpposite(other, amount))
      : found
  }

  /** Lists the trades by the address, or by the owner of an account that it is, in which a change has its mint. */
  tradesOf(change: AccountChange): readonly Trade[] {
    const trades = this.all.trades.filter(
      (trade) => this.isTrader(trade, change) && (givesOf(trade, change.mint) || takesOf(trade, change.mint))
    )
    return change.isNative && this.#haveWrappedLeg(trades) ? [] : trades
  }

  /** Returns whether the account of a change, or its owner, is the user of a trade. */
  isTrader({ user }: Trade, { party }: AccountChange): boolean {
    return pubkeyToBase58(user) === party
  }

  /** The tokens of accounts that the address owns, or is. An account that it is counts whoever owns it. */
  #ownTokens(): readonly AccountChange[] {
    const itself = Map.groupBy(
      this.all.tokens.filter(({ account }) => account === this.#key),
      ({ mint }) => mint
    )
    const merged = [...itself.values()].map((changes) => ({
      ...changes[0]!,
      pre: changes.reduce((sum, { pre }) => sum + pre, 0n),
      post: changes.reduce((sum, { post }) => sum + post, 0n)
    }))
    const owned = this.all.tokens.filter((change) => change.account !== this.#key && this.isOwn(change))
    return [...merged.filter(({ pre, post }) => pre !== post), ...owned].sort((a, b) => a.account - b.account)
  }

  /** Returns whether wrapped SOL of the address, and so not its lamports, paid for trades or was received in them. */
  #haveWrappedLeg(trades: readonly Trade[]): boolean {
    const { wrapped } = this
    return trades.some(
      (trade) => (wrapped < 0n && takesOf(trade, WSOL)) || (wrapped > 0n && givesOf(trade, WSOL))
    )
  }
}

/** Returns whether a trade took a mint from its trader. */
export const takesOf = ({ inMint }: Trade, mint: string): boolean => pubkeyToBase58(inMint) === mint
/** Returns whether a trade gave a mint to its trader. */
export const givesOf = ({ outMint }: Trade, mint: string): boolean => pubkeyToBase58(outMint) === mint

/** Returns whether one amount is a gain and the other a loss. */
export const areOpposite = (a: bigint, b: bigint): boolean => (a < 0n && b > 0n) || (a > 0n && b < 0n)
