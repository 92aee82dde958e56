import type { SubscriptionKind } from './subscription-request.ts'
import { rawMember } from './raw-json.ts'

/** A message of a node's WebSocket. */
export type NodeMessage =
  | {
      readonly kind: 'answer'
      readonly id: number
      readonly result: unknown
      /** The error as the node wrote it; null for a success. */
      readonly error: string | null
    }
  | NodeNotification

export interface NodeNotification {
  readonly kind: 'notification'
  readonly of: SubscriptionKind
  /** The node's id of the subscription. */
  readonly subscription: number
  readonly slot: number
  /** The result as the node wrote it. */
  readonly result: Buffer
  /** The parsed value of the result; the parsed result itself for a slot and a root. */
  readonly value: unknown
}

const KINDS: ReadonlyMap<string, SubscriptionKind> = new Map([
  ['accountNotification', 'account'],
  ['logsNotification', 'logs'],
  ['programNotification', 'program'],
  ['rootNotification', 'root'],
  ['signatureNotification', 'signature'],
  ['slotNotification', 'slot']
])

/**
 * Reads a message. Returns null if it is not JSON, or neither an answer nor a notification of a known form. The bytes
 * of a result are copied unchanged, not reserialized.
 */
export function readNodeMessage(data: Buffer): NodeMessage | null {
  const text = data.toString()
  const message = parsed(text)
  if (!isObject(message)) return null
  if (message.id !== undefined && message.method === undefined) return answerIn(message, data)
  const kind = KINDS.get(String(message.method))
  const { params } = message
  if (kind === undefined || !isObject(params)) return null
  const { subscription, result } = params
  if (!isCount(subscription)) return null
  if (kind === 'root') {
    if (!isCount(result)) return null
    const raw = resultIn(data, kind, subscription)
    return { kind: 'notification', of: kind, subscription, slot: result, result: raw, value: result }
  }
  if (!isObject(result)) return null
  const place = kind === 'slot' ? result : result.context
  if (!isObject(place) || !isCount(place.slot) || (kind !== 'slot' && !('value' in result))) return null
  return {
    kind: 'notification',
    of: kind,
    subscription,
    slot: place.slot,
    result: resultIn(data, kind, subscription),
    value: kind === 'slot' ? result : result.value
  }
}

function answerIn(message: Readonly<Record<string, unknown>>, data: Buffer): NodeMessage | null {
  const { id, error, result } = message
  if (!isCount(id)) return null
  const isError = error !== undefined && error !== null
  const raw = isError ? rawMember(data, 'error')!.toString() : null
  return { kind: 'answer', id, result, error: raw }
}

/** The layout in which Agave writes notifications. */
const headOf = (kind: SubscriptionKind): Buffer =>
  Buffer.from(`{"jsonrpc":"2.0","method":"${kind}Notification","params":{"result":`)
const HEADS = new Map([...KINDS.values()].map((kind) => [kind, headOf(kind)]))

/** Returns the bytes of the result: at once in Agave's layout, otherwise by a scan. */
function resultIn(data: Buffer, kind: SubscriptionKind, subscription: number): Buffer {
  const head = HEADS.get(kind)!
  const tail = `,"subscription":${subscription}}}`
  const end = data.length - tail.length
  const isUsual =
    end > head.length &&
    data.compare(head, 0, head.length, 0, head.length) === 0 &&
    data.toString('latin1', end) === tail
  if (isUsual) return data.subarray(head.length, end)
  return rawMember(rawMember(data, 'params')!, 'result')!
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
