import {
  AccountRole,
  address,
  appendTransactionMessageInstruction,
  blockhash,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  pipe,
  setTransactionMessageComputeUnitLimit,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLoadedAccountsDataSizeLimit,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
  type Instruction,
  type KeyPairSigner
} from '@solana/kit'

const SYSTEM_PROGRAM = address('11111111111111111111111111111111')
const TRANSFER = 2

export const kitSigner = (): Promise<KeyPairSigner> => generateKeyPairSigner()

/** Returns a signed transfer of a version in base64, made by the kit. */
export async function kitTransfer(
  payer: KeyPairSigner,
  to: string,
  lamports: number,
  latest: { readonly blockhash: string; readonly lastValidBlockHeight: number },
  version: 0 | 1
): Promise<string> {
  const data = Buffer.alloc(12)
  data.writeUInt32LE(TRANSFER, 0)
  data.writeBigUInt64LE(BigInt(lamports), 4)
  const transfer: Instruction = {
    programAddress: SYSTEM_PROGRAM,
    accounts: [
      { address: payer.address, role: AccountRole.WRITABLE_SIGNER },
      { address: address(to), role: AccountRole.WRITABLE }
    ],
    data: new Uint8Array(data)
  }
  const lifetime = {
    blockhash: blockhash(latest.blockhash),
    lastValidBlockHeight: BigInt(latest.lastValidBlockHeight)
  }
  const message = pipe(
    // Its types leave version 1 out; its encoders do not.
    createTransactionMessage({ version: version as 0 }),
    (made) => setTransactionMessageFeePayerSigner(payer, made),
    // With version 1, a limit that is not set is 0.
    (made) => setTransactionMessageComputeUnitLimit(10_000, made),
    (made) => setTransactionMessageLoadedAccountsDataSizeLimit(1_000_000, made),
    (made) => setTransactionMessageLifetimeUsingBlockhash(lifetime, made),
    (made) => appendTransactionMessageInstruction(transfer, made)
  )
  return getBase64EncodedWireTransaction(await signTransactionMessageWithSigners(message))
}
