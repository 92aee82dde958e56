import { setTimeout as delay } from 'node:timers/promises'
import {
  AddressLookupTableProgram,
  Connection,
  Keypair,
  SendTransactionError,
  SystemProgram,
  Transaction,
  TransactionMessage,
  VersionedTransaction,
  type Commitment,
  type TransactionInstruction
} from '@solana/web3.js'
import t, { type Test } from 'tap'
import { readRpcBlock } from '../../../src/chain/rpc/block.ts'
import { encodeBase58 } from '../../../src/chain/base58.ts'
import { systemPorts } from '../../../src/ports.ts'
import { openBank } from '../bank/sending.ts'
import { keepProducing, result, startNode, urlOf } from './node-client.ts'
import type { LocalNode } from '../../../src/localnet/node/local-node.ts'
import {
  associatedAccount,
  createAssociated,
  createMint,
  mintTo,
  TOKEN,
  transferChecked
} from './token-wire.ts'

const SLOT_MS = 20
const LAMPORTS = 10 ** 9
const READ = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 } as const

interface World {
  readonly node: LocalNode
  readonly connection: Connection
  readonly payer: Keypair
  /** Signs, sends and confirms by subscription. */
  readonly land: (
    instructions: TransactionInstruction[],
    signers: Keypair[],
    commitment?: Commitment
  ) => Promise<string>
}

/** A chain that makes slots, a node, and web3.js, which knows only the node's address. */
async function world(t: Test): Promise<World> {
  const bank = await openBank({ clock: systemPorts.clock })
  const node = await startNode(t, bank)
  keepProducing(t, bank, SLOT_MS)
  const connection = new Connection(urlOf(node), 'confirmed')
  t.teardown(() => closeConnection(connection))
  const payer = Keypair.generate()
  const airdrop = await connection.requestAirdrop(payer.publicKey, 10 * LAMPORTS)
  const latest = await connection.getLatestBlockhash()
  const { value } = await connection.confirmTransaction({ signature: airdrop, ...latest })
  t.equal(value.err, null)
  const land: World['land'] = async (instructions, signers, commitment = 'confirmed') => {
    const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash()
    const transaction = new Transaction({ feePayer: signers[0]!.publicKey, blockhash, lastValidBlockHeight })
    transaction.add(...instructions).sign(...signers)
    const signature = await connection.sendRawTransaction(transaction.serialize())
    const confirmed = await connection.confirmTransaction(
      { signature, blockhash, lastValidBlockHeight },
      commitment
    )
    t.equal(confirmed.value.err, null)
    return signature
  }
  return { node, connection, payer, land }
}

/** Closes the socket of web3.js for good: it would reconnect while anything is subscribed. */
function closeConnection(connection: Connection): void {
  const inner = connection as unknown as {
    _subscriptionsByHash: object
    _rpcWebSocket: { close(): void; setAutoReconnect(reconnect: boolean): void }
  }
  inner._subscriptionsByHash = {}
  inner._rpcWebSocket.setAutoReconnect(false)
  inner._rpcWebSocket.close()
}

/** Returns the slot of a transaction, after finding the transaction with our own reader in its block. */
async function readBack(t: Test, { node, connection }: World, signature: string): Promise<number> {
  const found = await connection.getTransaction(signature, READ)
  t.equal(found?.transaction.signatures[0], signature, 'getTransaction has it')
  const slot = found!.slot
  const block = await connection.getBlock(slot, READ)
  const at = block!.transactions.findIndex(({ transaction }) => transaction.signatures[0] === signature)
  t.not(at, -1, 'getBlock has it')
  const outcome = readRpcBlock(await result(node, 'getBlock', [slot, READ]), slot)
  if (outcome.kind !== 'block') throw new Error(outcome.kind)
  const mine = outcome.block.transactions.find((each) => encodeBase58(each.signature) === signature)
  t.equal(mine?.failed, found!.meta!.err !== null, 'our own reader has it')
  return slot
}

t.test('web3.js confirms an airdrop and a transfer by subscription and reads them back', async (t) => {
  const made = await world(t)
  const { connection, payer, land } = made
  t.equal(await connection.getBalance(payer.publicKey), 10 * LAMPORTS)
  const to = Keypair.generate().publicKey
  const changes: number[] = []
  const heard = new Promise<void>((resolve) => {
    connection.onAccountChange(to, ({ lamports }) => {
      changes.push(lamports)
      resolve()
    })
  })
  const logs: string[] = []
  connection.onLogs(payer.publicKey, ({ signature }) => void logs.push(signature))
  const slots: number[] = []
  connection.onSlotChange(({ slot }) => void slots.push(slot))
  const roots: number[] = []
  connection.onRootChange((root) => void roots.push(root))
  await connection.getSlot()
  const signature = await land(
    [SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports: LAMPORTS })],
    [payer],
    'finalized'
  )
  await heard
  t.same(changes, [LAMPORTS])
  t.same(logs, [signature])
  t.ok(slots.length > 10)
  t.ok(roots.length > 0)
  t.equal(await connection.getBalance(to), LAMPORTS)
  await readBack(t, made, signature)
  const parsed = await connection.getParsedTransaction(signature, READ)
  t.match(parsed?.transaction.message.instructions, [
    { program: 'system', parsed: { type: 'transfer', info: { lamports: LAMPORTS } } }
  ])
  t.match(await connection.getSignaturesForAddress(to), [
    { signature, err: null, confirmationStatus: 'finalized' }
  ])
  t.match(await connection.getSignatureStatus(signature), { value: { confirmationStatus: 'finalized' } })
})

t.test('web3.js makes a mint, mints, and moves tokens', async (t) => {
  const made = await world(t)
  const { connection, payer, land } = made
  const mint = Keypair.generate()
  const [owner, other] = [payer.publicKey, Keypair.generate().publicKey]
  const [from, to] = [associatedAccount(owner, mint.publicKey), associatedAccount(other, mint.publicKey)]
  const rent = await connection.getMinimumBalanceForRentExemption(82)
  await land(
    [
      ...createMint(payer, mint, rent, 6),
      createAssociated(owner, owner, mint.publicKey),
      createAssociated(owner, other, mint.publicKey),
      mintTo(mint.publicKey, from, owner, 5_000_000n)
    ],
    [payer, mint]
  )
  const changed: string[] = []
  connection.onProgramAccountChange(TOKEN, ({ accountId }) => void changed.push(accountId.toBase58()), {
    commitment: 'confirmed',
    filters: [{ memcmp: { offset: 0, bytes: mint.publicKey.toBase58() } }]
  })
  await connection.getSlot()
  const signature = await land(
    [transferChecked(from, mint.publicKey, to, owner, 1_250_000n, 6)],
    [payer],
    'finalized'
  )
  t.same(changed.sort(), [from, to].map((key) => key.toBase58()).sort())
  await readBack(t, made, signature)
  t.match(await connection.getTokenAccountBalance(to), {
    value: { amount: '1250000', uiAmountString: '1.25' }
  })
  t.match(await connection.getTokenSupply(mint.publicKey), { value: { amount: '5000000', decimals: 6 } })
  const { value: owned } = await connection.getParsedTokenAccountsByOwner(owner, { mint: mint.publicKey })
  t.match(owned, [{ account: { data: { parsed: { info: { tokenAmount: { amount: '3750000' } } } } } }])
  t.equal((await connection.getTokenAccountsByOwner(other, { programId: TOKEN })).value.length, 1)
  const found = await connection.getParsedTransaction(signature, READ)
  t.match(found?.meta?.postTokenBalances, [
    { mint: mint.publicKey.toBase58(), owner: String, uiTokenAmount: { decimals: 6 } },
    { mint: mint.publicKey.toBase58() }
  ])
  t.match(found?.transaction.message.instructions, [
    {
      program: 'spl-token',
      parsed: { type: 'transferChecked', info: { tokenAmount: { amount: '1250000' } } }
    }
  ])
})

t.test('web3.js sends a versioned transaction with a lookup table', async (t) => {
  const made = await world(t)
  const { connection, payer, land } = made
  const authority = payer.publicKey
  const [create, table] = AddressLookupTableProgram.createLookupTable({
    authority,
    payer: authority,
    recentSlot: await connection.getSlot('finalized')
  })
  const to = Keypair.generate().publicKey
  const extend = AddressLookupTableProgram.extendLookupTable({
    payer: authority,
    authority,
    lookupTable: table,
    addresses: [to]
  })
  await land([create, extend], [payer], 'finalized')
  const { value: lookupTable } = await connection.getAddressLookupTable(table)
  t.same(
    lookupTable?.state.addresses.map((address) => address.toBase58()),
    [to.toBase58()]
  )
  const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash()
  const message = new TransactionMessage({
    payerKey: authority,
    recentBlockhash: blockhash,
    instructions: [SystemProgram.transfer({ fromPubkey: authority, toPubkey: to, lamports: LAMPORTS })]
  }).compileToV0Message([lookupTable!])
  t.equal(message.addressTableLookups.length, 1)
  const transaction = new VersionedTransaction(message)
  transaction.sign([payer])
  t.match(await connection.simulateTransaction(transaction), { value: { err: null } })
  t.match(await connection.getFeeForMessage(message), { value: 5_000 })
  const signature = await connection.sendTransaction(transaction)
  await connection.confirmTransaction({ signature, blockhash, lastValidBlockHeight })
  t.equal(await connection.getBalance(to), LAMPORTS)
  await readBack(t, made, signature)
  const found = await connection.getTransaction(signature, READ)
  t.match(found, { version: 0 })
  t.same(
    found?.meta?.loadedAddresses?.writable.map((key) => key.toBase58()),
    [to.toBase58()]
  )
  const parsed = await connection.getParsedTransaction(signature, READ)
  t.match(
    parsed?.transaction.message.accountKeys.find(({ pubkey }) => pubkey.equals(to)),
    { source: 'lookupTable', writable: true, signer: false }
  )
})

t.test('web3.js is told why a transaction fails, before it is sent and after it has landed', async (t) => {
  const made = await world(t)
  const { connection, payer } = made
  const to = Keypair.generate().publicKey
  const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash()
  const transaction = new Transaction({ feePayer: payer.publicKey, blockhash, lastValidBlockHeight })
  const lamports = 1_000_000 * LAMPORTS
  transaction.add(SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports })).sign(payer)
  const refusal = await connection
    .sendRawTransaction(transaction.serialize())
    .catch((error: unknown) => error)
  if (!(refusal instanceof SendTransactionError)) throw new Error('it was taken')
  t.match(refusal.transactionError, {
    message: /custom program error: 0x1/,
    logs: [/invoke/, /insufficient/, /failed/]
  })
  const signature = await connection.sendRawTransaction(transaction.serialize(), { skipPreflight: true })
  // web3.js resolves with the error if it is notified, and rejects with it if it could be read before.
  const err = await connection.confirmTransaction({ signature, blockhash, lastValidBlockHeight }).then(
    ({ value }) => value.err as unknown,
    (error: unknown) => error
  )
  t.same(err, { InstructionError: [0, { Custom: 1 }] })
  // It rejects as soon as the error is readable, which may be before the block is confirmed.
  while ((await connection.getTransaction(signature, READ)) === null) await delay(20)
  await readBack(t, made, signature)
  const found = await connection.getTransaction(signature, READ)
  t.same(found?.meta?.err, { InstructionError: [0, { Custom: 1 }] })
  t.match(found?.meta?.logMessages, [/invoke/, /insufficient/, /failed/])
})

t.test('web3.js reads what a node says of itself and its chain', async (t) => {
  const { connection, payer } = await world(t)
  t.match(await connection.getVersion(), { 'solana-core': '4.2.1' })
  t.match(await connection.getEpochInfo(), { epoch: 0, slotsInEpoch: 432_000 })
  t.ok((await connection.getEpochSchedule()).slotsPerEpoch)
  t.ok(await connection.getGenesisHash())
  t.ok((await connection.getBlockHeight()) > 0)
  t.ok((await connection.getTransactionCount()) > 0)
  t.ok(await connection.getSlotLeader())
  t.equal((await connection.getSlotLeaders(0, 2)).length, 2)
  t.equal(await connection.getFirstAvailableBlock(), 0)
  t.equal(await connection.getMinimumLedgerSlot(), 0)
  t.ok((await connection.getStakeMinimumDelegation()).value)
  t.ok(Array.isArray(await connection.getRecentPrioritizationFees()))
  t.same(await connection.getRecentPerformanceSamples(), [])
  t.equal((await connection.getClusterNodes()).length, 1)
  const slot = await connection.getSlot()
  t.ok((await connection.getBlocks(0, slot, 'confirmed')).length > 0)
  t.ok(await connection.getBlockTime(slot))
  t.ok(await connection.getParsedBlock(slot, READ))
  t.ok((await connection.getBlockSignatures(slot, 'confirmed')).blockhash)
  const { blockhash } = await connection.getLatestBlockhash()
  t.match(await connection.isBlockhashValid(blockhash), { value: true })
  t.equal((await connection.getMultipleAccountsInfo([payer.publicKey])).length, 1)
  t.ok(await connection.getAccountInfoAndContext(payer.publicKey))
})
