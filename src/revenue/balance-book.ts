import type { BalanceDifference } from './backfill-document.ts'
import type { ChainBalance } from './chain-balance.ts'
import type { LedgerRow } from './ledger-reader.ts'

/** An account's balance of a mint by the rows of a ledger. */
interface BookedBalance {
  readonly account: string
  readonly mint: string
  readonly isNative: boolean
  /** The balance before the first row. */
  readonly first: bigint
  /** The sum of all changes. */
  sum: bigint
}

/** Adds up the rows of a ledger: the first balance of each account and mint, and the changes since then. */
export class BalanceBook {
  readonly #balances = new Map<string, BookedBalance>()

  /** Adds a row. Rows must come in the order of the chain. */
  add({ account, mint, isNative, pre, post }: LedgerRow): void {
    const key = keyOf(account, mint, isNative)
    const known = this.#balances.get(key)
    if (known !== undefined) known.sum += post - pre
    else this.#balances.set(key, { account, mint, isNative, first: pre, sum: post - pre })
  }

  /** The accounts that have rows. */
  get accounts(): ReadonlySet<string> {
    return new Set([...this.#balances.values()].map(({ account }) => account))
  }

  /** Returns the lamports of an account before its first row; null if it has none. */
  firstLamports(account: string): bigint | null {
    const native = [...this.#balances.values()].find((each) => each.isNative && each.account === account)
    return native?.first ?? null
  }

  /**
   * Lists the balances of some accounts that differ from those of the chain. An account without a row counts only if the
   * ledger has everything since the first block: then it must be empty.
   */
  differences(
    address: string,
    chain: ReadonlyMap<string, ChainBalance>,
    isWhole: boolean
  ): readonly BalanceDifference[] {
    const differences: BalanceDifference[] = []
    const compare = (key: Pick<BookedBalance, 'account' | 'mint' | 'isNative'>, ledger: bigint): void => {
      const found = amountIn(chain.get(key.account)!, key, address)
      if (found !== ledger)
        differences.push({
          account: key.account,
          mint: key.mint,
          isNative: key.isNative,
          ledger: ledger.toString(),
          chain: found.toString()
        })
    }
    for (const booked of this.#balances.values())
      if (chain.has(booked.account)) compare(booked, booked.first + booked.sum)
    if (!isWhole) return differences
    for (const [account, { token }] of chain) {
      if (token === null || !isHeld(token.owner, account, address)) continue
      const key = { account, mint: token.mint, isNative: false }
      if (!this.#balances.has(keyOf(account, token.mint, false))) compare(key, 0n)
    }
    return differences
  }
}

const keyOf = (account: string, mint: string, isNative: boolean): string =>
  `${account} ${isNative ? 'lamports' : mint}`

/** Tells whether tokens in an account count for an address: it owns the account, or is it. */
const isHeld = (owner: string, account: string, address: string): boolean =>
  owner === address || account === address

function amountIn(
  { lamports, token }: ChainBalance,
  { account, mint, isNative }: Pick<BookedBalance, 'account' | 'mint' | 'isNative'>,
  address: string
): bigint {
  if (isNative) return lamports
  if (token === null || token.mint !== mint || !isHeld(token.owner, account, address)) return 0n
  return token.amount
}
