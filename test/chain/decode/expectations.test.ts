import t from 'tap'
import { testWithFixtures } from '../../fixtures.ts'
import { decodedRecords } from './decoded-record.ts'
import { expectationsOf, SOURCES } from './expectations.ts'
import { REVIEWED } from './reviewed-expectations.ts'

const nameOf = (signature: string, says: string): string => `${signature}: ${says}`

testWithFixtures(
  t,
  'every expected value of the catalogue is decoded, or stands in the reviewed list',
  (t) => {
    const reviewed = new Set(
      REVIEWED.flatMap(({ signature, says }) => says.map((each) => nameOf(signature, each)))
    )
    const sources = new Set<string>()
    let transactions = 0
    let agreed = 0
    for (const record of decodedRecords()) {
      const stated = expectationsOf(record.entry)
      if (stated.length > 0) transactions++
      for (const { source, expectations } of stated) {
        sources.add(source)
        t.ok(expectations.length > 0, `${source} states something of ${record.entry.signature}`)
        for (const expectation of expectations) {
          const name = nameOf(record.entry.signature, expectation.says)
          const found = expectation.disagreement(record)
          if (reviewed.has(name))
            t.ok(found !== null, `the reviewed list holds no more than it must: ${name}`)
          else if (found === null) agreed++
          else t.fail(`${name}: found ${found}`)
        }
      }
    }
    t.strictSame([...sources].sort(), [...SOURCES].sort(), 'each source is read')
    t.strictSame({ transactions, agreed }, { transactions: 75, agreed: 292 })
  }
)

testWithFixtures(t, 'the reviewed list names expectations that there are', (t) => {
  const stated = new Set(
    decodedRecords().flatMap((record) =>
      expectationsOf(record.entry).flatMap(({ expectations }) =>
        expectations.map(({ says }) => nameOf(record.entry.signature, says))
      )
    )
  )
  for (const { signature, says, reason } of REVIEWED) {
    t.ok(reason.length > 20)
    for (const each of says) t.ok(stated.has(nameOf(signature, each)), nameOf(signature, each))
  }
})
