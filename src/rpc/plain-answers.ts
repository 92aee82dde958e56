import { isAscii } from 'node:buffer'
import type { RpcMethod, SlotPlace } from './methods.ts'

/** A complete answer of a node: the raw value of `result` or `error`, and the facts that determine its handling. */
export interface RawAnswer {
  readonly kind: 'result' | 'error'
  readonly bytes: Buffer
  /** The code of an error; null for a result. */
  readonly code: number | null
  readonly slot: number | null
  readonly isNull: boolean
}

const HEAD = '{"jsonrpc":"2.0","result":'
const ID = '"id":'

interface ParsedResult {
  readonly id?: unknown
  readonly result?: { readonly context?: { readonly slot?: unknown }; readonly absoluteSlot?: unknown } | null
}

/**
 * Reads the answers to a batch in the form that nodes write: ASCII without escapes, one result for each request, and
 * no white space between tokens. Returns null for any other body. Gives the answers of `readAnswers` in a fraction of
 * its time.
 */
export function readPlainAnswers(
  bytes: Buffer,
  first: number,
  methods: readonly Pick<RpcMethod, 'slot'>[]
): RawAnswer[] | null {
  if (!isAscii(bytes)) return null
  const text = bytes.toString('latin1')
  if (text.includes('\\')) return null
  const values = parsedList(text)
  if (values?.length !== methods.length) return null
  const answers: (RawAnswer | undefined)[] = methods.map(() => undefined)
  let at = 1
  for (const value of values) {
    const index = typeof value?.id === 'number' ? value.id - first : Number.NaN
    const method = methods[index]
    if (method === undefined || answers[index] !== undefined || !text.startsWith(HEAD, at)) return null
    const from = at + HEAD.length
    // Each answer has its own id. If there are as many ids as answers, no id is inside a result.
    const to = text.indexOf(ID, from) - 1
    const tail = `,${ID}${index + first}}`
    if (to < from || !text.startsWith(tail, to)) return null
    at = to + tail.length + 1
    if (text[at - 1] !== ',' && at !== text.length) return null
    const slot = slotIn(value, method.slot)
    answers[index] = {
      kind: 'result',
      bytes: bytes.subarray(from, to),
      code: null,
      slot: Number.isSafeInteger(slot) && Number(slot) >= 0 ? Number(slot) : null,
      isNull: value.result === null
    }
  }
  return at === text.length ? (answers as RawAnswer[]) : null
}

function parsedList(text: string): readonly ParsedResult[] | null {
  try {
    const parsed: unknown = JSON.parse(text)
    return Array.isArray(parsed) ? parsed : null
  } catch {
    return null
  }
}

function slotIn({ result }: ParsedResult, place: SlotPlace): unknown {
  if (place === 'none') return null
  if (place === 'result') return result
  return place === 'context' ? result?.context?.slot : result?.absoluteSlot
}
