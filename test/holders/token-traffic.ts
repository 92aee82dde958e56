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
  mintTo,
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

const u64 = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
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

/** Wallets that mint, burn, wrap, close and reopen: whatever moves a balance of either token program. */
export class TokenTraffic {
  readonly #bank: LocalBank
  readonly #choices: Choices
  readonly #wallets: readonly Keypair[]
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
    await make(createMint(payer, classic, { program: TOKEN, decimals: 3, lamports }), classic)
    await make(createFeeMint(payer, fees, { decimals: 3, lamports }), fees)
    return new TokenTraffic(
      bank,
      choices,
      wallets,
      { mint: classic.publicKey, program: TOKEN },
      { mint: fees.publicKey, program: TOKEN_2022 }
    )
  }

  /** Sends some transactions; those that fail land as failed. */
  send(count: number): void {
    for (let sent = 0; sent < count; sent++) {
      const owner = this.#any()
      const instructions = Array.from({ length: 1 + this.#choices.below(3) }, () => this.#some(owner)).flat()
      const signers = [owner, ...(owner === this.#wallets[0] ? [] : [this.#wallets[0]!])]
      try {
        this.#bank.send(signed(this.#bank, instructions, signers), { skipPreflight: true })
      } catch {
        // Too large, or the same as one before: nothing is sent.
      }
    }
  }

  #any(): Keypair {
    return this.#wallets[this.#choices.below(WALLETS)]!
  }

  #some(owner: Keypair): TransactionInstruction[] {
    const me = owner.publicKey
    const authority = this.#wallets[0]!.publicKey
    const other = this.#any().publicKey
    const { mint, program } = this.#choices.chance(0.5) ? this.classic : this.fees
    const mine = tokenAccountOf(me, mint, program)
    const theirs = tokenAccountOf(other, mint, program)
    const wrapped = tokenAccountOf(me, WSOL, TOKEN)
    const amount = BigInt(1 + this.#choices.below(100_000))
    const open = (who: PublicKey): TransactionInstruction => createTokenAccount(me, who, mint, program)
    const close = token(
      program,
      [
        [mine, 'w'],
        [me, 'w'],
        [me, 's']
      ],
      [9]
    )
    const burnAll = token(
      program,
      [
        [mine, 'w'],
        [mint, 'w'],
        [me, 's']
      ],
      [8, u64(amount / 7n)]
    )
    const wrap = [
      createTokenAccount(me, me, WSOL, TOKEN),
      transfer(owner, wrapped, amount),
      token(TOKEN, [[wrapped, 'w']], [17])
    ]
    const unwrap = token(
      TOKEN,
      [
        [wrapped, 'w'],
        [me, 'w'],
        [me, 's']
      ],
      [9]
    )
    const kinds: (() => TransactionInstruction[])[] = [
      () => [open(other), mintTo(mint, theirs, authority, amount, program)],
      () => [mintTo(mint, mine, authority, amount, program)],
      () => [
        transferChecked(
          { mint, from: mine, to: theirs, authority: me, amount: amount / 9n, decimals: 3 },
          program
        )
      ],
      () => [burnAll],
      () => [close],
      () => [close, open(me), mintTo(mint, mine, authority, amount, program)],
      () => wrap,
      () => [transfer(owner, wrapped, amount)],
      () => [token(TOKEN, [[wrapped, 'w']], [17])],
      () => [unwrap],
      () => [unwrap, ...wrap],
      () => [
        transferChecked(
          {
            mint: WSOL,
            from: wrapped,
            to: tokenAccountOf(other, WSOL, TOKEN),
            authority: me,
            amount: amount / 9n,
            decimals: 9
          },
          TOKEN
        )
      ],
      // SetAuthority of an account of the classic mint: it changes hands.
      () => [
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
      () => [
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
    ]
    return kinds[this.#choices.below(kinds.length)]!()
  }
}
