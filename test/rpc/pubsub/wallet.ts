import {
  address,
  createSolanaRpc,
  createSolanaRpcSubscriptions,
  lamports,
  signature as signatureOf,
  type Signature
} from '@solana/kit'
import { Connection, Keypair, LAMPORTS_PER_SOL, SystemProgram, Transaction } from '@solana/web3.js'
import type { Test } from 'tap'
import { closeConnection } from '../../node/web3-flows.ts'
import { kitSigner, kitTransfer } from '../../service/kit-transactions.ts'
import { until } from '../../until.ts'

const SYSTEM = SystemProgram.programId

/**
 * Uses every subscription of web3.js, unmodified: requests go to a URL by HTTP, subscriptions to the socket; by default to
 * the one that web3.js derives from the URL.
 */
export async function web3Session(t: Test, url: string, wsEndpoint?: string): Promise<void> {
  const connection = new Connection(url, {
    commitment: 'confirmed',
    ...(wsEndpoint !== undefined && { wsEndpoint }),
    disableRetryOnRateLimit: true
  })
  const payer = Keypair.generate()
  const to = Keypair.generate().publicKey
  const heard: Record<'account' | 'logs' | 'program' | 'slot', unknown[]> = {
    account: [],
    logs: [],
    program: [],
    slot: []
  }
  const ids = [
    connection.onAccountChange(to, (info, { slot }) => heard.account.push([info.lamports, slot])),
    connection.onSlotChange(({ slot }) => heard.slot.push(slot))
  ]
  const logs = connection.onLogs(to, ({ signature, err, logs }) => heard.logs.push([signature, err, logs]))
  const program = connection.onProgramAccountChange(
    SYSTEM,
    ({ accountId }) => heard.program.push(accountId.toBase58()),
    { commitment: 'confirmed', filters: [{ dataSize: 0 }] }
  )
  await connection.confirmTransaction(await connection.requestAirdrop(payer.publicKey, LAMPORTS_PER_SOL))
  const latest = await connection.getLatestBlockhash()
  const transfer = new Transaction(latest).add(
    SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports: 5_000_000 })
  )
  transfer.sign(payer)
  const sent = await connection.sendRawTransaction(transfer.serialize())
  const { value } = await connection.confirmTransaction({ signature: sent, ...latest })
  t.equal(value.err, null, 'web3.js confirms a transaction by a subscription')
  const { account, logs: logged, program: changed, slot: slots } = heard
  await until(() => account.length > 0 && logged.length > 0 && changed.length > 1 && slots.length > 1)
  t.match(heard.account, [[5_000_000, Number]])
  t.match(heard.logs, [[sent, null, [/11111111111111111111111111111111 invoke/, /success/]]])
  t.ok(heard.program.includes(to.toBase58()))
  t.same(
    heard.slot,
    heard.slot.toSorted((a, b) => (a as number) - (b as number))
  )
  await connection.removeAccountChangeListener(ids[0]!)
  await connection.removeSlotChangeListener(ids[1]!)
  await connection.removeOnLogsListener(logs)
  await connection.removeProgramAccountChangeListener(program)
  closeConnection(connection)
}

/** Uses every subscription of @solana/kit, unmodified. */
export async function kitSession(t: Test, url: string, wsUrl: string): Promise<void> {
  const rpc = createSolanaRpc(url)
  const subscriptions = createSolanaRpcSubscriptions(wsUrl)
  const end = new AbortController()
  const options = { abortSignal: end.signal }
  const [payer, to] = [await kitSigner(), Keypair.generate().publicKey.toBase58()]
  const airdrop = await airdropTo(url, payer.address)
  const told = await subscriptions
    .signatureNotifications(airdrop, { commitment: 'confirmed' })
    .subscribe(options)
  await untilConfirmed(rpc, told, airdrop)
  const [accounts, logs, programs, slots] = await Promise.all([
    subscriptions
      .accountNotifications(address(to), { commitment: 'confirmed', encoding: 'base64' })
      .subscribe(options),
    subscriptions
      .logsNotifications({ mentions: [address(to)] }, { commitment: 'confirmed' })
      .subscribe(options),
    subscriptions
      .programNotifications(address(SYSTEM.toBase58()), { commitment: 'confirmed', encoding: 'base64' })
      .subscribe(options),
    subscriptions.slotNotifications().subscribe(options)
  ])
  // The kit drops notifications that come before there is a waiting caller.
  const heard = Promise.all([first(accounts), first(logs), first(programs), first(slots)])
  const { value: latest } = await rpc.getLatestBlockhash({ commitment: 'confirmed' }).send()
  const wire = await kitTransfer(
    payer,
    to,
    7_000_000,
    { blockhash: latest.blockhash, lastValidBlockHeight: Number(latest.lastValidBlockHeight) },
    0
  )
  const sent = await rpc.sendTransaction(wire as never, { encoding: 'base64' }).send()
  const done = await subscriptions
    .signatureNotifications(sent, { commitment: 'confirmed' })
    .subscribe(options)
  await untilConfirmed(rpc, done, sent)
  const [account, log, program, slot] = await heard
  t.equal(account.value.lamports, lamports(7_000_000n))
  t.equal(log.value.signature, sent)
  t.equal(log.value.err, null)
  t.ok(program.value.pubkey.length > 30)
  t.ok(slot.slot > slot.parent)
  end.abort()
}

async function airdropTo(url: string, to: string): Promise<Signature> {
  const body = { jsonrpc: '2.0', id: 1, method: 'requestAirdrop', params: [to, LAMPORTS_PER_SOL] }
  const answer = await fetch(url, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' }
  })
  const { result } = (await answer.json()) as { result: string }
  return signatureOf(result)
}

/** As the kit's own strategies do: by the notification, or by a status if it came before the subscription. */
async function untilConfirmed(
  rpc: ReturnType<typeof createSolanaRpc>,
  told: AsyncIterable<unknown>,
  signature: Signature
): Promise<void> {
  const poll = async (): Promise<void> => {
    for (;;) {
      const { value } = await rpc.getSignatureStatuses([signature]).send()
      if (value[0]?.confirmationStatus === 'confirmed' || value[0]?.confirmationStatus === 'finalized') return
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  await Promise.race([first(told), poll()])
}

async function first<T>(events: AsyncIterable<T>): Promise<T> {
  for await (const event of events) return event
  throw new Error('it ended without an event')
}
