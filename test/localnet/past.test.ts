import t from 'tap'
import { openLocalnet, type Localnet } from '../../src/localnet/localnet.ts'
import { DAY_MS, PAST_SLOTS, planPast } from '../../src/localnet/market/past.ts'
import { USUAL_PACE } from '../../src/localnet/market/pace.ts'
import { MarketSimulator, USUAL_MARKET } from '../../src/localnet/market/simulator.ts'
import { systemPorts } from '../../src/ports.ts'

const seed = 'a day before'
const planned = planPast()

const open = (directory: string, past: 'day' | 'none'): Promise<Localnet> =>
  openLocalnet({
    directory,
    host: '127.0.0.1',
    port: 0,
    clock: systemPorts.clock,
    seed,
    past,
    onFault: (fault) => {
      throw fault
    }
  })

/** Runs a localnet until a slot is processed. */
async function runUntil(net: Localnet, slot: number): Promise<void> {
  const stop = new AbortController()
  const end = net.bank.listen((event) => {
    if (event.kind === 'block' && event.block.slot >= slot) stop.abort()
  })
  await net.run(stop.signal)
  end()
}

async function ask(net: Localnet, method: string, ...params: unknown[]): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(net.rpcUrl, { method: 'POST', headers, body })
  const { result, error } = (await answer.json()) as { result?: unknown; error?: { code: number } }
  return error === undefined ? result : error.code
}

t.test('launches come ever faster in a past, and go on at its last rate in live slots', async (t) => {
  const every = planned.map(({ pace }) => pace.launchEverySlots)
  t.same(
    every,
    every.toSorted((a, b) => b - a)
  )
  const ratio = every.at(-1)! / USUAL_PACE.launchEverySlots
  t.ok(ratio >= 1 && ratio < 1.1, `${ratio.toFixed(3)} of the slots between two live launches`)
})

t.test('a past that a kill cut short is gone on with, and is that of its seed', async (t) => {
  const directory = t.testdir()
  const beganMs = Date.now()
  const first = await open(directory, 'day')
  const openedMs = Date.now()
  const cut = planned[200]!.slot
  await runUntil(first, cut)
  const reached = first.bank.slot('processed')
  t.ok(reached >= cut && reached < PAST_SLOTS, `cut short at slot ${reached}`)
  await first.close()

  const net = await open(directory, 'day')
  t.teardown(() => net.close())
  await runUntil(net, PAST_SLOTS + 3)
  const { bank } = net
  const slots = bank.blockSlots(0, Infinity, Infinity, 'processed')
  const expected = [0, ...planned.map(({ slot }) => slot)]
  t.same(slots.slice(0, expected.length), expected, 'its blocks, with skipped slots between them')
  t.equal(slots[expected.length], PAST_SLOTS, 'live slots follow it')

  const blocks = slots.map((slot) => {
    const answer = bank.block(slot, 'processed')
    if (answer.kind !== 'block') throw new Error(`slot ${slot} is ${answer.kind}`)
    return answer.block
  })
  const times = blocks.map(({ blockTime }) => blockTime)
  t.same(
    times,
    times.toSorted((a, b) => a - b),
    'block times ascend'
  )
  const startedMs = times[0]! * 1_000 + DAY_MS
  t.ok(
    startedMs >= beganMs - 1_000 && startedMs <= openedMs + 1_000,
    'it begins a day before the first start'
  )
  t.ok(times[expected.length]! * 1_000 >= beganMs - 1_000, 'a live block is of now')
  t.same(
    blocks.map(({ parentSlot }) => parentSlot),
    [0, ...slots.slice(0, -1)],
    'each block names the one before as its parent'
  )

  const market = new MarketSimulator({ ...USUAL_MARKET, seed })
  for (const [at, { slot, pace }] of planned.entries()) {
    const { transactions, blockTime } = blocks[at + 1]!
    const meant = market.fill(slot, blockTime, pace).map(({ transaction }) => transaction.signature.toHex())
    if (String(transactions.map(({ signature }) => signature.toHex())) !== String(meant))
      t.fail(`slot ${slot} has other transactions than its seed`)
  }

  const [third, fourth] = [planned[2]!.slot, planned[3]!.slot]
  t.same(await ask(net, 'getBlocks', third, fourth), [third, fourth])
  t.same(await ask(net, 'getBlocksWithLimit', third + 1, 1), [fourth])
  t.equal(await ask(net, 'getBlockTime', fourth), blocks[4]!.blockTime)
  t.equal(await ask(net, 'getBlockTime', third + 1), -32007, 'skipped')
  t.match(await ask(net, 'getBlock', fourth, { maxSupportedTransactionVersion: 0 }), {
    blockHeight: 4,
    parentSlot: third,
    blockTime: blocks[4]!.blockTime
  })
  t.equal(await ask(net, 'getBlock', third + 1), -32007, 'skipped')
  t.equal(await ask(net, 'getFirstAvailableBlock'), 0)
  const address = 'So11111111111111111111111111111111111111112'
  const page = (await ask(net, 'getSignaturesForAddress', address, { limit: 1_000 })) as { slot: number }[]
  t.equal(page.length, 1_000)
  t.same(
    page.map(({ slot }) => slot),
    page.map(({ slot }) => slot).toSorted((a, b) => b - a)
  )
})

t.test('a localnet without a past begins empty, and gets none later', async (t) => {
  const directory = t.testdir()
  const beganMs = Date.now()
  const first = await open(directory, 'none')
  t.equal(first.bank.slot('processed'), 0)
  const genesisMs = first.bank.blockTime(0)! * 1_000
  t.ok(genesisMs >= beganMs - 1_000 && genesisMs <= Date.now(), 'its genesis is of now')
  await first.close()
  const second = await open(directory, 'day')
  await runUntil(second, 2)
  t.same(second.bank.blockSlots(0, Infinity, Infinity, 'processed'), [0, 1, 2])
  await second.close()
})
