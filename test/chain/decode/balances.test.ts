import t from 'tap'
import { testWithFixtures } from '../../fixtures.ts'
import { decodedRecords } from './decoded-record.ts'
import { REVIEWED_REMAINDERS, REVIEWED_TRADERS } from './reviewed-balances.ts'
import { traderChanges } from './trader-flows.ts'
import { vaultChanges } from './vault-flows.ts'

testWithFixtures(
  t,
  'the events of each recorded transaction sum up to what its vaults gained and lost',
  (t) => {
    const reviewed = new Map(REVIEWED_REMAINDERS.map((each) => [`${each.signature} ${each.account}`, each]))
    let agreed = 0
    let withoutBalances = 0
    for (const { entry, raw, events, trades } of decodedRecords()) {
      if (!raw.hasBalances) {
        withoutBalances++
        continue
      }
      const changes = vaultChanges(events, raw)
      t.ok(changes.length >= Math.min(trades.length, 1), `trades of ${entry.signature} touch vaults`)
      for (const { account, decoded, recorded } of changes) {
        const exception = reviewed.get(`${entry.signature} ${account}`)
        if (exception !== undefined) {
          t.equal(recorded - decoded, exception.remainder, `${entry.signature}: ${exception.reason}`)
          reviewed.delete(`${entry.signature} ${account}`)
        } else if (recorded === decoded) agreed++
        else t.fail(`${entry.signature}: ${account} changed by ${recorded}, the events say ${decoded}`)
      }
    }
    t.strictSame([...reviewed.keys()], [], 'the reviewed list holds no more than it must')
    t.strictSame({ agreed, withoutBalances }, { agreed: 547, withoutBalances: 3 })
  }
)

testWithFixtures(t, "the traders' own accounts gained and lost what their trades say", (t) => {
  const counts = { equal: 0, 'equal-with-others': 0, 'other-accounts': 0, different: 0 }
  const different: string[] = []
  let withoutHeights = 0
  for (const { entry, raw, events } of decodedRecords()) {
    if (!raw.hasBalances) continue
    const changes = traderChanges(events, raw)
    if (changes === null) withoutHeights++
    for (const { agreement } of changes ?? []) {
      counts[agreement]++
      if (agreement === 'different') different.push(entry.signature)
    }
  }
  t.strictSame(different.sort(), REVIEWED_TRADERS.map(({ signature }) => signature).sort())
  t.strictSame(counts, { equal: 136, 'equal-with-others': 34, 'other-accounts': 44, different: 3 })
  t.equal(withoutHeights, 3)
})
