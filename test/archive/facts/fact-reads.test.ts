import t from 'tap'
import type { ArchivedRow } from '../../../src/archive/facts/archived-row.ts'
import { FactWriter } from '../../../src/archive/facts/fact-writer.ts'
import { newState, StoredState } from '../../../src/archive/facts/import-state.ts'
import { MintDecimals } from '../../../src/archive/facts/mint-decimals.ts'
import type { FactList } from '../../../storage/port.ts'
import { rowOf, signature } from './any-facts.ts'
import { MemoryFacts } from './memory-facts.ts'

class CountedFacts extends MemoryFacts {
  /** Reads of the rows of one slot. */
  reads = 0

  override async at(list: FactList, position: number) {
    if (list === 'row') this.reads++
    return super.at(list, position)
  }
}

/** Returns a row in each slot of a range, both ends included. */
const rows = (from: number, to: number): ArchivedRow[] =>
  Array.from({ length: to - from + 1 }, (_, at) => rowOf({ slot: from + at, signature: signature(at) }))

t.test('rows of slots that no file had are stored without a read of each slot', async (t) => {
  const facts = new CountedFacts()
  const state = await StoredState.begin(facts, newState(true))
  const imported = async (added: readonly ArchivedRow[]): Promise<number> => {
    const writer = new FactWriter(facts, state, new MintDecimals(facts), null)
    for (const row of added) writer.addRow(row)
    facts.reads = 0
    await writer.flush()
    return facts.reads
  }
  t.equal(await imported(rows(500, 599)), 0, 'the first file')
  t.equal(await imported(rows(600, 699)), 0, 'a later one')
  t.equal(await imported(rows(100, 199)), 0, 'an earlier one')
  t.equal(facts.count('row'), 300)
  t.equal(await imported(rows(480, 509)), 10, 'one that overlaps by ten slots')
  t.equal(facts.count('row'), 320 + 10, 'the overlapping rows have other signatures')
  t.equal(await imported(rows(480, 509)), 30)
  t.equal(facts.count('row'), 330, 'a repeated one adds nothing')
})
