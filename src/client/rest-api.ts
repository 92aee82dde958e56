import type { RestApi } from './api.ts'
import { Listing, type Page } from './listing.ts'
import type { Operation } from './operation.ts'
import { OPERATIONS } from './operations.ts'
import { readAnswer, type Requester } from './requester.ts'
import type { RequestOptions } from './request-options.ts'

type Input = Readonly<Record<string, unknown>>
type Namespace = { [name: string]: Namespace | ReturnType<typeof callOf> }

/** Makes the functions of all operations. */
export function restApiOf(requester: Requester): RestApi {
  const api: Namespace = {}
  for (const [name, operation] of Object.entries(OPERATIONS)) {
    const path = name.split('.')
    const last = path.pop()!
    const space = path.reduce((at, step) => (at[step] ??= {}) as Namespace, api)
    space[last] = callOf(requester, operation)
  }
  return api as unknown as RestApi
}

/** Returns the function of an operation: parameters of the path, then the query or the body, then options. */
function callOf(requester: Requester, operation: Operation) {
  const places = operation.path.match(/\{\w+\}/g) ?? []
  return (...args: readonly unknown[]): Promise<unknown> | Listing => {
    const path = places.reduce(
      (filled, place, at) => filled.replace(place, encodeURIComponent(placeOf(place, args[at], operation))),
      operation.path
    )
    const hasInput = operation.input !== undefined
    const input = (hasInput ? args[places.length] : undefined) as Input | undefined
    const options = (args[places.length + (hasInput ? 1 : 0)] ?? {}) as RequestOptions
    if (operation.isList !== true) return call(requester, operation, path, input, options)
    return new Listing(async (after) => {
      const query = after === null ? input : { ...input, after }
      return (await call(requester, operation, path, query, options)) as Page
    })
  }
}

function call(
  requester: Requester,
  { method, input: place, isIdempotent, isRecognized, repeated, answersAt }: Operation,
  path: string,
  input: Input | undefined,
  options: RequestOptions
): Promise<unknown> {
  const query = place === 'query' && input !== undefined ? queryText(input, repeated) : ''
  const { idempotencyKey = isRecognized === true ? undefined : randomKey() } = options
  const hasKey = isIdempotent === true && idempotencyKey !== undefined
  return requester.send(
    {
      method,
      path: path + query,
      headers: hasKey ? { 'Idempotency-Key': idempotencyKey } : {},
      ...(place === 'body' ? { body: input ?? {} } : {}),
      isRepeatable: method !== 'POST' || isIdempotent === true || isRecognized === true,
      ...(answersAt === undefined ? {} : { answersAt })
    },
    options,
    readAnswer
  )
}

/** Returns the text of a query, with its question mark. Undefined values are left out. */
export function queryText(query: Input, repeated: readonly string[] = []): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue
    if (Array.isArray(value) && repeated.includes(name))
      for (const one of value) search.append(name, textOf(one))
    else search.append(name, Array.isArray(value) ? value.map(textOf).join(',') : textOf(value))
  }
  const text = search.toString()
  return text === '' ? '' : `?${text}`
}

const textOf = (value: unknown): string => (value instanceof Date ? value.toISOString() : String(value))

/** Returns the value of a parameter of the path. Throws TypeError without one. */
function placeOf(place: string, value: unknown, { method, path }: Operation): string {
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  throw new TypeError(
    `${method} ${path} needs ${place.slice(1, -1)} as text or a number, not ${String(value)}`
  )
}

/** Returns 128 random bits as text. `randomUUID` is missing on pages without HTTPS. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
