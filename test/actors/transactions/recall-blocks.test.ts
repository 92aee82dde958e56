import { pino } from 'pino'
import t from 'tap'
import { recallBlocks } from '../../../actors/transactions/recall-blocks.ts'
import type { Block } from '../../../src/chain/transaction.ts'
import type { SlotRow } from '../../../src/market/rows.ts'
import { systemPorts } from '../../../src/ports.ts'
import { WatchedSignatures } from '../../../src/transactions/block-sightings.ts'
import { CommittedBlocks } from '../../../src/ingest/committed-blocks.ts'
import { blockFees } from '../../../src/transactions/block-fees.ts'
import { HolderBlocks } from '../../../src/holders/holder-blocks.ts'
import { LedgerBlocks } from '../../../src/revenue/ledger-blocks.ts'
import { PriorityFees } from '../../../src/transactions/priority-fees.ts'
import { CommitFeed } from '../../../src/kernel/feed/commit-feed.ts'
import { buildTransaction } from '../../chain/build-transaction.ts'

const PLAIN = buildTransaction({ signers: ['11111111111111111111111111111112'], calls: [] })
/** Time passes at once. */
const clock = {
  ...systemPorts.clock,
  setTimeout: (run: () => void) => setImmediate(run),
  clearTimeout: () => undefined
}

const blockOf = (slot: number, fork = ''): Block => ({
  slot,
  blockTime: 0,
  parentSlot: slot - 1,
  blockhash: `${slot}${fork}`,
  height: slot,
  transactions: [PLAIN],
  votes: 0
})

const rowOf = (slot: number): SlotRow => ({ slot, blockhash: `${slot}` }) as unknown as SlotRow

/** A process after a restart whose store has the blocks of even slots up to 400. */
function restarted() {
  const feed = new CommitFeed()
  const committedBlocks = new CommittedBlocks(feed)
  const sightings = new WatchedSignatures()
  const fees = new PriorityFees()
  committedBlocks.subscribe(sightings)
  committedBlocks.subscribe(fees)
  const asked: number[] = []
  const recall = recallBlocks({ committedBlocks, clock, logger: pino({ level: 'silent' }) })
  const blocks = {
    between: async (from: number, to: number) =>
      Array.from({ length: to - from + 1 }, (_, i) => from + i)
        .filter((slot) => slot % 2 === 0)
        .map(rowOf)
  }
  const run = async (
    onBlock: (slot: number) => Block | 'skipped' | null = blockOf,
    signal = new AbortController().signal
  ): Promise<void> =>
    recall(
      rowOf(400),
      blocks,
      async (slot) => {
        asked.push(slot)
        const block = onBlock(slot)
        if (block === null || block === 'skipped') return block
        return { block, commitment: 'confirmed', receivedAtMs: 0 }
      },
      signal
    )
  return { feed, committedBlocks, sightings, fees, asked, run, recall, blocks }
}

void t.test('after a restart the stored blocks of the last 150 slots are read, newest first', async (t) => {
  const { run, asked, fees, sightings } = restarted()
  await run()
  t.strictSame(
    asked,
    Array.from({ length: 75 }, (_, i) => 400 - 2 * i)
  )
  t.match(fees.of([]), { samples: 75, slots: [252, 400] })
  t.equal(sightings.lastValidBlockHeight('300'), 450)
  t.equal(sightings.newest, null, 'a recalled block is no new one')
  await run()
  t.equal(asked.length, 75, 'what is known is not read again')
})

void t.test(
  'a process that takes over has the fees, and reads the blocks until its followers need no more',
  async (t) => {
    for (const open of [
      () => {
        const blocks = new HolderBlocks()
        blocks.begin()
        return blocks
      },
      () => {
        const blocks = new LedgerBlocks()
        blocks.watch(new Set(['11111111111111111111111111111112']))
        return blocks
      }
    ]) {
      const { run, asked, fees, committedBlocks } = restarted()
      for (let slot = 1; slot <= 400; slot++) fees.add(blockFees(blockOf(slot)))
      const queue = open()
      committedBlocks.subscribe(queue)
      await run((slot) => {
        if (slot === 392) queue.endRecall()
        return blockOf(slot)
      })
      t.strictSame(asked, [400, 398, 396, 394, 392])
      t.equal(queue.recalledAfter(399), null, 'the queue has dropped them')
    }
  }
)

void t.test('a block that is not the stored one, or is gone, is left out', async (t) => {
  const { run, fees } = restarted()
  await run((slot) =>
    slot === 400
      ? blockOf(slot, ' of another fork')
      : slot === 398
        ? null
        : slot === 396
          ? 'skipped'
          : blockOf(slot)
  )
  t.match(fees.of([]), { samples: 72, slots: [252, 394] })
})

void t.test('a block whose fork is lost while it is read is left out', async (t) => {
  const { run, fees, committedBlocks } = restarted()
  await run((slot) => {
    if (slot === 396) committedBlocks.lost(394)
    return blockOf(slot)
  })
  t.match(fees.of([]), { slots: [252, 394] })
})

void t.test('reading ends with the signal and with a fault, and never rejects', async (t) => {
  const { run, asked, recall, blocks } = restarted()
  const end = new AbortController()
  await run((slot) => {
    if (slot === 390) end.abort()
    return blockOf(slot)
  }, end.signal)
  t.equal(asked.at(-1), 390)
  await t.resolves(
    run(() => {
      throw new Error('of the test')
    })
  )
  await t.resolves(
    recall(null, blocks, async () => null, end.signal),
    'an empty store'
  )
  await t.resolves(recall(rowOf(1), blocks, undefined, end.signal), 'a source without single blocks')
})
