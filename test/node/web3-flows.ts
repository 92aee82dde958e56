import {
  AddressLookupTableProgram,
  Keypair,
  LAMPORTS_PER_SOL,
  SystemProgram,
  TransactionMessage,
  VersionedTransaction,
  type AddressLookupTableAccount,
  type Connection,
  type PublicKey,
  type TransactionInstruction
} from '@solana/web3.js'
import { setTimeout as delay } from 'node:timers/promises'
import { encodeBase58 } from '../../src/chain/base58.ts'
import { PATIENT, until } from '../until.ts'
import {
  associatedAccount,
  createAssociated,
  createMint,
  mintTo,
  transferChecked
} from '../localnet/node/token-wire.ts'

/** A transaction that a wallet has sent and been notified of. */
export interface Flow {
  readonly name: string
  readonly signature: string
  readonly slot: number
  /** The error of the notification, or null. */
  readonly err: unknown
}

/** Accounts that a wallet has made on a chain and continues to use. */
export interface Wallet {
  readonly payer: Keypair
  readonly mint: PublicKey
  readonly tokens: PublicKey
  readonly receiver: PublicKey
  readonly table: AddressLookupTableAccount
}

const WITHIN_MS = 300_000
/** Times that a transaction is sent, each time with a new blockhash. */
const TRIES = 5
/** Blocks for which a blockhash is valid; the faucet takes one that is newer than the caller's. */
const VALID_BLOCKS = 150
/** Interval in milliseconds between queries of a status: longer than most notifications take. */
const QUERY_MS = 2_000
const MINT_BYTES = 82
const DECIMALS = 6
/** Lamports above every balance. */
export const BEYOND = 10 ** 15

export const payTo = (from: Keypair, toPubkey: PublicKey, lamports: number): TransactionInstruction =>
  SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey, lamports })

/**
 * Runs the steps of a wallet that uses web3.js on a node: an airdrop, a transfer, a mint and a transfer of its tokens. Then
 * come a lookup table, a versioned transaction that uses the table, and a transaction that fails. Each transaction is sent,
 * confirmed by a subscription to its signature, and then queried for its slot. `outcome` tells how it is confirmed.
 */
export async function walkThrough(
  connection: Connection,
  outcome: OutcomeOf = notifiedOutcome
): Promise<{ flows: Flow[]; wallet: Wallet }> {
  const payer = Keypair.generate()
  const [owner, receiver] = [payer.publicKey, Keypair.generate().publicKey]
  const flows: Flow[] = []
  /** Sends until a transaction lands: a starved node drops some, and their blockhash expires. */
  const landed = async (name: string, send: Send): Promise<void> => {
    for (let tries = 1; ; tries++) {
      const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash('confirmed')
      const { signature, told } = await send(blockhash, (signature, later = 0) => {
        const told = outcome(connection, signature, lastValidBlockHeight + later)
        told.catch(() => undefined)
        return { signature, told }
      })
      try {
        const err = await told
        flows.push({ name, signature, slot: await slotOf(connection, signature), err })
        return
      } catch (error) {
        if (!(error instanceof Expired) || tries === TRIES) throw error
      }
    }
  }
  const land = (
    name: string,
    instructions: TransactionInstruction[],
    signers: readonly Keypair[] = [payer],
    table?: AddressLookupTableAccount
  ): Promise<void> =>
    landed(name, async (blockhash, followed) => {
      const transaction = signed(instructions, signers, blockhash, table)
      const sent = followed(encodeBase58(transaction.signatures[0]!))
      await connection.sendRawTransaction(transaction.serialize(), { skipPreflight: true })
      return sent
    })

  await landed('airdrop', async (_, followed) =>
    followed(await connection.requestAirdrop(owner, 100 * LAMPORTS_PER_SOL), VALID_BLOCKS)
  )
  await land('transfer', [payTo(payer, receiver, LAMPORTS_PER_SOL)])
  const mint = Keypair.generate()
  const [from, to] = [associatedAccount(owner, mint.publicKey), associatedAccount(receiver, mint.publicKey)]
  const rent = await connection.getMinimumBalanceForRentExemption(MINT_BYTES)
  await land(
    'mint',
    [
      ...createMint(payer, mint, rent, DECIMALS),
      createAssociated(owner, owner, mint.publicKey),
      createAssociated(owner, receiver, mint.publicKey),
      mintTo(mint.publicKey, from, owner, 5_000_000_000n)
    ],
    [payer, mint]
  )
  await land('token transfer', [transferChecked(from, mint.publicKey, to, owner, 1_250_000n, DECIMALS)])
  const [create, table] = AddressLookupTableProgram.createLookupTable({
    authority: owner,
    payer: owner,
    recentSlot: await connection.getSlot('finalized')
  })
  const addresses = [receiver, to]
  const extend = { payer: owner, authority: owner, lookupTable: table, addresses }
  await land('lookup table', [create, AddressLookupTableProgram.extendLookupTable(extend)])
  // Addresses of a table are usable in slots after the table's own.
  const made = flows.at(-1)!.slot
  while ((await connection.getSlot('confirmed')) <= made + 1) await delay(20)
  const { value: found } = await connection.getAddressLookupTable(table, { commitment: 'confirmed' })
  if (found === null) throw new Error('the lookup table is not there')
  await land('versioned transfer', [payTo(payer, receiver, LAMPORTS_PER_SOL)], [payer], found)
  await land('failing transfer', [payTo(payer, receiver, BEYOND)])
  return { flows, wallet: { payer, mint: mint.publicKey, tokens: from, receiver, table: found } }
}

/** A legacy transaction, or one of version 0 that uses a lookup table. */
export function signed(
  instructions: TransactionInstruction[],
  signers: readonly Keypair[],
  blockhash: string,
  table?: AddressLookupTableAccount
): VersionedTransaction {
  const payerKey = signers[0]!.publicKey
  const message = new TransactionMessage({ payerKey, recentBlockhash: blockhash, instructions })
  const transaction = new VersionedTransaction(
    table === undefined ? message.compileToLegacyMessage() : message.compileToV0Message([table])
  )
  transaction.sign([...signers])
  return transaction
}

/** Transfers tokens of a wallet to the earlier receiver. */
export function moveTokens(
  { payer, mint, tokens, receiver }: Wallet,
  amount: bigint
): TransactionInstruction {
  return transferChecked(tokens, mint, associatedAccount(receiver, mint), payer.publicKey, amount, DECIMALS)
}

/** Rejects a transaction that is in no block while its blockhash is valid. */
class Expired extends Error {}

/** Resolves with the error of a transaction at its confirmation, or null. May reject with `Expired`. */
type OutcomeOf = (connection: Connection, signature: string, lastValidBlockHeight: number) => Promise<unknown>

/** A transaction on its way, and its outcome. */
interface Sent {
  readonly signature: string
  readonly told: Promise<unknown>
}

/** Sends a transaction that is valid for some blocks more than its caller's blockhash, and has `followed` wait for its outcome. */
type Send = (blockhash: string, followed: (signature: string, later?: number) => Sent) => Promise<Sent>

/** The outcome as the subscription to the signature reports it. */
function notifiedOutcome(connection: Connection, signature: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`nobody tells of ${signature}`)), WITHIN_MS)
    timer.unref()
    connection.onSignature(
      signature,
      ({ err }) => {
        clearTimeout(timer)
        resolve(err)
      },
      'confirmed'
    )
  })
}

/**
 * The outcome as the subscription or the status reports it, whichever is first, as web3.js itself confirms. For a node of
 * others on a starved machine: it may lose a notification, or the transaction. Rejects with `Expired` then.
 */
export async function reportedOutcome(
  connection: Connection,
  signature: string,
  lastValidBlockHeight: number
): Promise<unknown> {
  let isOver = false
  const queried = async (): Promise<unknown> => {
    for (;;) {
      await delay(QUERY_MS)
      if (isOver) return null
      // The height is asked before: a status that is missing after the last valid block stays so.
      const height = await connection.getBlockHeight('confirmed')
      const { value } = await connection.getSignatureStatus(signature, { searchTransactionHistory: true })
      const reached = value?.confirmationStatus
      if (reached === 'confirmed' || reached === 'finalized') return value!.err
      if (value === null && height > lastValidBlockHeight) throw new Expired(`${signature} has expired`)
    }
  }
  try {
    return await Promise.race([notifiedOutcome(connection, signature), queried()])
  } finally {
    isOver = true
  }
}

async function slotOf(connection: Connection, signature: string): Promise<number> {
  const options = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 } as const
  const found = () => connection.getTransaction(signature, options)
  const { slot } = await until(found, `${signature} is there`, PATIENT)
  return slot
}

/** Closes the socket of web3.js for good: it would reconnect while anything is subscribed. */
export function closeConnection(connection: Connection): void {
  const inner = connection as unknown as {
    _subscriptionsByHash: object
    _rpcWebSocket: { close(): void; setAutoReconnect(reconnect: boolean): void }
  }
  inner._subscriptionsByHash = {}
  inner._rpcWebSocket.setAutoReconnect(false)
  inner._rpcWebSocket.close()
}
