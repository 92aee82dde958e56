import {
  appendTransactionMessageInstruction,
  blockhash as kitBlockhash,
  createKeyPairSignerFromBytes,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  address as kitAddress,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners
} from '@solana/kit'
import {
  AddressLookupTableProgram,
  Connection,
  Keypair,
  NONCE_ACCOUNT_LENGTH,
  NonceAccount,
  SystemProgram,
  TransactionMessage,
  VersionedTransaction,
  type AddressLookupTableAccount,
  type TransactionInstruction
} from '@solana/web3.js'
import t from 'tap'
import { runCommand } from '../cli/run-command.ts'
import { version1Wire } from '../transactions/signed.ts'
import { until } from './asking.ts'
import { startBusyLocalnetProcess } from './localnet-process.ts'
import { ownDirectory } from '../own-directory.ts'

const SOL = 1_000_000_000
/** A blockhash of another cluster. */
const FOREIGN = Keypair.generate().publicKey.toBase58()

type Status = Readonly<Record<string, unknown>>

t.test('what became of each transaction is told, and never otherwise than by the chain', async (t) => {
  const service = await startBusyLocalnetProcess(t, ownDirectory(t), [
    ...['--localnet-slot-ms', '100'],
    ...['--rate-limit-per-minute', '100000']
  ])
  const key = service.stdout.map((line) => /^demo key.* (\S+)$/.exec(line)?.[1]).find(Boolean)!
  const node = new Connection(service.rpcUrl, 'confirmed')
  const payer = Keypair.generate()
  const to = Keypair.generate().publicKey

  const ask = async (path: string, body?: object): Promise<{ status: number; body: Status }> => {
    const response = await fetch(service.url + path, {
      headers: { 'x-api-key': key, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { method: 'POST', body: JSON.stringify(body) })
    })
    return { status: response.status, body: (await response.json()) as Status }
  }
  const send = async (tx: string, more: object = {}): Promise<string> => {
    const { status, body } = await ask('/v1/tx/send', { tx, ...more })
    if (status !== 200) throw new Error(JSON.stringify(body))
    return String(body.signature)
  }
  const landed = async (signature: string): Promise<void> => {
    await until(async () => {
      const { value } = await node.getSignatureStatus(signature)
      return value?.confirmationStatus === 'finalized'
    }, `${signature} is finalized`)
  }
  const signed = async (
    instructions: TransactionInstruction[],
    options: { blockhash?: string; lookups?: AddressLookupTableAccount[]; signers?: Keypair[] } = {}
  ): Promise<string> => {
    const { blockhash = (await node.getLatestBlockhash()).blockhash, lookups, signers = [payer] } = options
    const message = new TransactionMessage({
      payerKey: payer.publicKey,
      recentBlockhash: blockhash,
      instructions
    })
    const transaction = new VersionedTransaction(
      lookups === undefined ? message.compileToLegacyMessage() : message.compileToV0Message(lookups)
    )
    transaction.sign(signers)
    return Buffer.from(transaction.serialize()).toString('base64')
  }
  const transfer = (lamports: number) =>
    SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports })

  await landed(await node.requestAirdrop(payer.publicKey, 10 * SOL))
  const nonce = Keypair.generate()
  const rent = await node.getMinimumBalanceForRentExemption(NONCE_ACCOUNT_LENGTH)
  const [createTable, table] = AddressLookupTableProgram.createLookupTable({
    authority: payer.publicKey,
    payer: payer.publicKey,
    recentSlot: (await node.getSlot('finalized')) - 1
  })
  const extend = AddressLookupTableProgram.extendLookupTable({
    lookupTable: table,
    authority: payer.publicKey,
    payer: payer.publicKey,
    addresses: [to]
  })
  const prepared = await Promise.all([
    signed(
      [
        ...SystemProgram.createNonceAccount({
          fromPubkey: payer.publicKey,
          noncePubkey: nonce.publicKey,
          authorizedPubkey: payer.publicKey,
          lamports: rent
        }).instructions
      ],
      { signers: [payer, nonce] }
    ).then(send),
    signed([createTable, extend]).then(send)
  ])
  for (const signature of prepared) await landed(signature)
  const account = (await node.getAccountInfo(nonce.publicKey))!
  const nonceValue = NonceAccount.fromAccountData(account.data).nonce
  const lookups = [(await node.getAddressLookupTable(table)).value!]
  const { blockhash } = await node.getLatestBlockhash()
  const twice = await signed([transfer(1_000_001)])
  const durable = async (lamports: number): Promise<string> => {
    const advance = { noncePubkey: nonce.publicKey, authorizedPubkey: payer.publicKey }
    return signed([SystemProgram.nonceAdvance(advance), transfer(lamports)], { blockhash: nonceValue })
  }

  const cases: Record<string, string> = {
    stale: await send(await signed([transfer(1_000_002)], { blockhash: FOREIGN })),
    legacy: await send(await signed([transfer(1_000_003)])),
    checked: await send(await signed([transfer(1_000_004)]), { skip_preflight: false }),
    kit: await send(await kitTransfer(payer, to.toBase58(), blockhash)),
    failing: await send(await signed([transfer(1_000 * SOL)])),
    twice: await send(twice),
    again: await send(twice),
    // One of the two uses the nonce up.
    nonce: await send(await durable(1_000_005)),
    rival: await send(await durable(1_000_009)),
    table: await send(await signed([transfer(1_000_006)], { lookups })),
    v1: await send(version1Wire(payer, to, 1_000_007n, blockhash))
  }
  const refused = await ask('/v1/tx/send', {
    tx: await signed([transfer(1_001 * SOL)]),
    skip_preflight: false
  })
  t.match([refused.status, refused.body.code], [422, 'preflight_failed'])

  const answers = new Map(Object.values(cases).map((signature) => [signature, [] as Status[]]))
  await until(async () => {
    for (const [signature, seen] of answers) {
      const { status, body } = await ask(`/v1/tx/${signature}/status`)
      if (status !== 200) throw new Error(JSON.stringify(body))
      seen.push(body)
    }
    return [...answers.values()].every((seen) =>
      ['finalized', 'failed', 'expired'].includes(String(seen.at(-1)!.state))
    )
  }, 'each has come to its end')

  const signatures = [...answers.keys()]
  const { value: chain } = await node.getSignatureStatuses(signatures, { searchTransactionHistory: true })
  const lost = chain[signatures.indexOf(cases.nonce!)] === null ? 'nonce' : 'rival'
  for (const [at, signature] of signatures.entries()) {
    const name = Object.keys(cases).find((each) => cases[each] === signature)!
    const onChain = chain[at]!
    const seen = answers.get(signature)!
    const last = seen.at(-1)!
    const isStale = name === 'stale' || name === lost
    t.equal(onChain === null, isStale, `${name}: the chain has it, unless it is stale or its nonce was used`)
    t.match(
      last,
      isStale
        ? { state: 'expired', status: 'unknown', tracking: false, expired: true, slot: null, err: null }
        : {
            state: name === 'failing' ? 'failed' : 'finalized',
            status: 'finalized',
            tracking: false,
            expired: false,
            slot: onChain.slot
          },
      name
    )
    let hasLanded = false
    for (const each of seen) {
      if (each.slot === null) {
        t.equal(each.status, 'unknown', name)
        t.notOk(hasLanded, `${name}: not unknown after it had landed`)
        continue
      }
      hasLanded = true
      t.strictSame(
        [each.slot, each.err],
        [onChain.slot, onChain.err],
        `${name}: slot and error are the chain's`
      )
    }
  }
  const rebroadcastsOf = (name: string) => Number(answers.get(cases[name]!)!.at(-1)!.rebroadcasts)
  t.ok(rebroadcastsOf(lost) < rebroadcastsOf('stale'), 'a block ended it long before its 60 seconds')
  t.equal(cases.twice, cases.again)
  const list = (await ask('/v1/tx?limit=100')).body.data as Status[]
  t.equal(list.filter(({ signature }) => signature === cases.twice).length, 1)
  // The end of a submission is published before it is stored.
  const ends = { failed: ['failing'], expired: ['stale', lost] }
  for (const [state, names] of Object.entries(ends)) {
    const rows = await until(async () => {
      const { data } = (await ask(`/v1/tx?status=${state}`)).body as { data: Status[] }
      return data.length === names.length && data
    }, `the list of state ${state} is complete`)
    t.same(
      rows,
      list.filter(({ signature }) => names.some((name) => cases[name] === signature))
    )
  }

  const transferBy = (...more: string[]) =>
    runCommand(['tx', 'transfer', '--rpc-url', service.rpcUrl, '--url', service.url, '--key', key, ...more])
  for (const sent of await Promise.all([transferBy(), transferBy('--priority', 'p75', '--via', 'jito')])) {
    t.match(sent, { code: 0, lines: [/^\w{64,88}$/] })
    t.match(sent.lines.at(-1), /^finalized +slot \d+ +landed after \d+ ms/)
  }
  const metrics = await (await fetch(`${service.url}/metrics`)).text()
  for (const route of ['node', 'jito'])
    for (const name of [
      'transaction_landed_seconds',
      'transaction_landed_slots',
      'tenant_landed_milliseconds'
    ])
      t.match(
        metrics,
        new RegExp(`^millrace_${name}_(sum|total)\\{.*route="${route}".*\\} [0-9.]*[1-9]`, 'm')
      )
  for (const [outcome, { length }] of Object.entries(ends))
    t.match(
      metrics,
      new RegExp(`^millrace_tenant_transactions_total\\{.*outcome="${outcome}"\\} ${length}$`, 'm')
    )
  t.match(await service.end('SIGTERM'), { code: 0 })
})

/** Returns a transfer that @solana/kit builds and signs, version 0, in base64. */
async function kitTransfer(payer: Keypair, to: string, blockhash: string): Promise<string> {
  const signer = await createKeyPairSignerFromBytes(payer.secretKey)
  const { data } = SystemProgram.transfer({
    fromPubkey: payer.publicKey,
    toPubkey: payer.publicKey,
    lamports: 1_000_008
  })
  const lifetime = { blockhash: kitBlockhash(blockhash), lastValidBlockHeight: 2n ** 60n }
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (empty) => setTransactionMessageFeePayerSigner(signer, empty),
    (paid) => setTransactionMessageLifetimeUsingBlockhash(lifetime, paid),
    (timed) =>
      appendTransactionMessageInstruction(
        {
          programAddress: kitAddress(SystemProgram.programId.toBase58()),
          accounts: [
            { address: signer.address, role: 3 },
            { address: kitAddress(to), role: 1 }
          ],
          data: new Uint8Array(data)
        },
        timed
      )
  )
  return getBase64EncodedWireTransaction(await signTransactionMessageWithSigners(message))
}
