import fc from 'fast-check'
import t from 'tap'
import { readPlainAnswers } from '../../src/rpc/plain-answers.ts'
import { readAnswers, type RawAnswer } from '../../src/rpc/raw-answer.ts'
import { randomRuns } from '../random-runs.ts'

const METHODS = [{ slot: 'context' }, { slot: 'result' }, { slot: 'absoluteSlot' }, { slot: 'none' }] as const

const answer = (id: unknown, result: string): string =>
  `{"jsonrpc":"2.0","result":${result},"id":${String(id)}}`
const shown = (answers: readonly (RawAnswer | null)[] | null) =>
  answers?.map((each) => each && { ...each, bytes: each.bytes.toString() }) ?? null
const plain = (
  body: string,
  first = 7,
  methods: Parameters<typeof readPlainAnswers>[2] = METHODS.slice(0, 2)
) => shown(readPlainAnswers(Buffer.from(body), first, methods))

t.test('answers as nodes write them are read, in the order of their requests', async (t) => {
  const value = '{"context":{"apiVersion":"4.2.1","slot":5},"value":[1,{"a":"b"}]}'
  t.same(plain(`[${answer(8, '9')},${answer(7, value)}]`), [
    { kind: 'result', bytes: value, code: null, slot: 5, isNull: false },
    { kind: 'result', bytes: '9', code: null, slot: 9, isNull: false }
  ])
  t.match(plain(`[${answer(7, 'null')},${answer(8, '"x"')}]`), [{ isNull: true, slot: null }, { slot: null }])
})

t.test('any other body is left to the scan of its bytes', async (t) => {
  const [good, other] = [answer(7, '1'), answer(8, '2')]
  for (const body of [
    '',
    'x',
    '[]',
    '{}',
    '[null,null]',
    good,
    `[${good}]`,
    `[${good},${good}]`,
    `[${good},${answer(9, '2')}]`,
    `[${good},${answer('"8"', '2')}]`,
    `[${good}, ${other}]`,
    `[${good},${other}] `,
    ` [${good},${other}]`,
    `[${good},${other}`,
    `[${good},{"jsonrpc":"2.0","id":8,"result":2}]`,
    `[${good},{"jsonrpc":"2.0","error":{"code":-32602,"message":"x"},"id":8}]`,
    `[${good},{"jsonrpc":"2.0","result":2,"id":8,"id":8}]`,
    `[${good},${answer(8, '"\\u00e9"')}]`,
    `[${good},${answer(8, '"é"')}]`,
    `[${good},${answer(8, '{"x":{"id":8},"y":1}')}]`,
    `[${answer(7, '[{"x":1,"id":7},{"jsonrpc":"2.0","result":3}]')},${other}]`
  ])
    t.equal(plain(body), null, body)
})

t.test('what it reads is what the scan reads, whatever the results are', async (t) => {
  let read = 0
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom(...METHODS), fc.jsonValue({ maxDepth: 3 })), {
        minLength: 1,
        maxLength: 5
      }),
      fc.nat(1_000),
      fc.boolean(),
      (items, first, hasIds) => {
        const methods = items.map(([method]) => method)
        const texts = items.map(([, value], at) => {
          const result = hasIds && at === 0 ? { id: first, value } : value
          return answer(first + at, JSON.stringify(result))
        })
        const bytes = Buffer.from(`[${texts.toReversed().join(',')}]`)
        const fast = readPlainAnswers(bytes, first, methods)
        if (fast === null) return
        read++
        // A body beyond the plain form, with equal members, is read by the scan.
        const scanned = readAnswers(Buffer.concat([bytes, Buffer.from('\n')]), first, methods)
        t.strictSame(shown(fast), shown(scanned))
      }
    ),
    randomRuns(300)
  )
  t.ok(read > 0, `${read} were read`)
})
