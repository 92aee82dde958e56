import { isU64Text } from '../chain/chain-numbers.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import type { TokenBalance } from '../chain/transaction.ts'
import { keyTextAt, type KeyText } from './key-text.ts'
import { bytesField, MessageFault, varintField, type ProtobufReader } from './protobuf.ts'

// solana.storage.ConfirmedBlock.TokenBalance and UiTokenAmount
const ACCOUNT_INDEX = varintField(1)
const MINT = bytesField(2)
const UI_AMOUNT = bytesField(3)
const OWNER = bytesField(4)
const DECIMALS = varintField(2)
const AMOUNT = bytesField(3)

/** Reads the token balance that ends at `end`; throws MessageFault. */
export function readTokenBalance(
  from: ProtobufReader,
  end: number,
  keyCount: number,
  field: string
): TokenBalance {
  let account = 0
  let mint: KeyText | undefined
  let owner: KeyText | null = null
  let decimals = 0
  let amount = ''
  while (from.at < end) {
    const tag = from.tag(end)
    if (tag === ACCOUNT_INDEX) account = from.count(end, field)
    else if (tag === MINT || tag === OWNER) {
      const stop = from.span(end, field)
      // Some old records have an empty owner where others have none.
      if (tag === MINT) mint = keyTextAt(from, from.at, stop, field)
      else if (stop > from.at) owner = keyTextAt(from, from.at, stop, field)
      from.at = stop
    } else if (tag === UI_AMOUNT) {
      const stop = from.span(end, field)
      while (from.at < stop) {
        const inner = from.tag(stop)
        if (inner === DECIMALS) decimals = from.count(stop, `${field}.decimals`)
        else if (inner === AMOUNT) {
          const amountEnd = from.span(stop, `${field}.amount`)
          if (amountEnd - from.at > AMOUNT_DIGITS_MAX) throw new MessageFault(`${field}.amount`)
          amount = from.text(from.at, amountEnd)
          from.at = amountEnd
        } else from.skip(inner, stop)
      }
    } else from.skip(tag, end)
  }
  if (account >= keyCount) throw new MessageFault(`${field}.accountIndex`)
  if (mint === undefined) throw new MessageFault(field)
  if (decimals > 255) throw new MessageFault(`${field}.decimals`)
  if (!isU64Text(amount)) throw new MessageFault(`${field}.amount`)
  return new StreamedTokenBalance(account, mint, owner, amount, decimals)
}

/** Digits of the largest unsigned 64-bit number. */
const AMOUNT_DIGITS_MAX = 20

/** A token balance whose keys and amount are decoded on first use, because most are never read. */
class StreamedTokenBalance implements TokenBalance {
  readonly account: number
  readonly decimals: number
  readonly #mint: KeyText
  readonly #owner: KeyText | null
  readonly #amount: string

  constructor(account: number, mint: KeyText, owner: KeyText | null, amount: string, decimals: number) {
    this.account = account
    this.decimals = decimals
    this.#mint = mint
    this.#owner = owner
    this.#amount = amount
  }

  get mint(): Pubkey {
    return this.#mint.bytes
  }

  get mintBase58(): string {
    return this.#mint.text
  }

  get ownerBase58(): string | null {
    return this.#owner === null ? null : this.#owner.text
  }

  get owner(): Pubkey | null {
    return this.#owner === null ? null : this.#owner.bytes
  }

  get amountText(): string {
    return this.#amount
  }

  get amount(): bigint {
    return BigInt(this.#amount)
  }
}
