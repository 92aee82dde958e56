import { join } from 'node:path'
import {
  AddressLookupTableProgram,
  Keypair,
  LAMPORTS_PER_SOL,
  NONCE_ACCOUNT_LENGTH,
  NonceAccount,
  PublicKey,
  SystemProgram,
  type AddressLookupTableAccount,
  type Connection,
  type TransactionInstruction
} from '@solana/web3.js'
import t, { type Test } from 'tap'
import { sendToRealLeader } from '../node/real-leader.ts'
import { compareMints, makeMints } from '../node/real-mints.ts'
import { testWithValidator, type RealValidator } from '../node/real-validator.ts'
import { BEYOND, closeConnection, payTo, signed } from '../node/web3-flows.ts'
import { proveDropIn, type RpcUrls } from '../rpc/real-node.ts'
import { ownDirectory } from '../own-directory.ts'
import { faultsOf, until } from './asking.ts'
import { kitSigner, kitTransfer } from './kit-transactions.ts'
import { ADMIN_KEY, startProcess, type ServiceProcess } from './service-process.ts'
import { TransactionWatch } from './transaction-watch.ts'

/** 100 ms a slot: a blockhash is valid for about 15 s instead of 60. */
const TICKS_PER_SLOT = 16
const WITHIN_MS = 120_000

/** Starts the service on a validator and resolves when it ingests. */
async function startService(t: Test, validator: RealValidator): Promise<ServiceProcess> {
  const service = await startProcess({
    dataDir: join(ownDirectory(t), 'data'),
    recordedDir: null,
    more: [
      ...['--source', 'rpc', '--rpc-url', validator.url, '--rpc-allow', 'requestAirdrop'],
      ...['--rate-limit-per-minute', '1000000']
    ]
  })
  t.teardown(async () => {
    if (service.child.exitCode === null) await service.end('SIGKILL')
    if (!t.passing()) for (const line of service.stderr.slice(-20)) t.comment(line)
  })
  return service
}

function rpcUrlsOf({ url }: ServiceProcess): RpcUrls {
  const query = `api-key=${ADMIN_KEY}`
  return { url: `${url}/v1/rpc?${query}`, socketUrl: `${url.replace('http:', 'ws:')}/v1/rpc/ws?${query}` }
}

const base64 = (wire: Uint8Array): string => Buffer.from(wire).toString('base64')

/** A payer with lamports, and the latest blockhash to sign with. */
async function fund(connection: Connection, address: PublicKey): Promise<void> {
  await connection.confirmTransaction(await connection.requestAirdrop(address, 100 * LAMPORTS_PER_SOL))
}

async function sendAll(t: Test, connection: Connection, watch: TransactionWatch) {
  const latest = () => connection.getLatestBlockhash('confirmed')
  const [payer, nonce, unfunded] = [Keypair.generate(), Keypair.generate(), Keypair.generate()]
  const kit = await kitSigner()
  const to = Keypair.generate().publicKey
  await Promise.all([fund(connection, payer.publicKey), fund(connection, new PublicKey(kit.address))])
  const stale = await latest()

  const send = async (
    instructions: TransactionInstruction[],
    {
      signers = [payer],
      blockhash,
      table
    }: { signers?: Keypair[]; blockhash?: string; table?: AddressLookupTableAccount } = {}
  ): Promise<string> => {
    const wire = signed(instructions, signers, blockhash ?? (await latest()).blockhash, table).serialize()
    const { status, body } = await watch.send(base64(wire))
    t.equal(status, 200, JSON.stringify(body))
    return String(body.signature)
  }
  const landed = (signature: string): Promise<unknown> =>
    until(async () => {
      await watch.look()
      return ['confirmed', 'finalized'].includes(watch.last(signature).status)
    }, `${signature} lands`)

  // It can never land, and is sent until its blockhash has expired.
  const expiring = await send([payTo(unfunded, to, 1)], { signers: [unfunded] })
  const legacy = await send([payTo(payer, to, LAMPORTS_PER_SOL)])
  const failing = await send([payTo(payer, to, BEYOND)])
  const byKit = await watch.send(await kitTransfer(kit, to.toBase58(), LAMPORTS_PER_SOL, await latest(), 0))
  t.equal(byKit.status, 200, JSON.stringify(byKit.body))

  const twice = base64(
    signed([payTo(payer, to, LAMPORTS_PER_SOL + 1)], [payer], (await latest()).blockhash).serialize()
  )
  const both = await Promise.all([watch.send(twice), watch.send(twice)])
  t.same(
    both.map(({ status }) => status),
    [200, 200]
  )
  t.equal(both[0].body.signature, both[1].body.signature)

  const [create, table] = AddressLookupTableProgram.createLookupTable({
    authority: payer.publicKey,
    payer: payer.publicKey,
    recentSlot: await connection.getSlot('finalized')
  })
  const owned = { payer: payer.publicKey, authority: payer.publicKey, lookupTable: table }
  const made = await send(
    [
      create,
      AddressLookupTableProgram.extendLookupTable({ ...owned, addresses: [to] }),
      SystemProgram.createAccount({
        fromPubkey: payer.publicKey,
        newAccountPubkey: nonce.publicKey,
        lamports: LAMPORTS_PER_SOL,
        space: NONCE_ACCOUNT_LENGTH,
        programId: SystemProgram.programId
      }),
      SystemProgram.nonceInitialize({ noncePubkey: nonce.publicKey, authorizedPubkey: payer.publicKey })
    ],
    { signers: [payer, nonce] }
  )
  await landed(made)
  const madeIn = watch.last(made).slot!
  await until(async () => (await connection.getSlot('confirmed')) > madeIn + 1, 'the table can be used')
  const { value: found } = await connection.getAddressLookupTable(table, { commitment: 'confirmed' })
  const versioned = await send([payTo(payer, to, LAMPORTS_PER_SOL)], { table: found! })
  const stored = await connection.getAccountInfo(nonce.publicKey, 'confirmed')
  const durable = await send(
    [
      SystemProgram.nonceAdvance({ noncePubkey: nonce.publicKey, authorizedPubkey: payer.publicKey }),
      payTo(payer, to, LAMPORTS_PER_SOL)
    ],
    { blockhash: NonceAccount.fromAccountData(stored!.data).nonce }
  )

  const ofKit = await kitTransfer(kit, to.toBase58(), LAMPORTS_PER_SOL + 2, await latest(), 1)
  const newest = await watch.send(ofKit)
  t.equal(newest.status, 200, JSON.stringify(newest.body))

  await until(async () => {
    await watch.look()
    return (await connection.getBlockHeight('confirmed')) > stale.lastValidBlockHeight
  }, 'the first blockhash has expired')
  const late = await send([payTo(payer, to, LAMPORTS_PER_SOL + 3)], { blockhash: stale.blockhash })
  await watch.untilEnded(WITHIN_MS)

  for (const signature of [
    legacy,
    byKit.body.signature,
    both[0].body.signature,
    made,
    versioned,
    durable,
    newest.body.signature
  ]) {
    const told = watch.last(signature)
    t.match(told, { state: 'finalized', status: 'finalized', err: null, tracking: false, expired: false })
  }
  t.match(watch.last(failing), {
    state: 'failed',
    status: 'finalized',
    err: { InstructionError: [0, { Custom: 1 }] }
  })
  for (const signature of [expiring, late])
    t.match(watch.last(signature), {
      state: 'expired',
      status: 'unknown',
      expired: true,
      tracking: false,
      slot: null
    })
  t.ok(watch.last(expiring).rebroadcasts > 3, 'it was sent again and again')
  await watch.compare(t)
}

testWithValidator(
  t,
  'on a real node',
  async (t, validator) => {
    t.teardown(() => closeConnection(validator.connection))
    await t.test('transactions land that were sent to the leader alone', (t) =>
      sendToRealLeader(t, validator)
    )
    await t.test('no status of a submission is contradicted by the chain', async (t) => {
      const service = await startService(t, validator)
      await t.test('answers about mints and token accounts are what the node parses of them', async (t) =>
        compareMints(t, service, validator.connection, await makeMints(validator.connection))
      )
      await t.test('its RPC URL and socket are those of the node to wallets and libraries', (t) =>
        proveDropIn(t, rpcUrlsOf(service), validator)
      )
      const watch = await TransactionWatch.open(service, validator.connection, 'acme')
      await sendAll(t, validator.connection, watch)
      const { body } = await service.get('/metrics')
      const outcomes = String(body.text).match(/^millrace_leader_writes_total\S+ \d+$/gm) ?? []
      t.comment(outcomes.join(', '))
      const written = outcomes.find((line) => line.includes('written'))?.split(' ')[1]
      const told = [...watch.statuses.values()].reduce((sum, each) => sum + each.at(-1)!.leaders_sent, 0)
      t.ok(told > 0, 'transactions went to the leader too')
      t.equal(told, Number(written), '`leaders_sent` counts each write, and nothing else')
      t.same(faultsOf(service), [])
    })
  },
  { ticksPerSlot: TICKS_PER_SLOT }
)
