import { PublicKey, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import type { AddressLookupTableAccount, Keypair, TransactionInstruction } from '@solana/web3.js'
import { signatureBy, wallet } from '../native-keys.ts'

export { wallet }

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
  const signedBytes = transaction.message.serialize()
  for (const signer of signers) transaction.addSignature(signer.publicKey, signatureBy(signer, signedBytes))
  return transaction.serialize()
}

/** An instruction that transfers lamports from wallet 1. */
export function transfer(lamports = 1n, to: PublicKey = wallet(2).publicKey): TransactionInstruction {
  return SystemProgram.transfer({ fromPubkey: wallet(1).publicKey, toPubkey: to, lamports })
}

export const toBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')

/** Returns a transfer of version 1 in base64, written by hand as SIMD-0385 lays it out. */
export function version1Wire(from: Keypair, to: PublicKey, lamports: bigint, blockhash: string): string {
  const { data } = SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: to, lamports })
  const message = Buffer.concat([
    // Compute units and bytes of accounts are 0 unless the message requests them.
    Buffer.from([0x81, 1, 0, 1, 0b1100, 0, 0, 0]),
    new PublicKey(blockhash).toBytes(),
    Buffer.from([1, 3]),
    from.publicKey.toBytes(),
    to.toBytes(),
    SystemProgram.programId.toBytes(),
    u32(1_000),
    u32(2 ** 20),
    Buffer.from([2, 2, data.length, 0]),
    Buffer.from([0, 1]),
    data
  ])
  return toBase64(Buffer.concat([message, signatureBy(from, message)]))
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
