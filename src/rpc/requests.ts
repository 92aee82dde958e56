import { jsonExcess } from '../kernel/json-depth.ts'
import { elementsOf, membersOf, skipSpace } from './json-scan.ts'
import type { MethodTable } from './methods.ts'
import { readPlainCall, type RequestedCall } from './plain-call.ts'
import {
  batchTooLarge,
  BODY_BYTES_MAX,
  BODY_TOO_LARGE,
  excessive,
  INVALID_REQUEST,
  NO_VERSION,
  PARSE_ERROR,
  type Refusal
} from './rpc-error.ts'

/** An element that is not a call, with the answer to it. */
export interface InvalidElement {
  readonly kind: 'invalid'
  readonly id: string
  readonly refusal: Refusal
}

export type RequestElement = RequestedCall | InvalidElement

/** A request body. `refused` is one answer, with id null, to the whole body. */
export type ParsedRequest =
  | { readonly kind: 'single'; readonly element: RequestElement }
  | { readonly kind: 'batch'; readonly elements: readonly RequestElement[] }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

export type { RequestedCall }

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Parses a body: one request, or a batch of at most `batchMax`. Ids and params are slices of the body, so they are
 * passed on byte for byte. If a request repeats a key, the last occurrence counts.
 */
export function parseRequest(body: Buffer, batchMax: number): ParsedRequest {
  if (body.length > BODY_BYTES_MAX) return { kind: 'refused', refusal: BODY_TOO_LARGE }
  const plain = readPlainCall(body)
  if (plain !== null) return { kind: 'single', element: plain }
  const excess = jsonExcess(body)
  if (excess !== null) return { kind: 'refused', refusal: excessive(excess) }
  let value: unknown
  try {
    value = JSON.parse(UTF8.decode(body))
  } catch {
    return { kind: 'refused', refusal: PARSE_ERROR }
  }
  const at = skipSpace(body, 0)
  if (!Array.isArray(value)) return { kind: 'single', element: elementAt(body, at, value) }
  if (value.length === 0) return { kind: 'refused', refusal: INVALID_REQUEST }
  if (value.length > batchMax) return { kind: 'refused', refusal: batchTooLarge(batchMax) }
  const starts = elementsOf(body, at)!
  const elements = value.map((each, index) => elementAt(body, starts[index]!, each))
  return { kind: 'batch', elements }
}

/** The quota units of a body: those of each element; one unit for a body that is refused as a whole. */
export function costOf(request: ParsedRequest, methods: Pick<MethodTable, 'unitsOf'>, quota: number): number {
  if (request.kind === 'refused') return 1
  if (request.kind === 'single') return unitsOfElement(request.element, methods, quota)
  return request.elements.reduce((sum, each) => sum + unitsOfElement(each, methods, quota), 0)
}

/** The quota units of an element. */
export const unitsOfElement = (
  element: RequestElement,
  methods: Pick<MethodTable, 'unitsOf'>,
  quota: number
): number => (element.kind === 'call' ? methods.unitsOf(element.method, quota) : 1)

/** Returns the JSON text of the id of a single request; `null` for other bodies, and for a request without an id. */
export const idOf = (request: ParsedRequest): string =>
  (request.kind === 'single' ? request.element.id : null) ?? 'null'

function elementAt(body: Buffer, at: number, value: unknown): RequestElement {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return invalid('null')
  const { id, jsonrpc, method, params } = value as Record<string, unknown>
  const raw = new Map(membersOf(body, at)!.map(({ key, from, to }) => [key, [from, to] as const]))
  const textOf = (key: string): string | null => {
    const place = raw.get(key)
    return place === undefined ? null : body.toString('utf8', ...place)
  }
  const isId = id === null || typeof id === 'string' || typeof id === 'number'
  if (raw.has('id') && !isId) return invalid('null')
  const idText = textOf('id')
  if (typeof method !== 'string') return invalid(idText)
  if (raw.has('params') && typeof params !== 'object') return invalid(idText)
  if (jsonrpc !== '2.0') return invalid(idText, NO_VERSION)
  const hasParams = params !== undefined && params !== null
  return {
    kind: 'call',
    id: idText,
    method,
    params: hasParams ? textOf('params') : null,
    paramsValue: hasParams ? params : null
  }
}

const invalid = (id: string | null, refusal = INVALID_REQUEST): InvalidElement => ({
  kind: 'invalid',
  id: id ?? 'null',
  refusal
})
