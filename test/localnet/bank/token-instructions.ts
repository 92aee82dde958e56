import type { Keypair } from '@solana/web3.js'
import { PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'

export const TOKEN = new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')
export const TOKEN_2022 = new PublicKey('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb')
const ASSOCIATED_TOKEN = new PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL')
const MINT_BYTES = 82
/** Bytes of a mint with a transfer fee. */
export const FEE_MINT_BYTES = 278

const u64 = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}

function instruction(
  program: PublicKey,
  keys: readonly (readonly [PublicKey, 'r' | 'w' | 's' | 'ws'])[],
  data: readonly (number | Uint8Array)[]
): TransactionInstruction {
  return new TransactionInstruction({
    programId: program,
    keys: keys.map(([pubkey, use]) => ({
      pubkey,
      isSigner: use.includes('s'),
      isWritable: use.includes('w')
    })),
    data: Buffer.concat(data.map((part) => (typeof part === 'number' ? Buffer.from([part]) : part)))
  })
}

/** The fields of InitializeMint2: authorities are the payer, to freeze too where `freezes`. */
const mintFields = (payer: PublicKey, decimals: number, freezes = false): (number | Uint8Array)[] => [
  ...[20, decimals, payer.toBytes()],
  ...(freezes ? [1, payer.toBytes()] : [0])
]

/** Instructions that create the account of a mint and initialize it. Its payer may freeze accounts where `freezes`. */
export function createMint(
  payer: PublicKey,
  mint: Keypair,
  options: {
    readonly program: PublicKey
    readonly decimals: number
    readonly lamports: bigint
    readonly freezes?: boolean
  }
): TransactionInstruction[] {
  return [
    SystemProgram.createAccount({
      fromPubkey: payer,
      newAccountPubkey: mint.publicKey,
      lamports: Number(options.lamports),
      space: MINT_BYTES,
      programId: options.program
    }),
    instruction(
      options.program,
      [[mint.publicKey, 'w']],
      mintFields(payer, options.decimals, options.freezes)
    )
  ]
}

/** Instructions that create a mint of Token-2022 whose transfers cost 3 %, up to 500 base units. */
export function createFeeMint(
  payer: PublicKey,
  mint: Keypair,
  {
    decimals,
    lamports,
    freezes
  }: { readonly decimals: number; readonly lamports: bigint; readonly freezes?: boolean }
): TransactionInstruction[] {
  const authority = [1, payer.toBytes()]
  return [
    SystemProgram.createAccount({
      fromPubkey: payer,
      newAccountPubkey: mint.publicKey,
      lamports: Number(lamports),
      space: FEE_MINT_BYTES,
      programId: TOKEN_2022
    }),
    // InitializeTransferFeeConfig.
    instruction(
      TOKEN_2022,
      [[mint.publicKey, 'w']],
      [26, 0, ...authority, ...authority, Uint8Array.of(44, 1), u64(500n)]
    ),
    instruction(TOKEN_2022, [[mint.publicKey, 'w']], mintFields(payer, decimals, freezes))
  ]
}

/** Instructions of the transfer fee extension that take withheld fees out of accounts, or out of the mint. */
export const withheldFees = {
  toMint: (mint: PublicKey, source: PublicKey): TransactionInstruction =>
    instruction(
      TOKEN_2022,
      [
        [mint, 'w'],
        [source, 'w']
      ],
      [26, 4]
    ),
  fromMint: (mint: PublicKey, destination: PublicKey, authority: PublicKey): TransactionInstruction =>
    instruction(
      TOKEN_2022,
      [
        [mint, 'w'],
        [destination, 'w'],
        [authority, 's']
      ],
      [26, 2]
    ),
  fromAccount: (
    mint: PublicKey,
    destination: PublicKey,
    authority: PublicKey,
    source: PublicKey
  ): TransactionInstruction =>
    instruction(
      TOKEN_2022,
      [
        [mint, 'r'],
        [destination, 'w'],
        [authority, 's'],
        [source, 'w']
      ],
      [26, 3, 1]
    )
}

/** Burns tokens of an account. */
export function burn(
  {
    mint,
    from,
    authority,
    amount
  }: {
    readonly mint: PublicKey
    readonly from: PublicKey
    readonly authority: PublicKey
    readonly amount: bigint
  },
  program: PublicKey
): TransactionInstruction {
  return instruction(
    program,
    [
      [from, 'w'],
      [mint, 'w'],
      [authority, 's']
    ],
    [8, u64(amount)]
  )
}

/** Closes an account, whose lamports go to its owner. */
export function closeAccount(
  account: PublicKey,
  owner: PublicKey,
  program: PublicKey
): TransactionInstruction {
  return instruction(
    program,
    [
      [account, 'w'],
      [owner, 'w'],
      [owner, 's']
    ],
    [9]
  )
}

/** Freezes an account, or thaws it. */
export function setFrozen(
  isFrozen: boolean,
  { account, mint, authority }: Readonly<Record<'account' | 'mint' | 'authority', PublicKey>>,
  program: PublicKey
): TransactionInstruction {
  return instruction(
    program,
    [
      [account, 'w'],
      [mint, 'r'],
      [authority, 's']
    ],
    [isFrozen ? 10 : 11]
  )
}

/** Takes lamports that were sent to an account of wrapped SOL into its balance. */
export function syncNative(account: PublicKey): TransactionInstruction {
  return instruction(TOKEN, [[account, 'w']], [17])
}

export function tokenAccountOf(owner: PublicKey, mint: PublicKey, program: PublicKey): PublicKey {
  const seeds = [owner.toBytes(), program.toBytes(), mint.toBytes()]
  return PublicKey.findProgramAddressSync(seeds, ASSOCIATED_TOKEN)[0]
}

export function createTokenAccount(
  payer: PublicKey,
  owner: PublicKey,
  mint: PublicKey,
  program: PublicKey
): TransactionInstruction {
  const address = tokenAccountOf(owner, mint, program)
  return instruction(
    ASSOCIATED_TOKEN,
    [
      [payer, 'ws'],
      [address, 'w'],
      [owner, 'r'],
      [mint, 'r'],
      [SystemProgram.programId, 'r'],
      [program, 'r']
    ],
    [1]
  )
}

export function mintTo(
  mint: PublicKey,
  to: PublicKey,
  authority: PublicKey,
  amount: bigint,
  program: PublicKey
): TransactionInstruction {
  return instruction(
    program,
    [
      [mint, 'w'],
      [to, 'w'],
      [authority, 's']
    ],
    [7, u64(amount)]
  )
}

export function transferChecked(
  movement: {
    readonly mint: PublicKey
    readonly from: PublicKey
    readonly to: PublicKey
    readonly authority: PublicKey
    readonly amount: bigint
    readonly decimals: number
  },
  program: PublicKey
): TransactionInstruction {
  const { mint, from, to, authority, amount, decimals } = movement
  return instruction(
    program,
    [
      [from, 'w'],
      [mint, 'r'],
      [to, 'w'],
      [authority, 's']
    ],
    [12, u64(amount), decimals]
  )
}

export function memo(text: Uint8Array): TransactionInstruction {
  return instruction(new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'), [], [text])
}
