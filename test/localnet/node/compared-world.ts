import {
  Connection,
  Keypair,
  SystemProgram,
  Transaction,
  TransactionMessage,
  VersionedTransaction,
  type TransactionInstruction
} from '@solana/web3.js'
import { encodeBase58 } from '../../../src/chain/base58.ts'
import { PATIENT, until } from '../../until.ts'
import { associatedAccount, createAssociated, createMint, mintTo } from './token-wire.ts'

/** Equal transactions on any node, which the questions are about. */
export interface ComparedWorld {
  readonly url: string
  readonly wsUrl: string
  readonly payer: Keypair
  readonly mint: string
  readonly account: string
  readonly landed: {
    readonly transfer: Landed
    readonly failed: Landed
    readonly versioned: Landed
    readonly mint: Landed
  }
  /** Returns a transaction in base64, signed by the payer and not sent. */
  unsent(lamports: number, blockhash?: string): Promise<string>
  /** Sends SOL to a new address and returns the signature once it is confirmed. */
  transfer(): Promise<string>
}

export interface Landed {
  readonly signature: string
  readonly slot: number
}

const SOL = 10 ** 9

export async function makeWorld(url: string, wsUrl: string): Promise<ComparedWorld> {
  const connection = new Connection(url, { commitment: 'confirmed', wsEndpoint: wsUrl })
  const payer = Keypair.generate()
  const landed = async (signature: string): Promise<Landed> => {
    const look = async (): Promise<Landed | null> => {
      const { value } = await connection.getSignatureStatuses([signature])
      const status = value[0]
      const isLanded = status?.confirmationStatus !== undefined && status.confirmationStatus !== 'processed'
      return isLanded ? { signature, slot: status.slot } : null
    }
    return until(look, `${signature} lands on ${url}`, PATIENT)
  }
  const signed = async (
    instructions: TransactionInstruction[],
    signers: Keypair[],
    blockhash?: string
  ): Promise<Buffer> => {
    const recentBlockhash = blockhash ?? (await connection.getLatestBlockhash('confirmed')).blockhash
    const transaction = new Transaction({ feePayer: payer.publicKey, recentBlockhash }).add(...instructions)
    transaction.sign(...signers)
    return transaction.serialize()
  }
  const send = async (bytes: Uint8Array): Promise<Landed> =>
    landed(await connection.sendRawTransaction(bytes, { skipPreflight: true }))
  const pay = (lamports: number): TransactionInstruction =>
    SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: Keypair.generate().publicKey, lamports })

  await landed(await connection.requestAirdrop(payer.publicKey, 10 * SOL))
  const mint = Keypair.generate()
  const account = associatedAccount(payer.publicKey, mint.publicKey)
  const minted = await send(
    await signed(
      [
        ...createMint(payer, mint, await connection.getMinimumBalanceForRentExemption(82), 6),
        createAssociated(payer.publicKey, payer.publicKey, mint.publicKey),
        mintTo(mint.publicKey, account, payer.publicKey, 1_500_000n)
      ],
      [payer, mint]
    )
  )
  const { blockhash } = await connection.getLatestBlockhash('confirmed')
  const message = new TransactionMessage({
    payerKey: payer.publicKey,
    recentBlockhash: blockhash,
    instructions: [pay(SOL)]
  })
  const versioned = new VersionedTransaction(message.compileToV0Message())
  versioned.sign([payer])
  return {
    url,
    wsUrl,
    payer,
    mint: mint.publicKey.toBase58(),
    account: account.toBase58(),
    landed: {
      mint: minted,
      transfer: await send(await signed([pay(SOL)], [payer])),
      failed: await send(await signed([pay(1000 * SOL)], [payer])),
      versioned: await send(versioned.serialize())
    },
    unsent: async (lamports, blockhash) =>
      (await signed([pay(lamports)], [payer], blockhash)).toString('base64'),
    transfer: async () => (await send(await signed([pay(SOL / 10)], [payer]))).signature
  }
}

/** An address without an account and an unknown signature, equal for all nodes. */
export const NOBODY = encodeBase58(new Uint8Array(32).fill(9))
export const NO_SIGNATURE = encodeBase58(new Uint8Array(64).fill(9))
