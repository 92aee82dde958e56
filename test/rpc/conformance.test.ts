import t from 'tap'
import { conformance } from '../../src/cli/conformance.ts'
import { chainFacts, compared, conformanceCases, type ParsedAnswer } from '../../src/rpc/conformance.ts'
import { REJECTED_METHODS, RPC_METHODS } from '../../src/rpc/methods.ts'

const FACTS = { slot: 7, signature: null, address: '1', blockhash: '1' }
const answer = (members: object): ParsedAnswer => ({
  status: 200,
  body: { jsonrpc: '2.0', id: 1, ...members }
})
const balance = { method: 'getBalance', params: '[]' }

t.test('every method of the table is asked, with good and bad parameters', async (t) => {
  const asked = new Set(conformanceCases(FACTS).map(({ method }) => method))
  t.same(
    [...RPC_METHODS.map(({ name }) => name), ...REJECTED_METHODS.keys()].filter((name) => !asked.has(name)),
    []
  )
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
  t.equal(
    compared({ ...balance, method: 'getSlot' }, answer({ result: 1 }), answer({ result: 2 })).kind,
    'equal'
  )
  t.equal(
    compared({ ...balance, method: 'getSlot' }, answer({ result: 1 }), answer({ result: '2' })).kind,
    'different'
  )
  t.equal(
    compared({ ...balance, method: 'getGenesisHash' }, answer({ result: 1 }), answer({ result: 2 })).kind,
    'by design'
  )
})

t.test('facts need an endpoint that answers, and the command two URLs', async (t) => {
  await t.rejects(
    chainFacts(async () => answer({})),
    { message: 'getSlot gave no result' }
  )
  const context = { stdout: () => undefined, stderr: () => undefined }
  await t.rejects(conformance({ ...context, options: {} }), { message: '--against needs a URL' })
  await t.rejects(conformance({ ...context, options: { against: 'http://127.0.0.1', node: 'x' } }), /--node/)
})
