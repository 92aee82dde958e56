import { accountHashes } from '../chain/account-hash.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import { isReserved } from '../chain/writable-accounts.ts'

const TWO_32 = 2 ** 32
/** Values of the first check. 256 hashes let one other account in 256 pass. */
const VALUES = 2 ** 16

/** A set of at most 128 accounts, for a search through the hashes (`accountHashes`) of many accounts. */
export class AccountFilter {
  /** Lower 32 and upper 16 bits of each hash: two hashes for each account. */
  readonly low: Uint32Array
  readonly high: Uint16Array
  /** One byte for each value of a hash's lower 16 bits; 1 if an account of the set has that value. */
  readonly marks = new Uint8Array(VALUES)
  readonly #hashes: ReadonlySet<number>

  /** Leaves out accounts that the runtime never locks for writing; a message that marks them writable does not lock them. */
  constructor(accounts: readonly Pubkey[]) {
    const hashes = [
      ...new Set(accounts.flatMap((account) => (isReserved(account) ? [] : accountHashes(account))))
    ]
    this.low = Uint32Array.from(hashes, (hash) => hash >>> 0)
    this.high = Uint16Array.from(hashes, (hash) => Math.floor(hash / TWO_32))
    this.#hashes = new Set(hashes)
    for (const low of this.low) this.marks[low & (VALUES - 1)] = 1
  }

  /** Returns whether a hash whose mark is set belongs to one of the accounts. */
  has(low: number, high: number): boolean {
    return this.#hashes.has(high * TWO_32 + low)
  }
}
