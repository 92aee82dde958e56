import type { Keypair } from '@solana/web3.js'
import { PublicKey, TransactionInstruction } from '@solana/web3.js'
import { NATIVE_MINT } from '../../src/chain/token-accounts.ts'
import type { LocalBank } from '../../src/localnet/bank/bank.ts'
import type { Choices } from '../../storage/test/choices.ts'
import { funded, signed, transfer, wallet } from '../localnet/bank/sending.ts'
import {
  createFeeMint,
  createMint,
  createTokenAccount,
  FEE_MINT_BYTES,
  burn,
  closeAccount,
  mintTo,
  setFrozen,
  syncNative,
  TOKEN,
  TOKEN_2022,
  tokenAccountOf,
  transferChecked
} from '../localnet/bank/token-instructions.ts'

const WSOL = new PublicKey(NATIVE_MINT)
const WALLETS = 6

interface Mint {
  readonly mint: PublicKey
  readonly program: PublicKey
}

function token(
  program: PublicKey,
  keys: readonly (readonly [PublicKey, 'r' | 'w' | 's'])[],
  data: readonly (number | Uint8Array)[]
): TransactionInstruction {
  return new TransactionInstruction({
    programId: program,
    keys: keys.map(([pubkey, use]) => ({ pubkey, isSigner: use === 's', isWritable: use === 'w' })),
    data: Buffer.concat(data.map((part) => (typeof part === 'number' ? Buffer.of(part) : part)))
  })
}

/** Wallets that mint, burn, wrap, freeze, close and reopen: every operation that moves a balance of either token program. */
export class TokenTraffic {
  readonly #bank: LocalBank
  readonly #choices: Choices
  readonly #wallets: readonly Keypair[]
  readonly #sent: { readonly signature: Uint8Array; readonly names: readonly string[] }[] = []
  readonly classic: Mint
  readonly fees: Mint

  private constructor(
    bank: LocalBank,
    choices: Choices,
    wallets: readonly Keypair[],
    classic: Mint,
    fees: Mint
  ) {
    this.#bank = bank
    this.#choices = choices
    this.#wallets = wallets
    this.classic = classic
    this.fees = fees
  }

  static async open(bank: LocalBank, choices: Choices): Promise<TokenTraffic> {
    const wallets: Keypair[] = []
    for (let n = 0; n < WALLETS; n++) wallets.push(await funded(bank, 900 + n, 1_000n))
    const [authority] = wallets
    const [classic, fees] = [wallet(990), wallet(991)]
    const payer = authority!.publicKey
    const lamports = bank.minimumBalance(FEE_MINT_BYTES)
    const make = async (instructions: readonly TransactionInstruction[], mint: Keypair): Promise<void> => {
      bank.send(signed(bank, instructions, [authority!, mint]), { skipPreflight: false })
      await bank.produceSlot()
    }
    await make(createMint(payer, classic, { program: TOKEN, decimals: 3, lamports, freezes: true }), classic)
    await make(createFeeMint(payer, fees, { decimals: 3, lamports, freezes: true }), fees)
    const mints = [
      { mint: classic.publicKey, program: TOKEN },
      { mint: fees.publicKey, program: TOKEN_2022 }
    ] as const
    for (const { mint, program } of mints) {
      const open = wallets.map((owner) => createTokenAccount(payer, owner.publicKey, mint, program))
      bank.send(signed(bank, open, [authority!]), { skipPreflight: false })
    }
    await bank.produceSlot()
    return new TokenTraffic(bank, choices, wallets, ...mints)
  }

  get wallets(): readonly PublicKey[] {
    return this.#wallets.map(({ publicKey }) => publicKey)
  }

  /** Sends some transactions; those that fail land as failed. */
  send(count: number): void {
    for (let sent = 0; sent < count; sent++) {
      const owner = this.#any()
      const some = Array.from({ length: 1 + this.#choices.below(2) }, () => this.#some(owner))
      const signers = [owner, ...(owner === this.#wallets[0] ? [] : [this.#wallets[0]!])]
      const instructions = some.flatMap(({ instructions: own }) => own)
      try {
        const bytes = signed(this.#bank, instructions, signers)
        const signature = this.#bank.send(bytes, { skipPreflight: true })
        this.#sent.push({ signature, names: some.map(({ name }) => name) })
      } catch {
        // Too large, or equal to an earlier one: it is not sent.
      }
    }
  }

  /** Returns how often each kind of movement has landed in a transaction that did not fail. */
  landed(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {}
    for (const { signature, names } of this.#sent) {
      const found = this.#bank.transaction(signature)
      if (found === null || found.transaction.meta.err !== null) continue
      for (const name of names) counts[name] = (counts[name] ?? 0) + 1
    }
    return counts
  }

  #any(): Keypair {
    return this.#wallets[this.#choices.below(WALLETS)]!
  }

  #some(owner: Keypair): { readonly name: string; readonly instructions: readonly TransactionInstruction[] } {
    const me = owner.publicKey
    const authority = this.#wallets[0]!.publicKey
    const other = this.#any().publicKey
    const { mint, program } = this.#choices.chance(0.5) ? this.classic : this.fees
    const mine = tokenAccountOf(me, mint, program)
    const theirs = tokenAccountOf(other, mint, program)
    const wrapped = tokenAccountOf(me, WSOL, TOKEN)
    const amount = BigInt(1 + this.#choices.below(100_000))
    const open = (who: PublicKey): TransactionInstruction => createTokenAccount(me, who, mint, program)
    const close = closeAccount(mine, me, program)
    const wrap = [
      createTokenAccount(me, me, WSOL, TOKEN),
      transfer(owner, wrapped, amount),
      syncNative(wrapped)
    ]
    const unwrap = closeAccount(wrapped, me, TOKEN)
    const ninth = { authority: me, amount: amount / 9n }
    const frozen = { account: theirs, mint, authority }
    const kinds: Readonly<Record<string, () => TransactionInstruction[]>> = {
      open: () => [open(other), mintTo(mint, theirs, authority, amount, program)],
      mint: () => [mintTo(mint, mine, authority, amount, program)],
      transfer: () => [transferChecked({ mint, from: mine, to: theirs, ...ninth, decimals: 3 }, program)],
      burn: () => [burn({ mint, from: mine, authority: me, amount: amount / 7n }, program)],
      'burn all': () => [...this.#burnAll(mine, mint, me, program)],
      close: () => [...this.#burnAll(mine, mint, me, program), close],
      reopen: () => [
        ...this.#burnAll(mine, mint, me, program),
        close,
        open(me),
        mintTo(mint, mine, authority, amount, program)
      ],
      freeze: () => [setFrozen(true, frozen, program)],
      thaw: () => [setFrozen(false, frozen, program)],
      wrap: () => wrap,
      fund: () => [transfer(owner, wrapped, amount)],
      sync: () => [syncNative(wrapped)],
      unwrap: () => [unwrap],
      rewrap: () => [unwrap, ...wrap],
      'transfer wrapped SOL': () => {
        const to = tokenAccountOf(other, WSOL, TOKEN)
        return [transferChecked({ mint: WSOL, from: wrapped, to, ...ninth, decimals: 9 }, TOKEN)]
      },
      // SetAuthority of an account of the classic mint: it changes hands.
      'new owner': () => [
        token(
          TOKEN,
          [
            [tokenAccountOf(me, this.classic.mint, TOKEN), 'w'],
            [me, 's']
          ],
          [6, 2, 1, other.toBytes()]
        )
      ],
      // WithdrawWithheldTokensFromAccounts of one account, to the authority's.
      'withdraw fees': () => [
        token(
          TOKEN_2022,
          [
            [this.fees.mint, 'r'],
            [tokenAccountOf(authority, this.fees.mint, TOKEN_2022), 'w'],
            [authority, 's'],
            [tokenAccountOf(other, this.fees.mint, TOKEN_2022), 'w']
          ],
          [26, 3, 1]
        )
      ]
    }
    const name = this.#choices.of(Object.keys(kinds))
    return { name, instructions: kinds[name]!() }
  }

  /** Burns the current balance of an account; nothing if the account does not exist. */
  #burnAll(
    from: PublicKey,
    mint: PublicKey,
    authority: PublicKey,
    program: PublicKey
  ): TransactionInstruction[] {
    const data = this.#bank.account(from.toBytes())?.data
    const amount = data === undefined || data.length < 165 ? 0n : Buffer.from(data).readBigUInt64LE(64)
    return amount === 0n ? [] : [burn({ mint, from, authority, amount }, program)]
  }
}
