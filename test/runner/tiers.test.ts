import t from 'tap'
import { readSources } from '../house/sources.ts'
import {
  FULL,
  isHeavy,
  isOfFullTier,
  isOnlyLong,
  isQuick,
  NOT_QUICK,
  reaches,
  testFiles,
  unitsOf
} from './tiers.ts'

t.test('one heavy file runs at a time, and none of them is left', async (t) => {
  const { starting, waiting } = testFiles()
  const heavy = starting.filter(isHeavy)
  t.equal(heavy.length, 9)
  const sources = new Map(readSources(['test']).map((source) => [source.path, source]))
  for (const path of [...starting, ...waiting])
    if (reaches(sources, path, /real-validator/)) t.ok(isHeavy(path), `${path} starts a validator`)
})

t.test('every test file is in one list, and those of the quick tier reach no server', async (t) => {
  const { starting, waiting, computing } = testFiles()
  const sources = new Map(readSources(['test']).map((source) => [source.path, source]))
  const all = [...sources.keys()].filter((path) => path.endsWith('.test.ts'))
  t.same([...starting, ...waiting, ...computing].toSorted(), all.toSorted())
  t.same(unitsOf(computing).flat().toSorted(), [...computing].sort(), 'and in one unit')
  t.ok(computing.includes('test/storage/embedded-conformance.test.ts'))
  t.ok(waiting.includes('test/storage/scylla-conformance.test.ts'))
  t.ok(starting.includes('test/service/real-node.test.ts'))
  for (const path of computing)
    if (reaches(sources, path, /servers\/|playwright|schemathesis/)) t.fail(`${path} reaches a server`)
})

t.test(
  'the full tier names files that are there, and leaves each product a service, one CQL server and one validator',
  async (t) => {
    const { starting, waiting, computing } = testFiles()
    const all = [...starting, ...waiting, ...computing]
    for (const pattern of FULL)
      t.ok(
        all.some((path) => pattern.test(path)),
        `${pattern.source} names a file`
      )
    const rest = all.filter((path) => !isOfFullTier(path))
    for (const product of ['stream', 'webhooks', 'transactions', 'revenue', 'archive', 'web3-localnet'])
      t.ok(rest.includes(`test/service/${product}.test.ts`), product)
    for (const path of [
      'service/kill-process',
      'service/real-node',
      'storage/scylla-conformance',
      'browser/page'
    ])
      t.ok(rest.includes(`test/${path}.test.ts`), path)
    t.equal(rest.filter(isHeavy).length, 1, 'one heavy file')
    t.equal(all.filter((path) => isOnlyLong(path) && isOfFullTier(path)).length, 1)
    for (const path of computing) t.notOk(isOfFullTier(path), `${path} is of \`npm test\``)
  }
)

t.test('of each subject that the quick tier leaves out, it has another file', async (t) => {
  const { computing } = testFiles()
  for (const { files, quick } of NOT_QUICK) {
    t.ok(
      computing.some((path) => files.test(path)),
      `${files.source} names a file`
    )
    t.ok(computing.includes(quick) && isQuick(quick), `${quick} is of the quick tier`)
  }
  t.ok(computing.filter(isQuick).length > 0.9 * computing.length, 'nearly all files are quick')
})
