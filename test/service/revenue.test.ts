import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Connection } from '@solana/web3.js'
import t from 'tap'
import type { TreeNode } from '../../actors/supervision/live-tree.ts'
import { closeConnection } from '../node/web3-flows.ts'
import { ownDirectory } from '../own-directory.ts'
import { signedWire, transfer, wallet } from '../transactions/signed.ts'
import { slotOf, until } from './asking.ts'
import { tradersOf } from './busiest-traders.ts'
import { ledgerSlotIn } from './ledger-slot.ts'
import { startBusyLocalnetProcess } from './localnet-process.ts'
import { endAtBalances, followEachOther, RevenueUser, totalsEqual, type Row } from './revenue-user.ts'

const LAMPORTS = 5_000_000_000

t.test('the ledger of watched wallets is what the node says, for each tenant since it watches', async (t) => {
  const dataDir = ownDirectory(t)
  const service = await startBusyLocalnetProcess(t, dataDir, ['--rate-limit-per-minute', '1000000'])
  const chain = new Connection(service.rpcUrl, 'confirmed')
  t.teardown(() => closeConnection(chain))
  const ledgerSlot = async (): Promise<number> =>
    ledgerSlotIn((await service.get('/v1/admin/tree')).body as unknown as TreeNode)
  const urlOf = (): string => service.url
  const user = new RevenueUser(urlOf, readFileSync(join(dataDir, 'demo-key'), 'utf8').trim())
  const second = await RevenueUser.of(urlOf, 'second')
  const airdrop = await chain.requestAirdrop(wallet(1).publicKey, LAMPORTS)
  const landed = await until(
    async () => (await chain.getSignatureStatus(airdrop)).value?.slot ?? null,
    'the airdrop'
  )
  // Else the airdrop is the first row.
  await until(async () => (await slotOf(service)) >= landed, 'the airdrop is indexed')
  const heard = await user.hear(t)
  const heardBySecond = await second.hear(t)

  const traders = await tradersOf(service, 5)
  const own = [1, 2].map((number) => wallet(number).publicKey.toBase58())
  const watchedAtMs = performance.now()
  await Promise.all([...traders, ...own].map((address) => user.watch(address)))
  t.comment(`capture has begun after ${Math.round(performance.now() - watchedAtMs)} ms`)

  let lamports = 2_000_000n
  const send = async (): Promise<string> => {
    const { blockhash } = await chain.getLatestBlockhash()
    return chain.sendRawTransaction(signedWire([transfer(lamports++)], { blockhash }))
  }
  const rowsOf = async (signature: string, by = user): Promise<readonly Row[]> =>
    (await by.rows()).filter((row) => row.signature === signature)
  const sent: string[] = []
  for (let count = 0; count < 4; count++) sent.push(await send())
  await until(async () => (await rowsOf(sent.at(-1)!)).length === 2, 'the last transfer has its rows')
  for (const signature of sent) {
    const rows = await rowsOf(signature)
    t.strictSame(new Set(rows.map(({ address }) => address)), new Set(own), 'a row of each side')
    t.ok(rows.every(({ counterparty, kind }) => own.includes(counterparty!) && kind === 'transfer'))
  }
  await until(async () => (await user.rows()).filter((row) => !row.is_native).length > 5, 'the market trades')
  const first = (await user.rows()).find(({ address }) => address === own[0])!
  t.equal(first.pre_raw, String(LAMPORTS), 'the first row begins with the balance before the watch')
  let accounts = 0
  for (const address of [...traders, ...own])
    accounts += await endAtBalances(t, user, chain, address, ledgerSlot)
  t.ok(accounts > 3, `${accounts} accounts`)
  followEachOther(t, await user.rows(7), await user.gaps(), 'in pages of seven')
  t.strictSame(await user.gaps(), [])

  await totalsEqual(t, user)

  const from = await second.watch(own[0]!)
  const later = await send()
  await until(async () => (await rowsOf(later, second)).length === 1, 'the second tenant has the transfer')
  const ofSecond = await second.rows()
  t.ok(ofSecond.every(({ address, slot }) => address === own[0] && slot >= from))
  t.ok(
    (await user.rows()).some(({ address, slot }) => address === own[0] && slot < from),
    'earlier rows exist'
  )

  const ofFirst = (await user.rows()).filter(({ address }) => address === own[0])
  await user.unwatch(own[0]!)
  t.ok(
    (await user.rows()).every(({ address }) => address !== own[0]),
    'no row of an ended watch'
  )
  const between = await send()
  await until(async () => (await rowsOf(between, second)).length === 1, 'the other tenant still has it')
  await user.watch(own[0]!)
  const last = await send()
  await until(async () => (await rowsOf(last)).length === 2, 'it is recorded again')
  await until(async () => (await rowsOf(last, second)).length === 1, 'for both')
  const both = (await user.rows()).filter(({ address }) => address === own[0])
  t.strictSame(both.slice(0, ofFirst.length), ofFirst, 'the rows of the first watch are found again')
  t.notOk(
    both.some(({ signature }) => signature === between),
    'without what came between'
  )
  t.match(await user.gaps(), [{ reason: 'not_registered' }])
  followEachOther(t, both, await user.gaps(), 'both watches')

  const request = await user.ask('POST', `/v1/revenue/accounts/${own[0]}/backfill`, { since: 0 })
  t.match(request, { status: 'backfilling' })
  await until(async () => (await user.account(own[0]!))['status'] === 'active', 'its history is stored')
  const all = (await user.rows()).filter(({ address }) => address === own[0])
  t.equal(all[0]!.pre_raw, '0', 'the first row is the first of the address')
  t.ok(
    all.some(({ signature, source }) => signature === between && source === 'archive'),
    'with what came between'
  )
  t.strictSame(await user.gaps(), [])
  followEachOther(t, all, [], 'since the first block')
  t.match(await user.coverageOf(own[0]!), {
    complete: true,
    archive: { from: { slot: 0 } },
    complete_from_slot: 0
  })

  const heardIds = (events: typeof heard): unknown[] => events.map(({ id }) => id)
  await until(
    async () => heard.some(({ signature }) => signature === last),
    'the stream has the last transfer'
  )
  t.equal(new Set(heardIds(heard)).size, heard.length, 'each row is heard once')
  const shown = (await user.rows()).filter(({ source }) => source === undefined)
  const lastShown = shown.findLast(({ signature }) => signature === last)!
  const missing = shown.filter((row) => row.slot <= lastShown.slot && !heardIds(heard).includes(row.id))
  t.strictSame(missing, [], 'and every row')
  t.strictSame(
    heardIds(heardBySecond).sort(),
    (await second.rows()).map(({ id }) => id).sort(),
    'a tenant hears its own rows alone'
  )
  t.match(await service.end('SIGTERM'), { code: 0 })
})
