import t from 'tap'
import { UndoHistory, UNDO_SLOTS, UNDO_WEIGHT_MAX } from '../../../actors/ingest/undo-history.ts'
import type { SourcedBlock } from '../../../src/node/block-source.ts'
import type { Block } from '../../../src/chain/transaction.ts'
import { lostForkOf } from '../../../src/ingest/coverage.ts'
import type { KeptBlock } from '../../../src/market/kept-block.ts'
import type { SlotRow } from '../../../src/market/rows.ts'
import { openEmbeddedStorage } from '../../../storage/embedded/store.ts'
import { UNDO_POLICY, openedOn, sourced } from './put-back-chain.ts'

const empty = (slot: number, fork: string): Block => ({
  slot,
  parentSlot: slot - 1,
  blockTime: 1_790_000_000 + Math.floor(slot / 2),
  blockhash: `${slot}${fork}`,
  parentBlockhash: `${slot - 1}${fork}`,
  transactions: [],
  votes: 1
})

t.test(
  'a quiet chain that was put back by more than the least that is kept is taken back whole',
  async (t) => {
    const length = UNDO_SLOTS + 200
    const directory = t.testdir()
    let { storage, ingester } = await openedOn(await openEmbeddedStorage({ directory }))
    const ingestTo = async (first: number, last: number): Promise<void> => {
      for (let slot = first; slot <= last; slot++) await ingester.ingest(sourced(empty(slot, ' lost')))
    }
    await ingestTo(10, length)
    await storage.close()
    ;({ storage, ingester } = await openedOn(await openEmbeddedStorage({ directory })))
    await ingestTo(length + 1, 10 + length)
    async function* blocks(): AsyncGenerator<SourcedBlock> {
      for (let slot = 11; slot <= 10 + length; slot++) yield sourced(empty(slot, ''))
    }
    const rollback = { after: 10, doubt: null, blocks: blocks() }
    await ingester.ingest({ ...sourced(empty(11 + length, '')), rollback })
    const rows = await storage.blocks.between(0, 20 + length)
    t.strictSame(
      rows.map(({ blockhash }) => blockhash),
      ['10 lost', ...Array.from({ length: length + 1 }, (_, i) => `${11 + i}`)]
    )
    t.equal(await lostForkOf(storage.coverage), null)
    t.strictSame(await storage.coverage.gaps({ after: null, limit: 10 }), [])
    await storage.close()
  }
)

/** Returns an undo history whose blocks have `events` events each and are in memory. */
async function runOf(blocks: number, events: number) {
  const kept: KeptBlock[] = []
  const rows: SlotRow[] = []
  const storage = {
    history: {
      after: async (slot: number | null, limit: number) => {
        const first = slot === null ? 0 : kept.findIndex(({ block }) => block.slot > slot)
        return first < 0 ? [] : kept.slice(first, first + limit)
      },
      forget: async (until: number) => {
        kept.splice(0, kept.filter(({ block }) => block.slot <= until).length)
      },
      amend: async () => undefined,
      amendments: async () => 0
    },
    coverage: { gaps: async () => [] } as never,
    blocks: {
      between: async (first: number, last: number) =>
        rows.slice(Math.max(0, first), Math.min(rows.length, last + 1))
    }
  }
  const undoHistory = await UndoHistory.open(storage, null, UNDO_POLICY, { warn: () => undefined })
  for (let slot = 0; slot < blocks; slot++) {
    const row = { slot, events } as SlotRow
    const block = { block: { slot }, before: { head: rows.at(-1) ?? null } } as KeptBlock
    rows.push(row)
    kept.push(block)
    await undoHistory.committed(row, block)
  }
  return { undoHistory, kept }
}

t.test('blocks of a run that weighs too much are forgotten, the oldest first', async (t) => {
  const events = 39
  const most = UNDO_WEIGHT_MAX / (events + 1)
  const { undoHistory, kept } = await runOf(2 * most, events)
  t.ok(kept.length <= most, `${kept.length} blocks`)
  t.ok(kept.length > 0.95 * most, `${kept.length} blocks of ${most}`)
  t.ok(undoHistory.reaches(2 * most - kept.length))
  t.notOk(undoHistory.reaches(2 * most - kept.length - 1))
})

t.test('blocks of the last slots stay however much they weigh', async (t) => {
  const { kept } = await runOf(2 * UNDO_SLOTS, 1_000)
  t.ok(kept.length >= UNDO_SLOTS && kept.length < UNDO_SLOTS + 60, `${kept.length} blocks`)
})
