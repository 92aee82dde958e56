import fc from 'fast-check'
import t from 'tap'
import { readPlainCall } from '../../src/rpc/plain-call.ts'
import { parseRequest } from '../../src/rpc/requests.ts'
import { randomRuns } from '../random-runs.ts'

/** A leading space makes the whole of a body be parsed. */
const slowly = (text: string): unknown => {
  const parsed = parseRequest(Buffer.from(` ${text}`), 100)
  return parsed.kind === 'single' ? parsed.element : parsed
}

t.test('calls as clients write them are read without parsing the whole', async (t) => {
  for (const text of [
    '{"jsonrpc":"2.0","id":1,"method":"getSlot"}',
    '{"jsonrpc": "2.0", "id": "a-b", "method": "getBalance", "params": ["x", {"commitment": "confirmed"}]}',
    '{"method":"getBalance","jsonrpc":"2.0","params":[["]"],{}],"id":"0"}'
  ]) {
    const read = readPlainCall(Buffer.from(text))
    t.ok(read)
    t.same(read, slowly(text))
  }
})

t.test('whatever is read so is what parsing gives, over bodies that are nearly calls', async (t) => {
  const value = fc.oneof(
    fc.json({ maxDepth: 2 }),
    fc.constantFrom(
      '1',
      '01',
      '-1',
      '1e3',
      '"a"',
      '"\\u0061"',
      '"2.0"',
      '[]',
      '[1',
      '["]"',
      '{}',
      'null',
      '"\u0001"',
      '"é"',
      ''
    )
  )
  const name = fc.constantFrom('"jsonrpc"', '"id"', '"method"', '"params"', '"i\\u0064"', '"other"', '"id" ')
  const odd = fc.tuple(name, value).map((of) => of.join(':'))
  const params = fc.constantFrom('"params":["a"]', '"params":[{"a":[1,"}"]}]', '"params":[01]', '"params":{}')
  const body = fc
    .tuple(
      fc.array(fc.oneof(params, odd), { maxLength: 1 }),
      fc.constantFrom('"id":7', '"id":"x"', '"id":null'),
      fc.constantFrom(',', ', ', ' ,', ',,'),
      fc.constantFrom('}', '}', '} ', '')
    )
    .chain(([more, id, comma, end]) =>
      fc
        .shuffledSubarray(['"jsonrpc":"2.0"', id, '"method":"getSlot"', ...more], { minLength: 3 })
        .map((members) => `{${members.join(comma)}${end}`)
    )
  let read = 0
  fc.assert(
    fc.property(body, (text) => {
      const plain = readPlainCall(Buffer.from(text))
      if (plain === null) return
      read++
      t.strictSame(plain, slowly(text), text, { diagnostic: false })
    }),
    randomRuns(3_000)
  )
  t.ok(read > 200, `${read} were read`)
})
