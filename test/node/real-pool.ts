import {
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  type AccountMeta,
  type Connection
} from '@solana/web3.js'
import { setTimeout as delay } from 'node:timers/promises'
import {
  associatedAccount,
  createAssociated,
  createMint,
  mintTo,
  TOKEN
} from '../localnet/node/token-wire.ts'
import { signed } from './web3-flows.ts'

/** Raydium's AMM v4, where a real node of a test runs `swapProgram`. */
export const SWAP_PROGRAM = new PublicKey('675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8')

const ACCOUNT_BYTES = 165
const SUPPLY = 10n ** 15n
const DECIMALS = 6

/** A pool of a token and its cash on a real node. Its trades execute with the amounts that they state. */
export class RealPool {
  readonly pool = Keypair.generate().publicKey
  readonly token = Keypair.generate()
  readonly cash: Keypair
  readonly #payer: Keypair
  readonly #authority = Keypair.generate().publicKey
  readonly #tokenVault = Keypair.generate()
  readonly #cashVault = Keypair.generate()

  private constructor(payer: Keypair, cash: Keypair) {
    this.#payer = payer
    this.cash = cash
  }

  /** Makes both mints and fills the vaults and the payer's accounts; the payer owns everything. */
  static async open(connection: Connection, payer: Keypair, cash: Keypair): Promise<RealPool> {
    const made = new RealPool(payer, cash)
    const rent = await connection.getMinimumBalanceForRentExemption(ACCOUNT_BYTES)
    for (const [mint, vault] of [
      [made.token, made.#tokenVault],
      [cash, made.#cashVault]
    ] as const) {
      await made.#land(connection, made.#opening(mint, vault, rent), [payer, mint, vault])
    }
    return made
  }

  /** Sells the token for cash, or buys it with cash. */
  swap(side: 'sell' | 'buy', amountIn: bigint, amountOut: bigint): TransactionInstruction {
    const data = Buffer.alloc(17)
    data[0] = side === 'sell' ? 0x10 : 0x11
    data.writeBigUInt64LE(amountIn, 1)
    data.writeBigUInt64LE(amountOut, 9)
    const owner = this.#payer.publicKey
    const own = [this.token, this.cash].map(({ publicKey }) => associatedAccount(owner, publicKey))
    if (side === 'buy') own.reverse()
    return new TransactionInstruction({
      programId: SWAP_PROGRAM,
      keys: [
        ...[TOKEN, this.pool, this.#authority].map((pubkey) => account(pubkey, false)),
        ...[this.#tokenVault.publicKey, this.#cashVault.publicKey, ...own].map((pubkey) =>
          account(pubkey, true)
        ),
        { pubkey: owner, isSigner: true, isWritable: true }
      ],
      data
    })
  }

  #opening(mint: Keypair, vault: Keypair, rent: number): TransactionInstruction[] {
    const owner = this.#payer.publicKey
    const initialize = Buffer.concat([Buffer.from([18]), owner.toBytes()])
    return [
      ...createMint(this.#payer, mint, rent, DECIMALS),
      createAssociated(owner, owner, mint.publicKey),
      mintTo(mint.publicKey, associatedAccount(owner, mint.publicKey), owner, SUPPLY),
      SystemProgram.createAccount({
        fromPubkey: owner,
        newAccountPubkey: vault.publicKey,
        lamports: rent,
        space: ACCOUNT_BYTES,
        programId: TOKEN
      }),
      new TransactionInstruction({
        programId: TOKEN,
        keys: [account(vault.publicKey, true), account(mint.publicKey, false)],
        data: initialize
      }),
      mintTo(mint.publicKey, vault.publicKey, owner, SUPPLY)
    ]
  }

  async #land(
    connection: Connection,
    instructions: TransactionInstruction[],
    signers: Keypair[]
  ): Promise<void> {
    const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash('confirmed')
    const bytes = signed(instructions, signers, blockhash).serialize()
    const signature = await connection.sendRawTransaction(bytes, { skipPreflight: true })
    for (;;) {
      const [status] = (await connection.getSignatureStatuses([signature])).value
      if (status?.err) throw new Error(`the pool is not opened: ${JSON.stringify(status.err)}`)
      if (status?.confirmationStatus === 'confirmed' || status?.confirmationStatus === 'finalized') return
      if ((await connection.getBlockHeight('confirmed')) > lastValidBlockHeight)
        throw new Error('the pool is not opened in time')
      await delay(20)
    }
  }
}

function account(pubkey: PublicKey, isWritable: boolean): AccountMeta {
  return { pubkey, isSigner: false, isWritable }
}
