import {
  Keypair,
  LAMPORTS_PER_SOL,
  PublicKey,
  SystemProgram,
  Transaction,
  TransactionInstruction,
  type Connection
} from '@solana/web3.js'
import { NATIVE_MINT } from '../../src/chain/token-accounts.ts'
import { Choices } from '../../storage/test/choices.ts'
import {
  burn,
  closeAccount,
  createFeeMint,
  createMint,
  createTokenAccount,
  FEE_MINT_BYTES,
  mintTo,
  syncNative,
  TOKEN,
  TOKEN_2022,
  tokenAccountOf,
  transferChecked
} from '../localnet/bank/token-instructions.ts'
import { until } from './asking.ts'

const WSOL = new PublicKey(NATIVE_MINT)
const DECIMALS = 3
const MINT_BYTES = 82
const ACCOUNT_BYTES = 165

interface Mint {
  readonly mint: PublicKey
  readonly program: PublicKey
}

/**
 * Traffic of a real node: wallets that pay, mint, wrap, burn, close and reopen token accounts, change their owners, and
 * fail. Some wallets never sign: others send them lamports and tokens, or open accounts for them.
 */
export class RealTokenTraffic {
  readonly #connection: Connection
  readonly #choices = new Choices(7)
  readonly wallets: readonly Keypair[]
  /** Wallets whose key signs nothing. */
  readonly silent: readonly PublicKey[]
  readonly #mints: readonly Mint[]
  /** Token accounts that were opened, by address. */
  readonly #accounts = new Set<string>()
  #blockhash = ''
  #nonce = 0
  /** Transactions that landed. */
  landed = 0

  private constructor(
    connection: Connection,
    wallets: readonly Keypair[],
    silent: readonly PublicKey[],
    mints: readonly Mint[]
  ) {
    this.#connection = connection
    this.wallets = wallets
    this.silent = silent
    this.#mints = mints
  }

  static async open(
    connection: Connection,
    walletCount: number,
    silentCount: number
  ): Promise<RealTokenTraffic> {
    const wallets = Array.from({ length: walletCount }, () => Keypair.generate())
    const silent = Array.from({ length: silentCount }, () => Keypair.generate().publicKey)
    const [classic, fees] = [Keypair.generate(), Keypair.generate()]
    const traffic = new RealTokenTraffic(connection, wallets, silent, [
      { mint: classic.publicKey, program: TOKEN },
      { mint: fees.publicKey, program: TOKEN_2022 }
    ])
    await Promise.all(
      wallets.map(async ({ publicKey }) =>
        traffic.#confirmed([await connection.requestAirdrop(publicKey, 20 * LAMPORTS_PER_SOL)])
      )
    )
    const payer = wallets[0]!
    const rent = async (bytes: number): Promise<bigint> =>
      BigInt(await connection.getMinimumBalanceForRentExemption(bytes))
    const lamports = await rent(MINT_BYTES)
    const feeLamports = await rent(FEE_MINT_BYTES)
    await traffic.send([
      [
        createMint(payer.publicKey, classic, { program: TOKEN, decimals: DECIMALS, lamports }),
        [payer, classic]
      ],
      [createFeeMint(payer.publicKey, fees, { decimals: DECIMALS, lamports: feeLamports }), [payer, fees]]
    ])
    return traffic
  }

  /** Token accounts that were opened, some of which are closed by now. */
  get accounts(): readonly string[] {
    return [...this.#accounts]
  }

  /** Makes a number of transactions, some of which fail, and waits until they are confirmed. */
  async run(count: number): Promise<void> {
    for (let made = 0; made < count; made += 20)
      await this.send(Array.from({ length: Math.min(20, count - made) }, () => this.#any()))
  }

  async send(
    transactions: readonly (readonly [readonly TransactionInstruction[], readonly Keypair[]])[]
  ): Promise<void> {
    const { blockhash } = await this.#connection.getLatestBlockhash()
    this.#blockhash = blockhash
    const sent = await Promise.all(
      transactions.map(async ([instructions, signers]) => {
        const [payer] = signers
        const transaction = new Transaction({ recentBlockhash: this.#blockhash, feePayer: payer!.publicKey })
        // No two transactions are equal.
        const unique = SystemProgram.transfer({
          fromPubkey: payer!.publicKey,
          toPubkey: payer!.publicKey,
          lamports: ++this.#nonce
        })
        transaction.add(unique, ...instructions)
        transaction.sign(...new Set(signers))
        const options = { skipPreflight: true }
        return this.#connection.sendRawTransaction(transaction.serialize(), options).catch(() => null)
      })
    )
    await this.#confirmed(sent.filter((signature) => signature !== null))
  }

  /** Waits until transactions are confirmed; those that the node has dropped do not count. */
  async #confirmed(signatures: readonly string[]): Promise<void> {
    if (signatures.length === 0) return
    const height = await this.#connection.getBlockHeight('confirmed')
    await until(async () => {
      const { value } = await this.#connection.getSignatureStatuses([...signatures])
      const isOver = (await this.#connection.getBlockHeight('confirmed')) > height + 160
      const done = value.filter(
        (status) => status?.confirmationStatus === 'confirmed' || status?.confirmationStatus === 'finalized'
      )
      if (done.length < signatures.length && !isOver) return false
      this.landed += done.length
      return true
    }, 'confirmed transactions')
  }

  #any(): readonly [readonly TransactionInstruction[], readonly Keypair[]] {
    const choices = this.#choices
    const owner = choices.of(this.wallets)
    const authority = this.wallets[0]!
    const me = owner.publicKey
    const other = choices.of([...this.wallets.map(({ publicKey }) => publicKey), ...this.silent])
    const { mint, program } = choices.of(this.#mints)
    const amount = BigInt(1 + choices.below(100_000))
    const mine = tokenAccountOf(me, mint, program)
    const theirs = tokenAccountOf(other, mint, program)
    const wrapped = tokenAccountOf(me, WSOL, TOKEN)
    for (const account of [mine, theirs, wrapped]) this.#accounts.add(account.toBase58())
    const pay = (to: PublicKey, lamports: bigint): TransactionInstruction =>
      SystemProgram.transfer({ fromPubkey: me, toPubkey: to, lamports })
    const both = [owner, authority]
    const kinds: Readonly<
      Record<string, () => readonly [readonly TransactionInstruction[], readonly Keypair[]]>
    > = {
      pay: () => [[pay(other, 1_000_000n + amount)], [owner]],
      fail: () => [[pay(other, 10n ** 15n)], [owner]],
      open: () => [
        [
          createTokenAccount(me, other, mint, program),
          mintTo(mint, theirs, authority.publicKey, amount, program)
        ],
        both
      ],
      mint: () => [
        [createTokenAccount(me, me, mint, program), mintTo(mint, mine, authority.publicKey, amount, program)],
        both
      ],
      send: () => [
        [
          createTokenAccount(me, other, mint, program),
          transferChecked(
            { mint, from: mine, to: theirs, authority: me, amount: amount / 9n, decimals: DECIMALS },
            program
          )
        ],
        [owner]
      ],
      burn: () => [[burn({ mint, from: mine, authority: me, amount: amount / 7n }, program)], [owner]],
      // Fails unless it holds exactly what was minted.
      'mint and close': () => {
        const extra = this.#extra(owner, me, mint, program)
        return [
          [
            ...extra.open,
            mintTo(mint, extra.account, authority.publicKey, amount, program),
            burn({ mint, from: extra.account, authority: me, amount }, program),
            closeAccount(extra.account, me, program)
          ],
          [...both, ...extra.signers]
        ]
      },
      // The owner of the account is in its data alone.
      'open another': () => {
        const extra = this.#extra(owner, other, mint, program)
        return [
          [...extra.open, mintTo(mint, extra.account, authority.publicKey, amount, program)],
          [...both, ...extra.signers]
        ]
      },
      'change owner': () => {
        const extra = this.#extra(owner, me, mint, program)
        return [
          [
            ...extra.open,
            mintTo(mint, extra.account, authority.publicKey, amount, program),
            new TransactionInstruction({
              programId: program,
              keys: [
                { pubkey: extra.account, isSigner: false, isWritable: true },
                { pubkey: me, isSigner: true, isWritable: false }
              ],
              data: Buffer.concat([Buffer.of(6, 2, 1), other.toBytes()])
            })
          ],
          [...both, ...extra.signers]
        ]
      },
      wrap: () => [
        [createTokenAccount(me, me, WSOL, TOKEN), pay(wrapped, amount), syncNative(wrapped)],
        [owner]
      ],
      unwrap: () => [[closeAccount(wrapped, me, TOKEN)], [owner]],
      rewrap: () => [
        [
          closeAccount(wrapped, me, TOKEN),
          createTokenAccount(me, me, WSOL, TOKEN),
          pay(wrapped, amount),
          syncNative(wrapped)
        ],
        [owner]
      ]
    }
    return kinds[choices.of(Object.keys(kinds))]!()
  }

  /** Instructions that open a token account at a new address, which is no associated one (InitializeAccount3). */
  #extra(payer: Keypair, owner: PublicKey, mint: PublicKey, program: PublicKey) {
    const account = Keypair.generate()
    const space = program.equals(TOKEN) ? ACCOUNT_BYTES : ACCOUNT_BYTES + 17
    this.#accounts.add(account.publicKey.toBase58())
    const open = [
      SystemProgram.createAccount({
        fromPubkey: payer.publicKey,
        newAccountPubkey: account.publicKey,
        lamports: 3_000_000,
        space,
        programId: program
      }),
      new TransactionInstruction({
        programId: program,
        keys: [
          { pubkey: account.publicKey, isSigner: false, isWritable: true },
          { pubkey: mint, isSigner: false, isWritable: false }
        ],
        data: Buffer.concat([Buffer.of(18), owner.toBytes()])
      })
    ]
    return { account: account.publicKey, open, signers: [account] }
  }
}
