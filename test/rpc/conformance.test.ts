import t from 'tap'
import { conformance } from '../../src/rpc/commands/conformance.ts'
import {
  chainFacts,
  conformanceCases,
  subscriptionCases,
  type Ask,
  type ParsedAnswer
} from '../../src/rpc/conformance-cases.ts'
import { compared, compareEndpoints } from '../../src/rpc/conformance.ts'
import { patientAsk } from '../../src/rpc/patient-ask.ts'
import { REJECTED_METHODS, RPC_METHODS } from '../../src/rpc/methods.ts'
import { settle, virtualClock } from '../virtual-time.ts'

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
  t.equal(subscribed.size, 12, 'six kinds, each with its unsubscribe')
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
  const progress: number[][] = []
  let looks = 0
  const rows = await compareEndpoints(
    [balance, { method: 'getVersion', params: '[]' }],
    async () => answer({ result: ++asked }),
    async (body) => answer({ result: body.includes('getBalance') ? 3 : 0 }),
    {
      differs: ({ method }, ours, theirs) => told.push(`${method} ${ours} ${theirs}`),
      asked: (cases, differences) => progress.push([cases, differences]),
      beforeLook: async () => void looks++
    }
  )
  t.same(rows, [
    { method: 'getBalance', asked: 1, equal: 1, by_design: 0, different: 0 },
    { method: 'getVersion', asked: 1, equal: 0, by_design: 0, different: 1 }
  ])
  t.equal(asked, 6)
  t.equal(looks, 4, 'a pause before each of the further looks')
  t.match(told, [/getVersion .*"result":6.*"result":0/])
  t.same(progress, [
    [1, 0],
    [2, 1]
  ])
})

t.test('a lost answer is a difference, and three cases without one end the comparison', async (t) => {
  const cases = ['a', 'b', 'c', 'd', 'e', 'f'].map((method) => ({ method, params: '[]' }))
  const told: string[] = []
  const listener = {
    differs: ({ method }: { readonly method: string }, ours: string) => told.push(`${method} ${ours}`),
    asked: () => undefined,
    beforeLook: async () => undefined
  }
  const lost = new Set(['a', 'c', 'd', 'e'])
  const ask: Ask = async (body) => {
    if (lost.has((JSON.parse(body) as { method: string }).method)) throw new Error('gone')
    return answer({ result: 1 })
  }
  await t.rejects(compareEndpoints(cases, ask, null, listener), {
    message: '3 requests in a row without an answer; stopped after 5'
  })
  t.same(told, ['a no answer (gone)', 'c no answer (gone)', 'd no answer (gone)', 'e no answer (gone)'])
})

t.test(
  'a request beyond the rate is asked again when the endpoint allows it, five times at most',
  async (t) => {
    const clock = virtualClock()
    const end = new AbortController()
    const waits: number[] = []
    let [refusals, retryAfterS] = [2, 35]
    const ask = patientAsk(
      async () => (refusals-- > 0 ? { body: 'refused', retryAfterS } : answer({ result: 1 })),
      clock,
      end.signal,
      (seconds) => waits.push(seconds)
    )
    const asked = ask('')
    for (let wait = 0; wait < 2; wait++) {
      await settle()
      clock.increment(34_999)
      t.equal(waits.length, wait + 1, 'not a moment earlier')
      clock.increment(1)
    }
    t.match(await asked, answer({ result: 1 }))
    t.same(waits, [35, 35])

    ;[refusals, retryAfterS] = [100, 3_600]
    const refused = ask('')
    for (let wait = 0; wait < 4; wait++) {
      await settle()
      clock.increment(60_000)
    }
    t.match(await refused, { body: 'refused' })
    t.same(waits.slice(2), [60, 60, 60, 60], 'no wait is longer than a minute')

    const ended = ask('')
    await settle()
    end.abort(new Error('interrupted'))
    await t.rejects(ended, { message: 'interrupted' })
  }
)

t.test('facts need an endpoint that answers, and the command two URLs', async (t) => {
  await t.rejects(
    chainFacts(async () => answer({})),
    { message: 'getSlot gave no result: no error' }
  )
  const context = {
    stdout: () => undefined,
    stderr: () => undefined,
    interrupted: new AbortController().signal
  }
  await t.rejects(conformance({ ...context, options: {} }), { message: '--against needs a URL' })
  await t.rejects(conformance({ ...context, options: { against: 'http://127.0.0.1', node: 'x' } }), /--node/)
  await t.rejects(
    conformance({ ...context, options: { against: 'http://127.0.0.1', node: 'ws://127.0.0.1' } }),
    { message: /--node is a socket/ }
  )
})
