import { Keypair, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import type { AddressLookupTableAccount, PublicKey, TransactionInstruction } from '@solana/web3.js'

/** Returns the key pair of a number, the same in every run. */
export function wallet(number: number): Keypair {
  const seed = new Uint8Array(32)
  new DataView(seed.buffer).setUint32(0, number)
  return Keypair.fromSeed(seed)
}

export interface SignedOptions {
  readonly version?: 'legacy' | 0
  readonly signers?: readonly Keypair[]
  readonly lookups?: AddressLookupTableAccount[]
  readonly blockhash?: string
}

export const BLOCKHASH = wallet(1_000).publicKey.toBase58()

/** Returns a signed transaction of instructions, as @solana/web3.js writes it. */
export function signedWire(
  instructions: TransactionInstruction[],
  { version = 0, signers = [wallet(1)], lookups = [], blockhash = BLOCKHASH }: SignedOptions = {}
): Uint8Array {
  const message = new TransactionMessage({
    payerKey: signers[0]!.publicKey,
    recentBlockhash: blockhash,
    instructions
  })
  const transaction = new VersionedTransaction(
    version === 0 ? message.compileToV0Message(lookups) : message.compileToLegacyMessage()
  )
  transaction.sign([...signers])
  return transaction.serialize()
}

/** An instruction that transfers lamports from wallet 1. */
export function transfer(lamports = 1n, to: PublicKey = wallet(2).publicKey): TransactionInstruction {
  return SystemProgram.transfer({ fromPubkey: wallet(1).publicKey, toPubkey: to, lamports })
}

export const toBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')
