import { Connection, Keypair, LAMPORTS_PER_SOL, SystemProgram, Transaction } from '@solana/web3.js'
import t, { type Test } from 'tap'
import { readConfig } from '../../src/configuration.ts'
import { slotOf, until } from './asking.ts'
import { startBusyLocalnetProcess, startLocalnetProcess, type LocalnetProcess } from './localnet-process.ts'
import { ownDirectory } from '../own-directory.ts'

const sol = (count: number): number => count * LAMPORTS_PER_SOL

/** Sends lamports as a wallet does, and resolves with the slot once the transfer is confirmed. */
async function transfer({ rpcUrl }: LocalnetProcess, from: Keypair, to: Keypair): Promise<number> {
  const connection = new Connection(rpcUrl, 'confirmed')
  const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash()
  const instruction = SystemProgram.transfer({
    fromPubkey: from.publicKey,
    toPubkey: to.publicKey,
    lamports: sol(1)
  })
  const transaction = new Transaction({ blockhash, lastValidBlockHeight, feePayer: from.publicKey }).add(
    instruction
  )
  transaction.sign(from)
  const signature = await connection.sendRawTransaction(transaction.serialize())
  await until(async () => {
    const { value } = await connection.getSignatureStatus(signature)
    return value?.confirmationStatus === 'confirmed' || value?.confirmationStatus === 'finalized'
  }, 'the transfer is confirmed')
  return (await connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 }))!.slot
}

/** Asserts that a started localnet prints three requests that work, of a mint that trades at the time. Returns its key. */
async function assertRequests(t: Test, service: LocalnetProcess, known: string | null): Promise<string> {
  const requests = await until(async () => {
    const lines = service.stdout.filter((line) => line.startsWith('  curl '))
    return lines.length === 3 && lines
  }, 'three requests')
  const key = service.stdout.map((line) => /^demo key.* (\S+)$/.exec(line)?.[1]).find(Boolean) ?? known!
  const paths = requests.map((line) =>
    line.slice(line.indexOf(service.url) + service.url.length).replace("'", '')
  )
  t.strictSame(
    requests.map((line) => line.includes(`"X-API-Key: ${known === null ? key : '$KEY'}"`)),
    [false, true, true]
  )
  const firstSlot = await slotOf(service)
  await until(async () => (await slotOf(service)) > firstSlot + 5, 'blocks are indexed')
  for (const path of paths) t.equal((await service.get(path, key)).status, 200, path)
  // The first start reads the market's past first.
  const isOfNow = async (): Promise<boolean> => {
    const [newest] = (await service.get(paths[2]!, key)).body.data
    return Date.now() / 1_000 - Number(newest!['block_time']) < 60
  }
  await until(isOfNow, 'the newest trade is of the last minute')
  return key
}

/** The demo key works from a page on this machine, and over the RPC URL for airdrops; a page of elsewhere is refused. */
async function assertDemoKey(t: Test, { url }: LocalnetProcess, key: string): Promise<void> {
  const origin = 'http://localhost:5173'
  const seen = await fetch(`${url}/v1/me`, { headers: { origin, 'x-api-key': key } })
  t.same([seen.status, seen.headers.get('access-control-allow-origin')], [200, origin])
  const foreign = await fetch(`${url}/v1/me`, {
    headers: { origin: 'https://app.example.org', 'x-api-key': key }
  })
  t.equal(foreign.status, 403)
  const params = [Keypair.generate().publicKey.toBase58(), 1_000_000]
  const airdrop = await fetch(`${url}/v1/rpc?api-key=${key}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'requestAirdrop', params })
  })
  t.match(await airdrop.json(), { id: 1, result: /^[1-9A-HJ-NP-Za-km-z]{80,}$/ })
}

t.test(
  'started without a source, the service is a localnet, which goes on where a kill left it; every start prints requests',
  async (t) => {
    const dataDir = ownDirectory(t)
    const first = await startLocalnetProcess(t, dataDir)
    await until(async () => (await slotOf(first)) > 2, 'blocks are indexed')
    const health = await first.get('/v1/health', null)
    t.match([health.status, health.body], [200, { status: 'ok', localnet: true }])
    t.equal((await first.get('/v1/stats')).body['localnet'], true)
    const document = await first.get('/openapi.json', null)
    t.match(document.body, {
      info: { title: /localnet/, description: /This is a localnet[^]*none can call its DEX programs/ }
    })
    const key = await assertRequests(t, first, null)
    await assertDemoKey(t, first, key)

    const connection = new Connection(first.rpcUrl, 'confirmed')
    const genesis = await connection.getGenesisHash()
    const [payer, receiver] = [Keypair.generate(), Keypair.generate()]
    await connection.requestAirdrop(payer.publicKey, sol(5))
    await until(async () => (await connection.getBalance(payer.publicKey)) === sol(5), 'the airdrop is there')
    const sentIn = await transfer(first, payer, receiver)
    t.equal(await connection.getBalance(receiver.publicKey), sol(1))
    await until(async () => (await slotOf(first)) >= sentIn, 'its block is indexed')
    t.match((await first.get('/v1/admin/coverage')).body, { genesis, gaps: [] })
    t.match(await first.end('SIGKILL'), { signal: 'SIGKILL' })

    const second = await startLocalnetProcess(t, dataDir)
    const again = new Connection(second.rpcUrl, 'confirmed')
    t.equal(await again.getGenesisHash(), genesis)
    t.equal(await again.getBalance(receiver.publicKey), sol(1), 'what was confirmed is there')
    t.equal(await assertRequests(t, second, key), key, 'the key is not shown again')
    const goesOn = await transfer(second, payer, receiver)
    t.ok(goesOn > sentIn)
    await until(async () => (await slotOf(second)) >= goesOn, 'the index goes on')
    const { body } = await second.get('/v1/admin/coverage')
    t.match(body, { genesis, gaps: [], ranges: [{ to_slot: Number }] })
    t.equal((body['ranges'] as unknown[]).length, 1, 'nothing was left out between')
    t.match(await second.end('SIGTERM'), { code: 0 })
  }
)

t.test('an operator sets the pace of the chain, and block times stay those of the clock', async (t) => {
  // Slow slots: a busy machine makes them later, never earlier.
  const service = await startBusyLocalnetProcess(t, ownDirectory(t), ['--localnet-slot-ms', '2000'])
  const connection = new Connection(service.rpcUrl, 'confirmed')
  await until(async () => (await connection.getSlot()) >= 1, 'the first slot')
  const [slot, startedAt] = [await connection.getSlot(), Date.now()]
  await until(async () => (await connection.getSlot()) >= slot + 4, 'four slots more')
  const endedAt = Date.now()
  t.ok(endedAt - startedAt >= 6_000, `${endedAt - startedAt} ms, at 400 ms a slot they take 1,600`)
  const last = await connection.getSlot()
  const times = await Promise.all([slot, slot + 4].map((each) => connection.getBlockTime(each)))
  t.ok(times[1]! - times[0]! >= 7, `${times[1]! - times[0]!} seconds of block time`)
  t.ok(times[1]! * 1_000 <= endedAt && times[1]! * 1_000 > startedAt, 'the newest block is of now')
  await until(async () => (await slotOf(service)) >= last, 'it is indexed')
  t.match((await service.get('/v1/admin/coverage')).body, { gaps: [] })
})

t.test('a pace that no chain keeps is refused by the name of its setting', async (t) => {
  const problems = (value: string): unknown => readConfig([], { MILLRACE_LOCALNET_SLOT_MS: value })
  t.match(problems('10'), { config: { localnetSlotMs: 10 } })
  t.match(problems('10000'), { config: { localnetSlotMs: 10_000 } })
  t.same(problems('9'), { kind: 'invalid', problems: ['MILLRACE_LOCALNET_SLOT_MS="9" is below 10'] })
  t.same(problems('10001'), {
    kind: 'invalid',
    problems: ['MILLRACE_LOCALNET_SLOT_MS="10001" is above 10000']
  })
  t.same(problems('fast'), {
    kind: 'invalid',
    problems: ['MILLRACE_LOCALNET_SLOT_MS="fast" is not a whole number']
  })
})
