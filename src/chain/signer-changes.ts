import type { Movements } from './movements.ts'
import { NATIVE_MINT } from './native-mint.ts'
import { pubkeyToBase58, samePubkey, type Pubkey } from './pubkey.ts'
import { VALUE_PROGRAMS } from './token-movement.ts'
import type { TokenBalance, Transaction } from './transaction.ts'

/** Discriminators of the system program's instructions that create an account, and of a token program's close. */
const CREATE_ACCOUNT = 0
const CREATE_ACCOUNT_WITH_SEED = 3
const CLOSE_ACCOUNT = 9
/** Offset of the seed in CreateAccountWithSeed, after the kind and the base address. */
const SEED_AT = 36

interface TokenChange {
  /** Key index of the signer. */
  readonly signer: number
  readonly mint: Pubkey
  amount: bigint
}

/**
 * The changes that a transaction made to its signers' own balances, for trades that another program authorized. Read
 * on demand: nearly every trade is authorized by a signer.
 */
export class SignerChanges {
  readonly #transaction: Transaction
  readonly #moved: Movements
  #tokens: readonly TokenChange[] | undefined
  #lamportHolder: Pubkey | null | undefined

  constructor(transaction: Transaction, moved: Movements) {
    this.#transaction = transaction
    this.#moved = moved
  }

  /** Returns the first signer whose own tokens of one of the mints changed; null if no signer's changed. */
  holderOf(mints: readonly Pubkey[]): Pubkey | null {
    this.#tokens ??= this.#readTokens()
    const changed = this.#tokens.find(
      ({ mint, amount }) => amount !== 0n && mints.some((each) => samePubkey(each, mint))
    )
    return changed === undefined ? null : this.#transaction.keys.bytes(changed.signer)
  }

  /** Returns the first signer whose lamports changed beyond its costs; null if no signer's changed. */
  lamportHolder(): Pubkey | null {
    if (this.#lamportHolder === undefined) {
      const { signerCount, keys } = this.#transaction
      let signer = 0
      while (signer < signerCount && this.#lamports(signer) === 0n) signer++
      this.#lamportHolder = signer < signerCount ? keys.bytes(signer) : null
    }
    return this.#lamportHolder
  }

  #readTokens(): TokenChange[] {
    const { signerCount, keys, preTokenBalances, postTokenBalances } = this.#transaction
    const changes: TokenChange[] = []
    const add = (balance: TokenBalance, sign: bigint): void => {
      for (let signer = 0; signer < signerCount; signer++) {
        if (!isOwner(balance, keys.bytes(signer))) continue
        const { mint } = balance
        const known = changes.find((each) => each.signer === signer && samePubkey(each.mint, mint))
        if (known === undefined) changes.push({ signer, mint, amount: sign * balance.amount })
        else known.amount += sign * balance.amount
        return
      }
    }
    for (const balance of preTokenBalances) add(balance, -1n)
    for (const balance of postTokenBalances) add(balance, 1n)
    return changes
  }

  /**
   * Returns the change of a signer's lamports without its costs: the fee, the rent of accounts that the transaction
   * created or closed, and plain payments such as tips. 0 if the balances are not recorded.
   */
  #lamports(signer: number): bigint {
    const { preBalances, postBalances, feeLamports } = this.#transaction
    const before = preBalances[signer]
    const after = postBalances[signer]
    if (before === undefined || after === undefined) return 0n
    const change = BigInt(after) - BigInt(before) + (signer === 0 ? feeLamports : 0n)
    return change === 0n ? 0n : change + this.#rentPaid(signer) + this.#paidAside(signer)
  }

  /** Returns the rent that a signer deposited for new accounts, less the rent of closed ones that it received. */
  #rentPaid(signer: number): bigint {
    const { instructions, keys } = this.#transaction
    let rent = 0n
    for (const { program, accounts, data } of instructions) {
      const kind = keys.lookup(program, VALUE_PROGRAMS)
      if (kind === 'system') {
        const given = depositStated(data)
        if (given === 0n || !this.#isNew(accounts[1]!)) continue
        const deposit = least(given, this.#deposit(accounts[1]!))
        if (accounts[0] === signer) rent += deposit
        // The new account itself signs too.
        if (accounts[1] === signer) rent -= deposit
      } else if (kind !== undefined && data[0] === CLOSE_ACCOUNT && accounts[1] === signer) {
        if (this.#isClosed(accounts[0]!)) rent -= this.#deposit(accounts[0]!)
      }
    }
    return rent
  }

  /**
   * Returns the lamports that a signer transferred to new accounts, up to their rent, and to accounts that no other
   * instruction names, which receive tips and charges of services.
   */
  #paidAside(signer: number): bigint {
    const { instructions } = this.#transaction
    let paid = 0n
    for (const { kind, source, destination, amount, instruction } of this.#moved.all()) {
      if (kind !== 'lamports' || source !== signer) continue
      const isNamed = instructions.some(
        (each) => each !== instruction && Array.prototype.includes.call(each.accounts, destination)
      )
      if (!isNamed) paid += amount
      else if (this.#isNew(destination)) paid += least(amount, this.#deposit(destination))
    }
    return paid
  }

  #isNew(account: number): boolean {
    const { preBalances, postBalances } = this.#transaction
    return preBalances[account] === 0 && postBalances[account]! > 0
  }

  #isClosed(account: number): boolean {
    const { preBalances, postBalances } = this.#transaction
    return preBalances[account]! > 0 && postBalances[account] === 0
  }

  /** Returns the lamports of a new or closed account that are not wrapped SOL. */
  #deposit(account: number): bigint {
    const { preBalances, postBalances, preTokenBalances, postTokenBalances } = this.#transaction
    const isNew = preBalances[account] === 0
    const balances = isNew ? postTokenBalances : preTokenBalances
    const wrapped = balances.find((each) => each.account === account && samePubkey(each.mint, NATIVE_MINT))
    return BigInt((isNew ? postBalances : preBalances)[account]!) - (wrapped?.amount ?? 0n)
  }
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** Returns the lamports that a system instruction gives to a new account; 0 if the instruction does not create one. */
function depositStated(data: Uint8Array): bigint {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  const kind = data.length < 12 ? -1 : view.getUint32(0, true)
  if (kind === CREATE_ACCOUNT) return view.getBigUint64(4, true)
  if (kind !== CREATE_ACCOUNT_WITH_SEED || data.length < SEED_AT + 8) return 0n
  // The base address and the seed with its length precede the lamports.
  const at = SEED_AT + 8 + Number(view.getBigUint64(SEED_AT, true))
  return at + 8 > data.length ? 0n : view.getBigUint64(at, true)
}

/** Compares texts if the source has them, because decoding the owner of every balance takes longer. */
function isOwner({ ownerBase58, owner }: TokenBalance, key: Pubkey): boolean {
  if (ownerBase58 !== undefined) return ownerBase58 === pubkeyToBase58(key)
  return owner !== null && samePubkey(owner, key)
}
