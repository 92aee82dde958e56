import { createHash } from 'node:crypto'
import {
  Keypair,
  LAMPORTS_PER_SOL,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  type Connection
} from '@solana/web3.js'
import type { Test } from 'tap'
import {
  associatedAccount,
  createAssociated,
  createMint,
  mintTo,
  TOKEN,
  TOKEN_2022,
  transferChecked
} from '../localnet/node/token-wire.ts'
import { until } from '../service/asking.ts'
import type { ServiceProcess } from '../service/service-process.ts'
import { signed } from './web3-flows.ts'

const WRAPPED_SOL = new PublicKey('So11111111111111111111111111111111111111112')
const DECIMALS = 6
const FEE = { basisPoints: 250, maximum: 5_000_000n }
const NAMES = ['Réal token', 'REAL', 'https://example.org/real.json'] as const
/** Base, kind, and per extension its head and value: fee 108, close authority 32, state 1, delegate 32, pointer 64. */
const EXTENDED_BYTES = 166 + 5 * 4 + 108 + 32 + 1 + 32 + 64

/** Mints and token accounts that were made on a node, by the wallet that owns them. */
export interface RealMints {
  readonly mints: readonly PublicKey[]
  readonly owner: PublicKey
}

interface Meta {
  readonly pubkey: PublicKey
  readonly isSigner: boolean
  readonly isWritable: boolean
}

const writable = (pubkey: PublicKey): Meta => ({ pubkey, isSigner: false, isWritable: true })
const readable = (pubkey: PublicKey): Meta => ({ pubkey, isSigner: false, isWritable: false })
const signer = (pubkey: PublicKey): Meta => ({ pubkey, isSigner: true, isWritable: false })
const some = (key: PublicKey): number[] => [1, ...key.toBytes()]
const u64 = (amount: bigint): Buffer => {
  const data = Buffer.alloc(8)
  data.writeBigUInt64LE(amount)
  return data
}
const text = (value: string): Buffer => {
  const bytes = Buffer.from(value)
  const length = Buffer.alloc(4)
  length.writeUInt32LE(bytes.length)
  return Buffer.concat([length, bytes])
}

function instruction(
  programId: PublicKey,
  keys: Meta[],
  ...data: (readonly number[] | Uint8Array)[]
): TransactionInstruction {
  return new TransactionInstruction({
    programId,
    keys,
    data: Buffer.concat(data.map((part) => Buffer.from(part)))
  })
}

/** Makes a mint of Token-2022 with five extensions, and its names inside it. */
function extendedMint(payer: PublicKey, mint: PublicKey, rent: number): TransactionInstruction[] {
  const of = (...data: (readonly number[] | Uint8Array)[]) =>
    instruction(TOKEN_2022, [writable(mint)], ...data)
  const key = [...payer.toBytes()]
  const basisPoints = [FEE.basisPoints & 255, FEE.basisPoints >> 8]
  const discriminator = createHash('sha256')
    .update('spl_token_metadata_interface:initialize_account')
    .digest()
  return [
    SystemProgram.createAccount({
      ...{ fromPubkey: payer, newAccountPubkey: mint, lamports: rent },
      ...{ space: EXTENDED_BYTES, programId: TOKEN_2022 }
    }),
    of([26, 0], some(payer), some(payer), basisPoints, u64(FEE.maximum)),
    of([25], some(payer)),
    of([28, 0, 1]),
    of([35], key),
    of([39, 0], key, mint.toBytes()),
    of([20, DECIMALS], key, some(payer)),
    instruction(
      TOKEN_2022,
      [writable(mint), readable(payer), readable(mint), signer(payer)],
      discriminator.subarray(0, 8),
      ...NAMES.map(text)
    )
  ]
}

/** Makes mints and token accounts of both programs on a node: with fees, delegates, frozen, revoked and native ones. */
export async function makeMints(connection: Connection): Promise<RealMints> {
  const [payer, classic, extended, other, native] = Array.from({ length: 5 }, () => Keypair.generate()) as [
    Keypair,
    Keypair,
    Keypair,
    Keypair,
    Keypair
  ]
  const owner = payer.publicKey
  await connection.confirmTransaction(await connection.requestAirdrop(owner, 10 * LAMPORTS_PER_SOL))
  const send = async (instructions: TransactionInstruction[], signers: Keypair[]): Promise<void> => {
    const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash('confirmed')
    const wire = signed(instructions, signers, blockhash).serialize()
    const signature = await connection.sendRawTransaction(wire)
    const { value } = await connection.confirmTransaction({ signature, blockhash, lastValidBlockHeight })
    if (value.err !== null) throw new Error(JSON.stringify(value.err))
  }
  const rent = await connection.getMinimumBalanceForRentExemption(1_000)
  const held = (mint: PublicKey, program: PublicKey, of = owner) => associatedAccount(of, mint, program)
  const tokens = held(classic.publicKey, TOKEN)
  await send(
    [
      ...createMint(payer, classic, await connection.getMinimumBalanceForRentExemption(82), 9),
      createAssociated(owner, owner, classic.publicKey),
      mintTo(classic.publicKey, tokens, owner, 2n ** 63n + 1n),
      instruction(TOKEN, [writable(tokens), readable(other.publicKey), signer(owner)], [4], u64(77n)),
      instruction(TOKEN, [writable(tokens), signer(owner)], [6, 3], some(other.publicKey)),
      instruction(TOKEN, [writable(classic.publicKey), signer(owner)], [6, 0, 0])
    ],
    [payer, classic]
  )
  await send(extendedMint(owner, extended.publicKey, rent), [payer, extended])
  const [own, others] = [
    held(extended.publicKey, TOKEN_2022),
    held(extended.publicKey, TOKEN_2022, other.publicKey)
  ]
  await send(
    [
      createAssociated(owner, owner, extended.publicKey, TOKEN_2022),
      createAssociated(owner, other.publicKey, extended.publicKey, TOKEN_2022),
      mintTo(extended.publicKey, own, owner, 1_000_000_000n, TOKEN_2022),
      mintTo(extended.publicKey, others, owner, 500_000_000n, TOKEN_2022),
      instruction(TOKEN_2022, [writable(own), readable(extended.publicKey), signer(owner)], [10])
    ],
    [payer]
  )
  await send(
    [
      instruction(TOKEN_2022, [writable(own), readable(extended.publicKey), signer(owner)], [11]),
      createAssociated(owner, owner, WRAPPED_SOL),
      SystemProgram.transfer({ fromPubkey: owner, toPubkey: held(WRAPPED_SOL, TOKEN), lamports: 12_345 }),
      instruction(TOKEN, [writable(held(WRAPPED_SOL, TOKEN))], [17]),
      createAssociated(owner, native.publicKey, classic.publicKey)
    ],
    [payer]
  )
  // A transfer there and back leaves a withheld fee in both accounts.
  await send(
    [
      transferChecked(own, extended.publicKey, others, owner, 100_000_000n, DECIMALS, TOKEN_2022),
      transferChecked(others, extended.publicKey, own, other.publicKey, 50_000_000n, DECIMALS, TOKEN_2022),
      instruction(TOKEN_2022, [writable(own), readable(extended.publicKey), signer(owner)], [10])
    ],
    [payer, other]
  )
  return { mints: [classic.publicKey, extended.publicKey, WRAPPED_SOL], owner }
}

interface Parsed {
  readonly [field: string]: unknown
  readonly extensions?: readonly {
    readonly extension: string
    readonly state?: Readonly<Record<string, unknown>>
  }[]
}

/** Returns the name that choices give a token program: the node's parser has `spl-` before both. */
const programName = (parser: string): string => parser.replace('spl-token-2022', 'token-2022')
const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const named = ({ extensions = [] }: Parsed): string[] =>
  extensions.map(({ extension }) => snakeCase(extension))
const stateOf = ({ extensions = [] }: Parsed, name: string) =>
  extensions.find(({ extension }) => extension === name)?.state ?? null

/** Compares a service's answers about mints and a wallet with the node's own parsed accounts. */
export async function compareMints(
  t: Test,
  service: ServiceProcess,
  connection: Connection,
  { mints, owner }: RealMints
): Promise<void> {
  const slot = await connection.getSlot('confirmed')
  const path = `/v1/metadata?mints=${mints.map((mint) => mint.toBase58()).join(',')}`
  const metadata = await until(async () => {
    const { status, body } = await service.get(path)
    return status === 200 && body.data.every((each) => Number(each['slot']) >= slot) && body
  }, 'the accounts are read')
  for (const [at, mint] of mints.entries()) {
    const { value } = await connection.getParsedAccountInfo(mint, 'confirmed')
    const { parsed, program } = value!.data as { program: string; parsed: { info: Parsed } }
    const { info } = parsed
    const fee = stateOf(info, 'transferFeeConfig')
    const names = stateOf(info, 'tokenMetadata')
    t.match(metadata.data[at], {
      mint: mint.toBase58(),
      decimals: info['decimals'],
      supply_raw: info['supply'],
      mint_authority: info['mintAuthority'],
      freeze_authority: info['freezeAuthority'],
      token_program: programName(program),
      extensions: named(info),
      permanent_delegate: stateOf(info, 'permanentDelegate')?.['delegate'] ?? null,
      close_authority: stateOf(info, 'mintCloseAuthority')?.['closeAuthority'] ?? null,
      default_account_state: stateOf(info, 'defaultAccountState')?.['accountState'] ?? null,
      transfer_fee: fee && {
        newer: feeOf(fee['newerTransferFee']),
        older: feeOf(fee['olderTransferFee']),
        withheld_raw: String(fee['withheldAmount']),
        config_authority: fee['transferFeeConfigAuthority'],
        withdraw_authority: fee['withdrawWithheldAuthority']
      },
      ...(names === null
        ? {}
        : {
            name: names['name'],
            symbol: names['symbol'],
            uri: names['uri'],
            update_authority: names['updateAuthority'],
            name_source: 'token-2022'
          })
    })
  }
  t.match(
    metadata.data[1],
    { name: NAMES[0], transfer_fee_bps: FEE.basisPoints },
    'the mint has its extensions'
  )

  const { body } = await service.get(`/v1/wallets/${owner.toBase58()}/token-accounts?include_zero=true`)
  const found = await Promise.all(
    [TOKEN, TOKEN_2022].map((programId) =>
      connection.getParsedTokenAccountsByOwner(owner, { programId }, 'confirmed')
    )
  )
  const accounts = found
    .flatMap(({ value }) => value)
    .sort((a, b) => (a.pubkey.toBase58() < b.pubkey.toBase58() ? -1 : 1))
  t.equal(accounts.length, 3)
  t.strictSame(
    body.data.map(({ pubkey }) => pubkey),
    accounts.map(({ pubkey }) => pubkey.toBase58())
  )
  for (const [at, { account }] of accounts.entries()) {
    const { parsed, program } = account.data as { program: string; parsed: { info: Parsed } }
    const { info } = parsed
    const amount = (name: string) =>
      info[name] as { amount: string; decimals: number; uiAmount: number } | undefined
    const withheld = stateOf(info, 'transferFeeAmount')
    t.match(body.data[at], {
      mint: info['mint'],
      owner: info['owner'],
      amount_raw: amount('tokenAmount')!.amount,
      amount: amount('tokenAmount')!.uiAmount,
      decimals: amount('tokenAmount')!.decimals,
      state: info['state'],
      delegate: info['delegate'] ?? null,
      delegated_amount_raw: amount('delegatedAmount')?.amount ?? '0',
      close_authority: info['closeAuthority'] ?? null,
      is_native: info['isNative'],
      rent_exempt_reserve: amount('rentExemptReserve')?.amount ?? null,
      program: programName(program),
      extensions: named(info),
      withheld_raw: withheld === null ? null : String(withheld['withheldAmount']),
      lamports: String(account.lamports)
    })
  }
}

function feeOf(fee: unknown): object {
  const { epoch, maximumFee, transferFeeBasisPoints } = fee as Readonly<Record<string, unknown>>
  return { epoch, bps: transferFeeBasisPoints, maximum_raw: String(maximumFee) }
}
