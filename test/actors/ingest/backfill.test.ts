import t from 'tap'
import type { Test } from 'tap'
import { GAP_SLOTS } from '../../../actors/ingest/undo-history.ts'
import type { Block } from '../../../src/chain/transaction.ts'
import { logChannelCodes } from '../../../storage/codec/codes.ts'
import { logKey } from '../../../storage/codec/keys.ts'
import { endOfEvents } from '../../../src/market/cursor.ts'
import { openEmbeddedStorage } from '../../../storage/embedded/store.ts'
import { isKeptBlock, recordsOf as storedRecords, withRawStore } from '../../storage/embedded-directory.ts'
import * as late from './late-blocks.ts'
import { assertRetracted, FOR_FORKS, gaps, withFork, withRoom } from './late-blocks.ts'
import type { Course, Run } from './late-blocks.ts'
import { marketBlocks } from './market-blocks.ts'
import { lookAgain } from '../../look-again.ts'

const blocks = withRoom(await marketBlocks('blocks that come late', 90))

/** Runs a course on the store of a directory. Nodes have all blocks by default. */
const run = (directory: string, course: Omit<Course, 'node'> & Partial<Pick<Course, 'node'>>): Promise<Run> =>
  late.run(() => openEmbeddedStorage({ directory }), { node: blocks, ...course })
const closed = (one: Run): Promise<void> => late.closed(one, blocks.at(-1)!)
const without = (...missing: readonly (readonly [number, number])[]) => late.without(blocks, ...missing)

/** Returns every record of a closed store by its key, except kept blocks. */
const recordsOf = (directory: string): Promise<Map<string, string>> => storedRecords(directory, isKeptBlock)

function undoRecords(directory: string): Promise<number> {
  return withRawStore(directory, async (raw) => {
    const keys = await raw.keys({ gte: Buffer.from('d'), lt: Buffer.from('e') }).all()
    return keys.length
  })
}

const undisturbedDirectory = t.testdir()
const undisturbedRun = await run(undisturbedDirectory, { steps: blocks })
await closed(undisturbedRun)
await undisturbedRun.end()
const undisturbed = await recordsOf(undisturbedDirectory)

/** `besides` lists records that the undisturbed store need not have. */
async function assertAsUndisturbed(
  t: Test,
  directory: string,
  besides: (key: string) => boolean = () => false
): Promise<void> {
  const records = await recordsOf(directory)
  const different = [...undisturbed.keys(), ...records.keys()].filter(
    (key) => records.get(key) !== undisturbed.get(key) && !besides(key)
  )
  t.strictSame(
    different.map((key) => Buffer.from(key, 'latin1').toString('hex').slice(0, 40)),
    [],
    `all ${undisturbed.size} records are as if nothing had been missing`
  )
}

t.ok(undisturbed.size > 500, `${undisturbed.size} records`)

// INVARIANTS 5
t.test('a gap is closed once a node has its blocks, as if it had never been', async (t) => {
  const directory = t.testdir()
  let isThere = false
  const has = (slot: number, asked: number): boolean => (isThere ||= slot === blocks[41]!.slot && asked > 3)
  const one = await run(directory, { steps: without([30, 41]), has })
  await closed(one)
  t.ok(one.asked.filter((slot) => slot === blocks[41]!.slot).length >= 4, 'it is asked for again')
  t.notOk(
    one.asked.some((slot) => !blocks.some((block) => block.slot === slot)),
    'no slot that has none'
  )
  t.equal(one.jumps(), 1, 'who follows hears that what was published has changed')
  t.ok(one.logged.some((line) => /12 missing blocks were inserted/.test(line)))
  await one.end()
  await assertAsUndisturbed(t, directory)
  t.equal(await undoRecords(directory), 0, 'nothing is kept any longer')
})

t.test('gaps are closed part by part, in any order, and behind each other', async (t) => {
  const directory = t.testdir()
  const late = new Set([blocks[22]!.slot, blocks[60]!.slot])
  const steps = without([20, 25], [31, 31], [58, 62])
  const one = await run(directory, { steps, has: (slot, asked) => !late.has(slot) || asked > 5 })
  await closed(one)
  const parts = () => one.logged.filter((line) => line.includes('missing blocks were inserted')).length
  // The last of them is published after the store has closed its gap.
  while (parts() < 5) await lookAgain()
  await one.end()
  await assertAsUndisturbed(t, directory)
  t.equal(await undoRecords(directory), 0)
})

t.test('a gap is closed after a restart, and while blocks still come', async (t) => {
  const directory = t.testdir()
  const steps = without([30, 35])
  const half = steps.findIndex((step) => 'slot' in step && step.slot === blocks[50]!.slot)
  const first = await run(directory, { steps: steps.slice(0, half), has: () => false })
  const head = async (): Promise<boolean> =>
    (await first.storage.blocks.head())?.slot === blocks[49]!.slot && first.asked.length > 2
  while (!(await head())) await lookAgain()
  t.equal((await gaps(first.storage)).length, 1)
  await first.end()
  t.ok((await undoRecords(directory)) > 10)

  let second: Run | null = null
  const isClosed = async (): Promise<boolean> =>
    second === null ? true : (await gaps(second.storage)).length === 0
  second = await run(directory, { steps: [...steps.slice(half), { until: isClosed }] })
  await closed(second)
  await second.end()
  await assertAsUndisturbed(t, directory)
})

t.test('a chain that does not lead to the stored blocks is reported once, and changes nothing', async (t) => {
  const directory = t.testdir()
  const skipped =
    blocks[29]!.slot -
    Array.from({ length: 20 }, (_, back) => back).find((back) => {
      return !blocks.some(({ slot }) => slot === blocks[29]!.slot - back)
    })!
  const node = blocks.map((block, at) => (at === 30 ? { ...block, parentSlot: skipped } : block))
  const one = await run(directory, { steps: without([30, 33]), node })
  while (!one.logged.some((line) => line.includes('do not connect to the stored chain'))) await lookAgain()
  const { length } = one.asked
  await new Promise((resolve) => setTimeout(resolve, 100))
  t.equal(one.asked.length, length, 'it is not asked for again')
  t.equal((await gaps(one.storage)).length, 1)
  t.equal(await one.storage.blocks.has(blocks[31]!.slot), false)
  await one.end()
})

t.test('a gap that is open for too long stays one', async (t) => {
  const directory = t.testdir()
  const empty = (slot: number, parentSlot: number): Block => ({
    slot,
    parentSlot,
    blockTime: 1_790_000_000 + Math.floor(slot / 2),
    transactions: [],
    votes: 1
  })
  const count = GAP_SLOTS + 20
  const later = Array.from({ length: count }, (_, i) => empty(20 + i, 19 + i))
  const steps = [empty(10, 9), { gap: [11, 19] } as const, ...later]
  const one = await run(directory, { steps, has: () => false, node: [] })
  while ((await one.storage.blocks.head())?.slot !== 19 + count) await lookAgain()
  t.ok(one.logged.some((line) => /gaps since slot 11 were not closed in time: they stay/.test(line)))
  t.equal((await gaps(one.storage)).length, 1)
  await one.end()
  t.equal(await undoRecords(directory), 0)
})

t.test('blocks of a fork that is lost are taken back before others come', async (t) => {
  for (const depth of [1, 2, 9]) {
    const directory = t.testdir({ [`of${depth}`]: {} })
    const one = await run(directory, { steps: withFork(blocks, depth), undoPolicy: FOR_FORKS })
    await closed(one)
    const lost = `${depth} blocks of a lost fork were removed`
    t.ok(one.logged.includes(lost), lost)
    const slot = await assertRetracted(t, one)
    await one.listener.assertHeard(t, endOfEvents(blocks.at(-1)!.slot))
    t.ok(one.listener.struck > 10 * depth, `${one.listener.struck} events are taken back`)
    await one.end()
    const said = logChannelCodes.words.map((channel) => Buffer.from(logKey(channel, slot)).toString('latin1'))
    await assertAsUndisturbed(t, directory, (key) => said.includes(key))
    t.ok((await undoRecords(directory)) >= 60)
  }
})
