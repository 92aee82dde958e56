import { PublicKey, SystemProgram, TransactionInstruction, type Keypair } from '@solana/web3.js'

/** Instructions of the token programs, written by hand: no package has a client for them. */
export const TOKEN = new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')
export const TOKEN_2022 = new PublicKey('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb')
export const ASSOCIATED = new PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL')

const MINT_BYTES = 82

export function associatedAccount(owner: PublicKey, mint: PublicKey, program = TOKEN): PublicKey {
  return PublicKey.findProgramAddressSync([owner.toBytes(), program.toBytes(), mint.toBytes()], ASSOCIATED)[0]
}

/** Instructions that make a mint of the payer. */
export function createMint(
  payer: Keypair,
  mint: Keypair,
  rent: number,
  decimals: number,
  program = TOKEN
): TransactionInstruction[] {
  return [
    SystemProgram.createAccount({
      fromPubkey: payer.publicKey,
      newAccountPubkey: mint.publicKey,
      lamports: rent,
      space: MINT_BYTES,
      programId: program
    }),
    new TransactionInstruction({
      programId: program,
      keys: [{ pubkey: mint.publicKey, isSigner: false, isWritable: true }],
      data: Buffer.concat([Buffer.from([20, decimals]), payer.publicKey.toBytes(), Buffer.from([0])])
    })
  ]
}

export function createAssociated(
  payer: PublicKey,
  owner: PublicKey,
  mint: PublicKey,
  program = TOKEN
): TransactionInstruction {
  return new TransactionInstruction({
    programId: ASSOCIATED,
    keys: [
      { pubkey: payer, isSigner: true, isWritable: true },
      { pubkey: associatedAccount(owner, mint, program), isSigner: false, isWritable: true },
      { pubkey: owner, isSigner: false, isWritable: false },
      { pubkey: mint, isSigner: false, isWritable: false },
      { pubkey: SystemProgram.programId, isSigner: false, isWritable: false },
      { pubkey: program, isSigner: false, isWritable: false }
    ],
    data: Buffer.from([1])
  })
}

export function mintTo(
  mint: PublicKey,
  account: PublicKey,
  authority: PublicKey,
  amount: bigint,
  program = TOKEN
): TransactionInstruction {
  return new TransactionInstruction({
    programId: program,
    keys: [
      { pubkey: mint, isSigner: false, isWritable: true },
      { pubkey: account, isSigner: false, isWritable: true },
      { pubkey: authority, isSigner: true, isWritable: false }
    ],
    data: tagged(7, amount)
  })
}

export function transferChecked(
  source: PublicKey,
  mint: PublicKey,
  destination: PublicKey,
  authority: PublicKey,
  amount: bigint,
  decimals: number,
  program = TOKEN
): TransactionInstruction {
  return new TransactionInstruction({
    programId: program,
    keys: [
      { pubkey: source, isSigner: false, isWritable: true },
      { pubkey: mint, isSigner: false, isWritable: false },
      { pubkey: destination, isSigner: false, isWritable: true },
      { pubkey: authority, isSigner: true, isWritable: false }
    ],
    data: Buffer.concat([tagged(12, amount), Buffer.from([decimals])])
  })
}

function tagged(tag: number, amount: bigint): Buffer {
  const data = Buffer.alloc(9)
  data[0] = tag
  data.writeBigUInt64LE(amount, 1)
  return data
}
