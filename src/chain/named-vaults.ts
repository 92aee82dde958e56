import type { TradeVaults } from './events.ts'
import type { Pubkey } from './pubkey.ts'
import type { AccountKeys } from './transaction.ts'

/**
 * The vaults that an instruction names, decoded on first use: only the first trade of a pool needs their addresses. The keys
 * stay in memory as long as this does, so what outlives a block copies the addresses.
 */
export class NamedVaults implements TradeVaults {
  readonly #keys: AccountKeys
  readonly #in: number
  readonly #out: number

  /** Takes indexes of the transaction's keys, -1 for a vault that is not named. Throws a RangeError outside the list. */
  constructor(keys: AccountKeys, inVault: number, outVault: number) {
    if (inVault >= keys.length || outVault >= keys.length)
      throw new RangeError(`no account ${Math.max(inVault, outVault)}`)
    this.#keys = keys
    this.#in = inVault
    this.#out = outVault
  }

  get in(): Pubkey | null {
    return this.#in < 0 ? null : this.#keys.bytes(this.#in)
  }

  get out(): Pubkey | null {
    return this.#out < 0 ? null : this.#keys.bytes(this.#out)
  }

  /** Tells whether a set has the hashes of all named vaults (`AccountKeys.hash`), without decoding them. */
  areIn(hashes: Pick<ReadonlySet<number>, 'has'>): boolean {
    const keys = this.#keys
    return (
      (this.#in < 0 || hashes.has(keys.hash(this.#in))) && (this.#out < 0 || hashes.has(keys.hash(this.#out)))
    )
  }

  toJSON(): TradeVaults {
    return { in: this.in, out: this.out }
  }
}
