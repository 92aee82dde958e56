import t from 'tap'
import { NodeError, RPC_CODE } from '../../src/node/node-fault.ts'
import { ChainStatuses } from '../../src/transactions/chain-statuses.ts'
import { virtualClock } from '../virtual-time.ts'
import type { SignatureStatus, TransactionNode } from '../../src/transactions/ports.ts'

const LANDED: SignatureStatus = { slot: 7, confirmations: 3, err: null, commitment: 'confirmed' }

/** A node that knows one signature; without history it has it in its cache alone. */
function makeNode(hasHistory: boolean): { node: TransactionNode; asked: [number, boolean][] } {
  const asked: [number, boolean][] = []
  const statuses: TransactionNode['statuses'] = async (signatures, { history }) => {
    asked.push([signatures.length, history])
    const { transactionHistoryNotAvailable: code } = RPC_CODE
    if (history && !hasHistory) throw new NodeError('node', { kind: 'rpc', code, message: 'no history' })
    return { contextSlot: 9, statuses: signatures.map((each) => (each === 'landed' ? LANDED : null)) }
  }
  return { node: { statuses } as TransactionNode, asked }
}

const clock = virtualClock()

t.test('questions of one turn are one request, and an equal one is asked once', async (t) => {
  const { node, asked } = makeNode(true)
  const statuses = new ChainStatuses({ node }, clock)
  const answers = await Promise.all(['landed', 'other', 'landed'].map((each) => statuses.status(each)))
  t.strictSame(answers, [LANDED, null, LANDED])
  t.strictSame(asked, [[2, true]])
})

t.test('a node without history tells of recent signatures, and of no other that it is unknown', async (t) => {
  const { node, asked } = makeNode(false)
  const statuses = new ChainStatuses({ node }, clock)
  const other = statuses.status('other')
  const rejected = t.rejects(other, { message: /no history/ })
  t.strictSame(await statuses.status('landed'), LANDED)
  await rejected
  t.strictSame(asked, [
    [2, true],
    [2, false]
  ])
})
