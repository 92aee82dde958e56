import t from 'tap'
import type { Test } from 'tap'
import { UNDO_SLOTS, type UndoPolicy } from '../../../actors/ingest/undo-history.ts'
import { lostForkOf } from '../../../src/ingest/coverage.ts'
import type { Block, Instruction, Transaction } from '../../../src/chain/transaction.ts'
import { VENUES_BY_PROGRAM } from '../../../src/chain/venues.ts'
import { cursorAt, endOfEvents } from '../../../src/market/cursor.ts'
import { ChannelHistory } from '../../../src/stream/channel-history.ts'
import { channelsOf } from '../../../src/stream/retractions.ts'
import type { BlockCommit } from '../../../storage/port.ts'
import { logKey } from '../../../storage/codec/keys.ts'
import { openEmbeddedStorage } from '../../../storage/embedded/store.ts'
import { isKeptBlock, recordsOf as storedRecords } from '../../storage/embedded-directory.ts'
import { IS_LONG } from '../../random-runs.ts'
import { channelNamed } from '../../stream/stream-world.ts'
import { assertResumable, channelsIn, sentAfter, sentLive } from './resuming.ts'
import { CASH, chain, forkAfter, openedOn, rollbackAfter, sourced, type Opened } from './put-back-chain.ts'

const LIMITS = { rows: 64, parts: 8 }

const opened = async (directory: string, undoPolicy?: UndoPolicy): Promise<Opened> =>
  openedOn(await openEmbeddedStorage({ directory }), undoPolicy)

function recordsOf(directory: string): Promise<Map<string, string>> {
  const besides = (['retractions', 'moves'] as const).map((channel) =>
    Buffer.from(logKey(channel, 0)).subarray(0, 2).toString('latin1')
  )
  return storedRecords(directory, (key) => isKeptBlock(key) || besides.some((start) => key.startsWith(start)))
}

const undisturbedDirectory = t.testdir()
/** The blocks of the chain, as they were published. */
const published: BlockCommit[] = []
const undisturbed = await (async () => {
  const { storage, ingester, published: commits } = await opened(undisturbedDirectory)
  for (const block of chain) await ingester.ingest(sourced(block))
  published.push(...commits)
  await storage.close()
  return recordsOf(undisturbedDirectory)
})()

async function assertAsUndisturbed(t: Test, directory: string): Promise<void> {
  const records = await recordsOf(directory)
  t.ok(undisturbed.size > 300, `${undisturbed.size} records`)
  const different = [...new Set([...undisturbed.keys(), ...records.keys()])].filter(
    (key) => records.get(key) !== undisturbed.get(key)
  )
  t.strictSame(different, [], 'every record is as if only the chain had been seen')
}

/** Returns all events of a channel that a client has after a cursor, with those received before, retractions applied. */
async function left(
  history: ChannelHistory,
  name: string,
  since: number,
  until: number,
  before: readonly string[] = []
): Promise<string[]> {
  const channel = channelNamed(name)
  const kept = new Map<number, string>()
  const delivered: (readonly [number, string])[] = before.map((body, i) => [-1 - i, body] as const)
  for (const [cursor, body] of delivered) kept.set(cursor, body)
  let last = since
  for (let from = since; from < until;) {
    const { events, to } = await history.read(channel, from, until, LIMITS)
    for (const { cursor, body } of events) {
      if (cursor <= last) throw new Error(`${cursor} is published after ${last} on ${name}`)
      last = cursor
      const text = Buffer.from(body).toString()
      const data = JSON.parse(`${text}0}`) as { event: string; of?: number }
      if (data.event === 'retract') kept.delete(data.of!)
      else kept.set(cursor, text)
    }
    if (to <= from && events.length === 0) throw new Error(`no way on after ${from} on ${name}`)
    from = to
  }
  return [...kept.values()]
}

const WALLETS = channelsIn(published).filter(({ kind }) => kind === 'wallet')
const CHANNELS = [
  ...['launches', 'curves', 'venue:pumpfun', 'venue:pumpswap', 'venue:raydium-amm-v4'],
  ...WALLETS.slice(0, 3).map(({ name }) => name)
]

t.test('what the store has is what was sent live, on all channels together, from anywhere on', async (t) => {
  const storage = await openEmbeddedStorage({ directory: undisturbedDirectory })
  const end = endOfEvents(chain.at(-1)!.slot)
  const channels = channelsIn(published)
  const live = sentLive(published)
  t.strictSame(await sentAfter(storage, channels, -1, end), live)
  const trades = live.filter(({ channel }) => channel.startsWith('wallet:'))
  const onVenues = live.filter(
    ({ channel, text }) => channel.startsWith('venue:') && text.includes('"trade"')
  )
  t.equal(trades.length, onVenues.length, `${trades.length} trades of ${WALLETS.length} wallets`)
  t.ok(trades.length > 100)
  await assertResumable(t, storage, channels, end, 10)
  await storage.close()
})

t.test('a chain that was put back leaves the store as if its last course alone had been seen', async (t) => {
  const cases = [
    [[20, 1]],
    [[20, 12]],
    [
      [30, 3],
      [25, 14]
    ],
    [
      [12, 25],
      [36, 2],
      [33, 9]
    ]
  ] as const
  // The last one has a fork of each kind; the long tier has those between.
  for (const [index, forks] of (IS_LONG ? cases : [cases[0], cases.at(-1)!]).entries()) {
    const directory = t.testdir({ [`${index}`]: {} }) + `/${index}`
    const one = await opened(directory)
    const { storage, ingester, listener } = one
    let at = -1
    for (const [fork, [common, length]] of forks.entries()) {
      for (const block of chain.slice(at + 1, common + 1)) await ingester.ingest(sourced(block))
      const lost = forkAfter(common, length, ` of fork ${fork}`)
      for (const block of lost) await ingester.ingest(sourced(block))
      const { block, next } = rollbackAfter(common, lost.at(-1)!.slot)
      await ingester.ingest(block)
      at = Math.max(at, next)
    }
    for (const block of chain.slice(at + 1)) await ingester.ingest(sourced(block))
    const end = endOfEvents(chain.at(-1)!.slot)
    await listener.assertHeard(t, end)
    t.ok(listener.struck > 0, `${listener.struck} events were taken back from a live reader`)

    const plain = await openEmbeddedStorage({ directory: undisturbedDirectory })
    const history = new ChannelHistory(storage, CASH)
    const expected = new ChannelHistory(plain, CASH)
    const names = new Set([
      ...CHANNELS,
      ...one.published.flatMap((commit) => [...channelsOf(commit)].map(({ name }) => name))
    ])
    let count = 0
    for (const name of names) {
      if (name === 'pools') continue
      const events = await left(expected, name, -1, end)
      count += events.length
      t.strictSame((await left(history, name, -1, end)).sort(), events.sort(), name)
    }
    t.ok(count > 500, `${count} events on ${names.size} channels`)
    const sent = await assertResumable(t, storage, [...names].map(channelNamed), end, 4)
    const retracted = sent.filter(
      ({ channel, text }) => channel.startsWith('wallet:') && text.includes('"retract"')
    )
    t.ok(retracted.length > 0, `${retracted.length} trades were taken back on channels of wallets`)
    t.equal(await lostForkOf(storage.coverage), null)
    await plain.close()
    await storage.close()
    await assertAsUndisturbed(t, directory)
  }
})

t.test(
  'a client that was cut off anywhere in a lost fork misses nothing and hears nothing twice',
  async (t) => {
    const directory = t.testdir()
    const { storage, ingester } = await opened(directory)
    for (const block of chain.slice(0, 21)) await ingester.ingest(sourced(block))
    const lost = forkAfter(20, 12, ' lost')
    for (const block of lost) await ingester.ingest(sourced(block))
    const heard = new Map<number, Map<string, { cursor: number; body: string }[]>>()
    const before = new ChannelHistory(storage, CASH)
    const cuts = [chain[20]!.slot, ...lost.map(({ slot }) => slot)].flatMap((slot) => [
      endOfEvents(slot),
      cursorAt(slot, 5)
    ])
    for (const cut of cuts) {
      const channels = new Map<string, { cursor: number; body: string }[]>()
      for (const name of CHANNELS) {
        const { events } = await before.read(channelNamed(name), -1, cut, { rows: 100_000, parts: 100_000 })
        channels.set(
          name,
          events.map(({ cursor, body }) => ({ cursor, body: Buffer.from(body).toString() }))
        )
      }
      heard.set(cut, channels)
    }
    const { block, next } = rollbackAfter(20, lost.at(-1)!.slot)
    await ingester.ingest(block)
    for (const each of chain.slice(next + 1)) await ingester.ingest(sourced(each))
    const end = endOfEvents(chain.at(-1)!.slot)
    const plain = await openEmbeddedStorage({ directory: undisturbedDirectory })
    for (const [cut, channels] of heard)
      for (const [name, events] of channels) {
        const kept = new Map(events.map(({ cursor, body }) => [cursor, body]))
        for (let from = cut; from < end;) {
          const page = await before.read(channelNamed(name), from, end, LIMITS)
          for (const { cursor, body } of page.events) {
            const text = Buffer.from(body).toString()
            const data = JSON.parse(`${text}0}`) as { event: string; of?: number }
            if (data.event === 'retract') kept.delete(data.of!)
            else if (kept.has(cursor)) t.fail(`${cursor} is published twice on ${name}`)
            else kept.set(cursor, text)
          }
          from = page.to
        }
        const expected = await left(new ChannelHistory(plain, CASH), name, -1, end)
        t.strictSame([...kept.values()].sort(), expected.sort(), `${name} from ${cut}`)
      }
    await plain.close()
    await storage.close()
  }
)

t.test('blocks no longer kept stay a gap with its reason, and ingest continues above it', async (t) => {
  const { storage, ingester, logged } = await opened(t.testdir(), { forForks: false, forGaps: true })
  for (const block of chain.slice(0, 21)) await ingester.ingest(sourced(block))
  const lost = forkAfter(20, 12, ' lost')
  for (const block of lost) await ingester.ingest(sourced(block))
  const { block, next } = rollbackAfter(20, lost.at(-1)!.slot)
  await ingester.ingest(block)
  const [gap, ...others] = await storage.coverage.gaps({ after: null, limit: 10 })
  t.match(gap, {
    from: chain[20]!.slot + 1,
    to: lost.at(-1)!.slot,
    reason: 'lost-fork',
    detail: String(UNDO_SLOTS)
  })
  t.equal(others.length, 0)
  t.match(await lostForkOf(storage.coverage), `slots ${gap!.from} to ${gap!.to}`)
  t.equal((await storage.blocks.head())?.slot, chain[next]!.slot)
  t.ok(logged.some((line) => line.includes('are, or may be, of a lost fork')))
  await storage.close()
})

t.test('a block of the chain that no node has any more is a gap of its slot', async (t) => {
  const { storage, ingester } = await opened(t.testdir())
  for (const block of chain.slice(0, 21)) await ingester.ingest(sourced(block))
  const lost = forkAfter(20, 12, ' lost')
  for (const block of lost) await ingester.ingest(sourced(block))
  const missing = chain[23]!.slot
  await ingester.ingest(rollbackAfter(20, lost.at(-1)!.slot, [missing]).block)
  const gaps = await storage.coverage.gaps({ after: null, limit: 10 })
  t.match(gaps, [{ from: missing, to: missing, reason: 'missing' }])
  t.notOk(await storage.blocks.has(missing))
  t.equal((await storage.blocks.at(chain[24]!.slot))?.blockhash, String(chain[24]!.slot))
  await storage.close()
})

t.test('a gap of unseen calls goes with the block of a lost fork that it is about', async (t) => {
  const { storage, ingester } = await opened(t.testdir())
  t.teardown(() => storage.close())
  for (const block of chain.slice(0, 58)) await ingester.ingest(sourced(block))
  const [strange] = forkAfter(57, 1, ' lost') as [Block]
  const isCall = ({ keys }: Transaction, { program }: Instruction): boolean =>
    keys.lookup(program, VENUES_BY_PROGRAM) !== undefined
  const transactions = strange.transactions.map((each) =>
    Object.assign(Object.create(each) as Transaction, {
      instructions: each.instructions.filter((instruction) => !isCall(each, instruction))
    })
  )
  const gaps = () => storage.coverage.gaps({ after: null, limit: 10 })
  t.ok(strange.slot < chain[58]!.slot, 'its slot is skipped on the chain')
  await ingester.ingest(sourced({ ...strange, transactions }))
  t.match(await gaps(), [{ from: strange.slot, to: strange.slot, reason: 'vault-moved' }])
  await ingester.ingest(sourced(chain[58]!))
  t.strictSame(await gaps(), [])
})
