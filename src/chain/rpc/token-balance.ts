import { isU64Text } from '../chain-numbers.ts'
import type { Pubkey } from '../pubkey.ts'
import type { TokenBalance } from '../transaction.ts'
import { isCount, keyTextOf, listOrEmpty, objectOf, Unreadable, type JsonObject } from './fields.ts'
import { keyOfText } from './frequent-keys.ts'

/** Reads the token balances of a transaction. Old records have none, or balances without owners. */
export function readTokenBalances(meta: JsonObject, keyCount: number) {
  const preTokenBalances = readList(meta.preTokenBalances, 'meta.preTokenBalances', keyCount, [])
  // The second list mostly repeats the keys of the first, so it reuses them.
  const postTokenBalances = readList(
    meta.postTokenBalances,
    'meta.postTokenBalances',
    keyCount,
    preTokenBalances
  )
  return { preTokenBalances, postTokenBalances }
}

function readList(
  value: unknown,
  field: string,
  keyCount: number,
  earlier: readonly RpcTokenBalance[]
): readonly RpcTokenBalance[] {
  return listOrEmpty(value, field).map((entry, at) => {
    const { accountIndex, mint, owner, uiTokenAmount } = objectOf(entry, field)
    const { amount, decimals } = objectOf(uiTokenAmount, field)
    if (!isCount(accountIndex) || accountIndex >= keyCount) throw new Unreadable(`${field}.accountIndex`)
    if (!isCount(decimals) || decimals > 255) throw new Unreadable(`${field}.decimals`)
    if (!isU64Text(amount)) throw new Unreadable(`${field}.amount`)
    const mintText = keyTextFrom(mint, earlier[at]?.mintText, field)
    const ownerText = isMissing(owner) ? null : keyTextFrom(owner, earlier[at]?.ownerText, field)
    return new RpcTokenBalance(accountIndex, mintText, ownerText, amount, decimals)
  })
}

/** Tells whether a balance has no owner; some old records have an empty text. */
function isMissing(owner: unknown): boolean {
  return owner === undefined || owner === null || owner === ''
}

function keyTextFrom(value: unknown, earlier: KeyText | null | undefined, field: string): KeyText {
  if (earlier !== null && earlier !== undefined && earlier.text === value) return earlier
  return new KeyText(keyTextOf(value, field))
}

/** A base58 key, decoded on first use. */
class KeyText {
  readonly text: string
  #bytes: Pubkey | undefined

  constructor(text: string) {
    this.text = text
  }

  get bytes(): Pubkey {
    return (this.#bytes ??= keyOfText(this.text))
  }
}

/** A token balance whose keys and amount are decoded on first use, because most are never read. */
class RpcTokenBalance implements TokenBalance {
  readonly account: number
  readonly decimals: number
  readonly mintText: KeyText
  readonly ownerText: KeyText | null
  readonly #amountText: string

  constructor(account: number, mint: KeyText, owner: KeyText | null, amount: string, decimals: number) {
    this.account = account
    this.decimals = decimals
    this.mintText = mint
    this.ownerText = owner
    this.#amountText = amount
  }

  get mint(): Pubkey {
    return this.mintText.bytes
  }

  get mintBase58(): string {
    return this.mintText.text
  }

  get ownerBase58(): string | null {
    return this.ownerText === null ? null : this.ownerText.text
  }

  get owner(): Pubkey | null {
    return this.ownerText === null ? null : this.ownerText.bytes
  }

  get amountText(): string {
    return this.#amountText
  }

  get amount(): bigint {
    return BigInt(this.#amountText)
  }
}
