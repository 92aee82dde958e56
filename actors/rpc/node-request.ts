import { NodeError, RPC_CODE } from '../../src/node/node-fault.ts'
import type { Clock } from '../../src/ports.ts'
import { verdictOf, type Verdict } from '../../src/rpc/failover.ts'
import { longValue } from '../../src/rpc/long-answer.ts'
import {
  CHECKED_BYTES_MAX,
  readAnswer,
  readAnswers,
  readLongHead,
  readRefusal,
  scanAnswers,
  type RawAnswer
} from '../../src/rpc/raw-answer.ts'
import { ANSWER_BYTES_MAX } from '../../src/rpc/rpc-error.ts'
import { AnswerTooLarge, type UpstreamAnswer, type UpstreamCall } from '../../src/rpc/upstreams.ts'
import type { RunPiece } from '../../src/kernel/work/turns.ts'
import type { ResponseStart } from './answer-body.ts'
import { isDropped } from './node-link.ts'
import type { UpstreamNode } from './upstream-node.ts'

/** An answer of one node, and how to use it. */
export interface NodeOutcome {
  readonly answer: UpstreamAnswer
  readonly verdict: Verdict
}

/** Sends a call to a node. Throws NodeError, AnswerTooLarge, or the signal's reason. */
export async function askNode(
  node: UpstreamNode,
  call: UpstreamCall,
  newest: number | null,
  clock: Clock,
  signal: AbortSignal
): Promise<NodeOutcome> {
  const id = node.takeIds(1)
  const startedMs = clock.now()
  const start = await post(
    node,
    callText(call, id),
    node.costs.of(call.method.name),
    call.method.isIdempotent,
    signal
  )
  node.tookMs(clock.now() - startedMs)
  if (start.rest !== null) return longOutcome(node, call, id, start, newest, signal)
  const raw = readAnswer(start.bytes, id, call.method)
  if (raw === null) throw garbage(node, start)
  return outcomeOf(node, call, raw, newest, signal)
}

/** Limits and scheduling for reading the answer to a batch. */
interface BatchReading {
  /** Reserves bytes of memory, or releases them if the number is negative. Returns false if they exceed the limit. */
  readonly bytesLeft: (bytes: number) => boolean
  /** Runs each piece of a long answer. */
  readonly runPiece: RunPiece
}

/**
 * Sends reads to a node in one batch. Each gives an outcome, or null if its answer is missing; all are null if the node
 * refuses the batch. Throws NodeError, AnswerTooLarge, or the signal's reason.
 */
export async function askNodeAll(
  node: UpstreamNode,
  calls: readonly UpstreamCall[],
  newest: number | null,
  { bytesLeft, runPiece }: BatchReading,
  signal: AbortSignal
): Promise<readonly (NodeOutcome | null)[]> {
  const first = node.takeIds(calls.length)
  const text = `[${calls.map((call, at) => callText(call, first + at)).join(',')}]`
  const start = await post(node, text, node.costs.ofAll(calls), true, signal)
  const methods = calls.map(({ method }) => method)
  const bytes = start.rest === null ? start.bytes : await wholeBody(node, start, { bytesLeft, runPiece })
  const answers =
    bytes.length <= CHECKED_BYTES_MAX
      ? readAnswers(bytes, first, methods)
      : await inPieces(scanAnswers(bytes, first, methods), runPiece)
  if (answers === null) {
    const refusal = readRefusal(bytes)
    if (refusal === null) throw garbage(node, { status: start.status, bytes })
    // A request that cannot be parsed is the client's fault; any other refusal concerns batches.
    if (refusal.code !== RPC_CODE.parseError) node.takesBatches = false
    return calls.map(() => null)
  }
  // Usually no slot is in doubt, and no answer waits.
  if (answers.every((raw) => raw === null || raw.slot === null || node.canHaveReached(raw.slot)))
    return answers.map((raw, at) => raw && outcomeNow(node, calls[at]!, raw, newest))
  const outcomes = answers.map(async (raw, at) =>
    raw === null
      ? null
      : outcomeOf(node, calls[at]!, raw, newest, signal).catch((error: unknown) => {
          if (error instanceof NodeError) return null
          throw error
        })
  )
  return Promise.all(outcomes)
}

async function outcomeOf(
  node: UpstreamNode,
  call: UpstreamCall,
  raw: RawAnswer,
  newest: number | null,
  signal: AbortSignal
): Promise<NodeOutcome> {
  await checkSlot(node, raw.slot, signal)
  return outcomeNow(node, call, raw, newest)
}

/** The outcome of an answer whose slot is possible for the node. */
function outcomeNow(
  node: UpstreamNode,
  call: UpstreamCall,
  raw: RawAnswer,
  newest: number | null
): NodeOutcome {
  const { kind, bytes, code, slot } = raw
  noteSlot(node, call, slot)
  const answer = { kind, bytes, rest: null, code, slot, node: node.name }
  return { answer, verdict: verdictOf(call, raw, newest) }
}

async function longOutcome(
  node: UpstreamNode,
  call: UpstreamCall,
  id: number,
  { bytes, rest, status }: ResponseStart,
  newest: number | null,
  signal: AbortSignal
): Promise<NodeOutcome> {
  const head = status < 300 ? readLongHead(bytes, id, call.method) : null
  if (rest === null || head === null) {
    rest?.abort()
    throw garbage(node, { status, bytes })
  }
  if ((rest.lengthTotal ?? 0) > ANSWER_BYTES_MAX) {
    rest.abort()
    throw new AnswerTooLarge()
  }
  try {
    await checkSlot(node, head.slot, signal)
    noteSlot(node, call, head.slot)
  } catch (error) {
    rest.abort()
    throw error
  }
  const value = longValue(bytes, rest.chunks(), id, head)
  const answer: UpstreamAnswer = {
    kind: 'result',
    bytes: Buffer.alloc(0),
    rest: value,
    code: null,
    slot: head.slot,
    node: node.name
  }
  const verdict = verdictOf(call, { kind: 'result', code: null, slot: head.slot, isNull: false }, newest)
  if (verdict !== 'deliver') rest.abort()
  return { answer, verdict }
}

/** Throws NodeError for a slot that the node has not reached. If that is uncertain, the node's slots are requested again. */
async function checkSlot(node: UpstreamNode, slot: number | null, signal: AbortSignal): Promise<void> {
  if (slot === null) return
  if (!node.canHaveReached(slot)) await node.probe(signal)
  if (node.canHaveReached(slot)) return
  node.falseSlots++
  throw node.link.error({ kind: 'garbage', detail: `slot ${slot}, far above its own` })
}

function noteSlot(node: UpstreamNode, call: UpstreamCall, slot: number | null): void {
  if (slot !== null && call.method.slot === 'context') node.sawSlot(call.commitment, slot)
}

/** Posts a body. A read is sent again if the node closed its persistent connection meanwhile. */
async function post(
  node: UpstreamNode,
  body: string,
  cost: number,
  isRead: boolean,
  signal: AbortSignal
): Promise<ResponseStart> {
  try {
    return await node.post(body, cost, signal, isRead)
  } catch (error) {
    if (!isRead || !(error instanceof NodeError) || !isDropped(error)) throw error
    return node.post(body, cost, signal)
  }
}

/** Reads the rest of an answer. Throws NodeError where the node breaks off, and AnswerTooLarge. */
async function wholeBody(
  node: UpstreamNode,
  { bytes, rest }: ResponseStart,
  { bytesLeft, runPiece }: BatchReading
): Promise<Buffer> {
  if (rest === null) return bytes
  const chunks = [bytes]
  let size = bytes.length
  const held = node.link.memory.open((error) => rest.abort(error))
  try {
    for await (const chunk of rest.chunks()) {
      if (size + chunk.length > ANSWER_BYTES_MAX || !bytesLeft(chunk.length)) throw new AnswerTooLarge()
      chunks.push(chunk)
      size += chunk.length
      held.add(chunk.length)
    }
    return await inPieces(joined(chunks, size), runPiece)
  } catch (error) {
    if (error instanceof AnswerTooLarge) throw error
    const fault = node.link.faultOf(error as Error)
    throw fault.fault.kind === 'too-large' ? new AnswerTooLarge() : fault
  } finally {
    held.close()
    bytesLeft(bytes.length - size)
  }
}

/** Bytes that are copied in one piece: 0.3 ms. */
const COPIED_BYTES = 2 ** 20

/** Joins chunks, and yields after each COPIED_BYTES. */
function* joined(chunks: readonly Buffer[], size: number): Generator<void, Buffer, void> {
  const whole = Buffer.allocUnsafeSlow(size)
  let at = 0
  let yieldAt = COPIED_BYTES
  for (const chunk of chunks) {
    if (at >= yieldAt) {
      yield
      yieldAt = at + COPIED_BYTES
    }
    at += chunk.copy(whole, at)
  }
  return whole
}

/** Runs work up to each of its yields as a piece of its own. */
async function inPieces<T>(work: Generator<void, T, void>, runPiece: RunPiece): Promise<T> {
  for (;;) {
    const step = await runPiece(async () => work.next())
    if (step.done === true) return step.value
  }
}

const callText = ({ method, params }: UpstreamCall, id: number): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method.name}"${params === null ? '' : `,"params":${params}`}}`

function garbage(node: UpstreamNode, { status, bytes }: Pick<ResponseStart, 'status' | 'bytes'>): NodeError {
  return node.link.error(
    status >= 300 ? { kind: 'http', status } : { kind: 'garbage', detail: `${bytes.length} bytes` }
  )
}
