import * as fc from 'fast-check'
import t from 'tap'
import { borneOutSlot } from '../../src/rpc/borne-out-slot.ts'
import { randomRuns } from '../random-runs.ts'

const TABLE: [slots: number[], indexed: number | null, expected: number, why: string][] = [
  [[], null, 0, 'nothing is known'],
  [[7], null, 7, 'one node'],
  [[7, 9], null, 7, 'the lower of two'],
  [[9, 7], 9, 9, 'the higher of two, which a block bears out'],
  [[9, 7], 5, 7, 'an older block says nothing'],
  [[100_007, 7, 8], null, 8, 'two of three'],
  [[100_007, 7, 8, 100_009], null, 8, 'two of four are no majority'],
  [[100_007, 7, 8, 6, 100_009], null, 8, 'two of five']
]

t.test('the slot that a majority of nodes or a block bears out', async (t) => {
  for (const [slots, indexed, expected, why] of TABLE) t.equal(borneOutSlot(slots, indexed), expected, why)
})

t.test(
  'a minority of nodes cannot raise or lower the slot beyond the others, whatever it claims',
  async (t) => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 1e9 }), { minLength: 1, maxLength: 9 }),
        fc.array(fc.integer({ min: 0, max: 1e9 }), { maxLength: 9 }),
        (honest, lies) => {
          const minority = lies.slice(0, Math.max(0, honest.length - 1))
          const slot = borneOutSlot([...minority, ...honest], null)
          return slot <= Math.max(...honest)
        }
      ),
      randomRuns(100)
    )
    t.equal(borneOutSlot([1_000_000, 5, 6], null), 6)
  }
)
