import { SystemProgram, Transaction } from '@solana/web3.js'
import type { Keypair, PublicKey, Signer, TransactionInstruction } from '@solana/web3.js'
import { encodeBase58 } from '../../../src/chain/base58.ts'
import { LocalBank } from '../../../src/localnet/bank/bank.ts'
import type { LocalBankOptions } from '../../../src/localnet/bank/bank-options.ts'
import { SendFailure } from '../../../src/localnet/chain.ts'
import type { ExecutedTransaction, LocalBlock, SendProblem } from '../../../src/localnet/chain.ts'
import { signatureBy, wallet } from '../../native-keys.ts'
import { virtualClock } from '../../virtual-time.ts'

export { wallet }

export const SOL = 1_000_000_000n

/** A chain in memory, on a stopped clock. */
export function openBank(options: Partial<LocalBankOptions> = {}): Promise<LocalBank> {
  return LocalBank.open({ clock: virtualClock(), seed: 'test', ...options })
}

export async function produce(bank: LocalBank, slots: number): Promise<void> {
  for (let slot = 0; slot < slots; slot++) await bank.produceSlot()
}

/** A signed legacy transaction; the first signer pays. */
export function signed(
  bank: LocalBank,
  instructions: readonly TransactionInstruction[],
  signers: readonly Signer[],
  blockhash = bank.latestBlockhash('processed').blockhash
): Uint8Array {
  const transaction = new Transaction({
    feePayer: signers[0]!.publicKey,
    recentBlockhash: encodeBase58(blockhash)
  })
  transaction.add(...instructions)
  const message = transaction.serializeMessage()
  for (const signer of signers) transaction.addSignature(signer.publicKey, signatureBy(signer, message))
  return transaction.serialize({ requireAllSignatures: false, verifySignatures: false })
}

export function transfer(from: Keypair, to: PublicKey, lamports: bigint): TransactionInstruction {
  return SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: to, lamports })
}

/** Sends a transaction, makes a slot, and returns the landed transaction. Throws if it did not land. */
export async function land(
  bank: LocalBank,
  instructions: readonly TransactionInstruction[],
  signers: readonly Signer[],
  options = { skipPreflight: false }
): Promise<ExecutedTransaction> {
  return landed(bank, bank.send(signed(bank, instructions, signers), options))
}

export async function landed(bank: LocalBank, signature: Uint8Array): Promise<ExecutedTransaction> {
  await bank.produceSlot()
  const found = bank.transaction(signature)
  if (found === null) throw new Error(`${encodeBase58(signature)} is in no block`)
  return found.transaction
}

/** Returns a wallet with an amount of SOL. */
export async function funded(bank: LocalBank, number: number, sol = 10n): Promise<Keypair> {
  const owner = wallet(number)
  await landed(bank, bank.airdrop(owner.publicKey.toBytes(), sol * SOL))
  return owner
}

export function lamportsOf(bank: LocalBank, address: PublicKey): bigint {
  return bank.account(address.toBytes())?.lamports ?? 0n
}

export function blockAt(bank: LocalBank, slot: number): LocalBlock {
  const answer = bank.block(slot, 'processed')
  if (answer.kind !== 'block') throw new Error(`slot ${slot} is ${answer.kind}`)
  return answer.block
}

/** Returns the reason of a refusal, or null if the transaction is accepted. */
export function refusal(send: () => unknown): SendProblem | null {
  try {
    send()
    return null
  } catch (error) {
    if (error instanceof SendFailure) return error.problem
    throw error
  }
}
