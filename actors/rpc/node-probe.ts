import type { NodeError, NodeFault } from '../../src/node/node-fault.ts'
import { COMMITMENTS } from '../../src/rpc/commitment.ts'
import type { MethodCosts } from '../../src/rpc/method-costs.ts'
import { readAnswer, readAnswers } from '../../src/rpc/raw-answer.ts'
import type { ResponseStart } from '../../src/node/answer-body.ts'

/** A node, as far as a probe needs it. */
interface ProbedNode {
  readonly costs: MethodCosts
  readonly link: { error(fault: NodeFault): NodeError }
  takesBatches: boolean
  post(body: string, cost: number, signal: AbortSignal): Promise<ResponseStart>
}

const METHOD = 'getLatestBlockhash'
const PLACES = COMMITMENTS.map(() => ({ slot: 'context' }) as const)
const REQUESTS = COMMITMENTS.map((commitment, id) => ({
  jsonrpc: '2.0',
  id,
  method: METHOD,
  params: [{ commitment }]
}))

/** Returns the cost of a probe in a node's budget. */
export const probeCost = (costs: MethodCosts): number => costs.of(METHOD) * REQUESTS.length

/** Requests the genesis hash. Throws NodeError, or the signal's reason. */
export async function readGenesis(node: ProbedNode, signal: AbortSignal): Promise<string> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'getGenesisHash' })
  const { bytes } = await node.post(body, node.costs.of('getGenesisHash'), signal)
  const answer = readAnswer(bytes, 0, { slot: 'none' })
  if (answer?.kind !== 'result') throw node.link.error({ kind: 'garbage', detail: 'no genesis hash' })
  return String(JSON.parse(answer.bytes.toString('utf8')))
}

/**
 * Requests the slot of the state at each commitment, in the order of COMMITMENTS, from answers whose own context states it.
 * Throws NodeError, or the signal's reason.
 */
export async function readSlots(node: ProbedNode, signal: AbortSignal): Promise<readonly number[]> {
  const { bytes, rest } = await node.post(JSON.stringify(REQUESTS), probeCost(node.costs), signal)
  rest?.abort()
  const answers = readAnswers(bytes, 0, PLACES) ?? (await readSingly(node, signal))
  const slots = answers.flatMap((each) => each?.slot ?? [])
  if (slots.length !== COMMITMENTS.length)
    throw node.link.error({ kind: 'garbage', detail: `no slot in the answer to ${METHOD}` })
  return slots
}

/** Requests the slots of a node that refuses batches. */
async function readSingly(node: ProbedNode, signal: AbortSignal) {
  node.takesBatches = false
  const asked = REQUESTS.map(async (each, at) => {
    const { bytes } = await node.post(JSON.stringify(each), node.costs.of(METHOD), signal)
    return readAnswer(bytes, at, { slot: 'context' })
  })
  return Promise.all(asked)
}
