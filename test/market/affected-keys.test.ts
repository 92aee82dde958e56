import fc from 'fast-check'
import t from 'tap'
import { affectedKeysOf } from '../../src/market/affected-keys.ts'
import { LATEST, RECORDS } from '../../src/market/records.ts'
import type { LatestRecord } from '../../src/market/records.ts'
import { randomRuns } from '../random-runs.ts'
import { anyChain, OPTIONS } from './world.ts'

t.test('blocks affect what each of their events does, though trades of one pool are asked once', (t) => {
  let repeated = 0
  fc.assert(
    fc.property(anyChain, (blocks) => {
      const affected = affectedKeysOf(blocks, OPTIONS.cash)
      const events = blocks.flatMap(({ entries }) => entries.map(({ event }) => event))
      for (const name of LATEST) {
        const { affectedBy, textOf } = RECORDS[name] as LatestRecord<unknown, unknown>
        const texts = events.flatMap((event) => affectedBy(event, OPTIONS.cash).map(textOf))
        const each = new Set(texts)
        repeated += texts.length - each.size
        t.strictSame([...affected[name].keys()], [...each])
      }
    }),
    randomRuns(50, 24)
  )
  t.ok(repeated > 0, 'events repeat addresses')
  t.end()
})
