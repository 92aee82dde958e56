import t from 'tap'
import { conformance } from '../../src/cli/conformance.ts'
import {
  chainFacts,
  conformanceCases,
  subscriptionCases,
  type ParsedAnswer
} from '../../src/rpc/conformance-cases.ts'
import { compared, compareEndpoints } from '../../src/rpc/conformance.ts'
import { REJECTED_METHODS, RPC_METHODS } from '../../src/rpc/methods.ts'

const FACTS = {
  slot: 7,
  signature: '1'.repeat(64),
  address: '1'.repeat(32),
  blockhash: '1'.repeat(32),
  mint: '1'.repeat(32),
  tokenAccount: '1'.repeat(32)
}
const answer = (members: object): ParsedAnswer => ({ body: { jsonrpc: '2.0', id: 1, ...members } })
const balance = { method: 'getBalance', params: '[]' }

t.test('every method of the table is asked, with good and bad parameters', async (t) => {
  const asked = new Set(conformanceCases(FACTS).map(({ method }) => method))
  t.same(
    [...RPC_METHODS.map(({ name }) => name), ...REJECTED_METHODS.keys()].filter((name) => !asked.has(name)),
    []
  )
  const subscribed = new Set(subscriptionCases(FACTS).map(({ method }) => method))
  t.equal(subscribed.size, 10, 'five kinds, each with its unsubscribe')
})

t.test('another slot is no difference; another value, code, message or type is one', async (t) => {
  const value = (slot: number, value: unknown) => answer({ result: { context: { slot }, value } })
  t.equal(compared(balance, value(1, 5), value(2, 5)).kind, 'equal')
  t.equal(compared(balance, value(1, 5), value(1, 6)).kind, 'different')
  const error = (code: number, message: string, data?: unknown) => answer({ error: { code, message, data } })
  t.equal(compared(balance, error(-1, 'a'), error(-1, 'a')).kind, 'equal')
  t.equal(compared(balance, error(-1, 'a'), error(-2, 'a')).kind, 'different')
  t.equal(compared(balance, error(-1, 'a'), error(-1, 'b')).kind, 'different')
  t.equal(compared(balance, error(-1, 'a', { x: 1 }), error(-1, 'a')).kind, 'different')
  t.equal(compared(balance, error(-1, 'a', { field: 'x' }), error(-1, 'a')).kind, 'equal')
  t.equal(compared(balance, error(-1, 'a'), error(-1, 'a', { field: 'x' })).kind, 'different')
  const slot = { ...balance, method: 'getSlot' }
  t.equal(compared(slot, answer({ result: 1 }), answer({ result: 2 })).kind, 'equal')
  t.equal(compared(slot, answer({ result: 1 }), answer({ result: '2' })).kind, 'different')
})

t.test('what differs by design must differ as it is designed', async (t) => {
  const kinds = (method: string, ...answers: object[]): string[] =>
    answers.map((each) => compared({ method, params: '[]' }, answer(each), answer({ result: 1 })).kind)
  const genesis = { result: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d' }
  t.same(kinds('getGenesisHash', genesis, { result: 'x' }), ['by design', 'different'])
  const rejection = { error: { code: -32601, message: 'use the Data API', data: { see: '/docs' } } }
  t.same(kinds('getSupply', rejection, { result: 1 }), ['by design', 'different'])
  t.same(kinds('getInflationRate', rejection, { error: { code: -32601 } }), ['by design', 'different'])
})

t.test('a difference is looked at three times, then told and counted', async (t) => {
  let asked = 0
  const told: string[] = []
  const rows = await compareEndpoints(
    [balance, { method: 'getVersion', params: '[]' }],
    async () => answer({ result: ++asked }),
    async (body) => answer({ result: body.includes('getBalance') ? 3 : 0 }),
    ({ method }, ours, theirs) => told.push(`${method} ${ours} ${theirs}`)
  )
  t.same(rows, [
    { method: 'getBalance', asked: 1, equal: 1, by_design: 0, different: 0 },
    { method: 'getVersion', asked: 1, equal: 0, by_design: 0, different: 1 }
  ])
  t.equal(asked, 6)
  t.match(told, [/getVersion .*"result":6.*"result":0/])
})

t.test('facts need an endpoint that answers, and the command two URLs', async (t) => {
  await t.rejects(
    chainFacts(async () => answer({})),
    { message: 'getSlot gave no result' }
  )
  const context = { stdout: () => undefined, stderr: () => undefined }
  await t.rejects(conformance({ ...context, options: {} }), { message: '--against needs a URL' })
  await t.rejects(conformance({ ...context, options: { against: 'http://127.0.0.1', node: 'x' } }), /--node/)
  await t.rejects(
    conformance({ ...context, options: { against: 'http://127.0.0.1', node: 'ws://127.0.0.1' } }),
    { message: /--node is a socket/ }
  )
})
