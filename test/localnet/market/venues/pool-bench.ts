import { pubkeyToBase58, type Pubkey } from '../../../../src/chain/pubkey.ts'
import { NATIVE_MINT } from '../../../../src/chain/token-accounts.ts'
import type { TransactionScript } from '../../../../src/localnet/market/script.ts'
import type { NewPool } from '../../../../src/localnet/market/venue.ts'
import { MarketWorld, type DecodedScript } from '../market-world.ts'

export const PLENTY = 1_000_000_000_000_000n

/** A world with a token, its quote, and three wallets that have plenty of both. */
export class PoolBench extends MarketWorld {
  readonly base: Pubkey
  readonly quote: Pubkey
  readonly creator: Pubkey
  readonly trader: Pubkey
  readonly provider: Pubkey

  constructor(
    seed = 'pools',
    { token2022 = false, native = true }: { readonly token2022?: boolean; readonly native?: boolean } = {}
  ) {
    super(seed)
    this.base = this.mint(6, token2022)
    this.quote = native ? NATIVE_MINT : this.mint(6)
    const people = [this.person(), this.person(), this.person()] as const
    ;[this.creator, this.trader, this.provider] = people
    for (const person of people) {
      this.give(person, this.base, PLENTY)
      this.give(person, this.quote, native ? 10_000_000_000_000n : PLENTY)
    }
  }

  /** Returns another wallet that has plenty of both. */
  newProvider(): Pubkey {
    const person = this.person()
    this.give(person, this.base, PLENTY)
    this.give(person, this.quote, 1_000_000_000_000n)
    return person
  }

  newPool(baseAmount = 400_000_000_000_000n, quoteAmount = 85_000_000_000n): NewPool {
    const { creator, base, quote } = this
    return { creator, base, quote, baseAmount, quoteAmount }
  }

  /** Runs a script that returns a value, and decodes it. */
  runFor<T>(payer: Pubkey, write: (script: TransactionScript) => T): DecodedScript & { readonly given: T } {
    let given: { readonly value: T } | null = null
    const decoded = this.run(payer, (script) => {
      given = { value: write(script) }
    })
    return { ...decoded, given: (given as unknown as { readonly value: T }).value }
  }

  /** Returns the balance of an owner's associated token account of a mint. */
  balance(owner: Pubkey, mint: Pubkey): bigint {
    return this.ledger.tokens(this.ledger.tokenAccountOf(owner, mint))
  }

  state(address: Pubkey): DataView {
    const data = this.ledger.data(address)
    if (data === null) throw new Error(`there is no account ${pubkeyToBase58(address)}`)
    return new DataView(data.buffer, data.byteOffset, data.byteLength)
  }
}

/** Returns an event, or a field of one, with keys as addresses, for comparison. */
export function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return value.length === 32 ? pubkeyToBase58(value) : value.toHex()
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, plain(part)]))
  }
  return value
}
