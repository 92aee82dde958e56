import t, { type Test } from 'tap'
import { DocumentLedger } from '../../src/revenue/document-ledger.ts'
import { documentsToOf, ledgerProgressIn } from '../../src/revenue/ledger-progress.ts'
import { NO_MARK, packMark } from '../../src/revenue/sum-mark.ts'
import { systemPorts } from '../../src/ports.ts'
import { LEDGER_SUM_SLOTS } from '../../storage/port/ledger.ts'
import { until } from '../service/asking.ts'
import { blockOfText } from '../followers/block-text.ts'
import { ledgerEqual } from './ledger-shape.ts'
import { LedgerWorld } from './ledger-world.ts'
import { ALICE, BOB, entry, GRAIN, revenueClient, signatureOf, type RevenueClient } from './revenue-client.ts'
import { storedParts } from './stored-ledger.ts'

const PATHS = [
  '/v1/revenue/totals?window=86400',
  '/v1/revenue/totals?window=60',
  '/v1/revenue/accounts',
  '/v1/revenue/coverage',
  '/v1/revenue/events?limit=7',
  '/v1/revenue/events?limit=1000&order=asc',
  `/v1/revenue/events?limit=1000&order=asc&kind=swap`,
  `/v1/revenue/events?address=${BOB}&from=2026-08-24T12:01:00Z&to=2026-08-24T12:04:00Z`,
  '/v1/revenue/events?format=csv&limit=1000'
]

const BLOCKS = [5, 40, 41, 100, 160, 200, 240, 300].map((slot) => ({
  slot,
  entries: [
    entry({ valueUsd: 12.5, signature: signatureOf(slot) }),
    entry({
      ...{ account: GRAIN, mint: GRAIN, isNative: false, decimals: 6, signature: signatureOf(slot + 1) },
      ...{
        txIndex: 1,
        pre: 2_000_000n,
        post: BigInt(slot),
        kind: 'swap',
        valueUsd: slot === 41 ? null : -0.5
      },
      ...{ confidence: 'inferred', counterparty: null, ixIndex: null, feeUsd: 0.25 }
    })
  ]
}))

async function answersOf(t: Test, fill: (app: RevenueClient) => Promise<void>) {
  const answers = new Map<string, string>()
  await t.test('a store', async (t) => {
    const app = await revenueClient(t)
    for (const address of [ALICE, BOB]) await app.watch(address)
    await app.blocks(...BLOCKS.map(({ slot }) => slot))
    await fill(app)
    for (const path of PATHS) {
      const { status, text } = await app.send('GET', path)
      answers.set(path, `${status} ${text.replaceAll(/"created_at":"[^"]*"/g, '')}`)
    }
  })
  return answers
}

t.test('a ledger that an earlier version has stored gives the bytes of a new one', async (t) => {
  const made = await answersOf(t, async (app) => {
    for (const address of [ALICE, BOB]) await app.ledger(address, BLOCKS)
    await app.endAt(300)
  })
  for (const last of [300, 160]) {
    const stored = await answersOf(t, async (app) => {
      const { storage } = app
      const documents = new DocumentLedger(storage.documents)
      const { save } = await ledgerProgressIn(storage.documents).claim(1)
      for (const address of [ALICE, BOB]) {
        for (const { slot, entries } of BLOCKS.filter(({ slot }) => slot <= last))
          await documents.put({ address, slot, blockTime: 1_787_572_800 + slot, blockhash: null, entries })
        await app.ledger(
          address,
          BLOCKS.filter(({ slot }) => slot > last)
        )
      }
      const progress = { slot: 300, blockhash: null, blockTime: 1_787_572_800 + 300, holes: [] }
      // All of it by the earlier version, or the rest by this one.
      await save(last === 300 ? progress : { ...progress, documentsTo: last })
    })
    for (const [path, answer] of made) t.equal(stored.get(path), answer, `${path} with documents to ${last}`)
    t.match(made.get(PATHS[0]!), /^200 .*"events":32/)
  }
})

/** Makes the ledgers of a world those of an earlier version: documents, with a progress that says nothing of them. */
async function asEarlier(world: LedgerWorld): Promise<void> {
  const { documents, ledger } = world.storage
  const earlier = new DocumentLedger(documents)
  // Between the tokens of the followers before and after it.
  const token = systemPorts.clock.now()
  for (const { address: owner } of await world.watched()) {
    const parts = await storedParts(ledger, owner)
    for (const part of parts) await earlier.put(part)
    await ledger.drop({ token, owner, slots: parts.map(({ slot }) => slot) })
    for (const level of LEDGER_SUM_SLOTS.keys())
      await ledger.drop({ token, owner, sums: await ledger.sums(owner, level, 0, 1_000) })
    await ledger.put({ token, marks: [{ owner, value: packMark(NO_MARK) }] })
  }
  const { documentsTo: _, ...progress } = await world.progress
  const { save } = await ledgerProgressIn(documents).claim(token)
  await save(progress)
}

t.test('the follower continues a ledger of an earlier version, through forks and late blocks', async (t) => {
  const world = await LedgerWorld.open(t, 31)
  for (const address of world.wallets.slice(0, 3)) await world.watch(address)
  await world.slots(8)
  await world.settled('before the upgrade')
  await world.stop()
  await asEarlier(world)
  const upgraded = world.bank.slot('processed')
  world.follow()
  await world.slots(1)
  await ledgerEqual(t, world, 'after the upgrade')
  t.equal(documentsToOf(await world.progress), upgraded)
  for (let round = 0; round < 6; round++) {
    if (round < 4) world.bank.faults.fork(round % 2 === 0 ? 'drop' : 'replace')
    await world.slots(1 + world.choices.below(3))
    await ledgerEqual(t, world, `round ${round}`)
  }
  await world.slots(8)
  await world.settled('before the hole')
  world.index.hides = 3
  await world.slots(4)
  await world.settled('after the hole')
  for (const text of world.blocks.slice(-4, -1)) world.index.insert(blockOfText(text))
  await until(async () => (await world.gaps()).length === 0, 'a closed gap')
  await ledgerEqual(t, world, 'with the late blocks')
  await world.restart(2, 50)
  await world.slots(3)
  await ledgerEqual(t, world, 'after a restart')
  t.ok((await storedParts(world.storage.ledger, world.wallets[0]!)).length > 0, 'pages follow the documents')
})
