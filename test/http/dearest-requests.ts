import { z } from 'zod'
import type { Endpoint } from '../../src/kernel/http/endpoint.ts'
import { filledExample, type ExampleValues } from '../../src/edge/routes/example-values.ts'
import type { RpcMethod, RpcParameter } from '../../src/rpc/methods.ts'

/** Addresses of a list at most that are tried. */
const ADDRESSES_MAX = 1_000

/** Values of an endpoint's path, query and body that a store has much for. */
export interface DearValues {
  /** A key of all scopes. */
  readonly key: string
  /** By the name of a parameter of the path. */
  readonly path: Readonly<Record<string, string>>
  /** Values that only paths with a prefix have. */
  readonly pathOf: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Addresses for lists of them. */
  readonly addresses: readonly string[]
  /** Values of a body by the name of the field; of a list, at least as many elements as any declaration allows. */
  readonly body: Readonly<Record<string, unknown>>
  /** Replacements of values of the declared examples. */
  readonly examples: ExampleValues
  /** Values of JSON-RPC parameters by their names; others are as their type has them. */
  readonly rpcParams: Readonly<Record<string, unknown>>
}

/** A request; `body` is its JSON text. */
export interface DearRequest {
  readonly method: Endpoint['method']
  readonly path: string
  readonly body?: string
}

type JsonSchema = Readonly<{
  type?: string
  maximum?: number
  enum?: readonly unknown[]
  format?: string
  properties?: Readonly<Record<string, JsonSchema>>
}>

/**
 * Returns the requests that take an endpoint longest, as its declaration allows them. Throws for a field of a body that is a
 * list and has no value here, so that no new list goes without its longest.
 */
export function dearestRequests(endpoint: Endpoint, values: DearValues): DearRequest[] {
  const { method } = endpoint
  const bodies = method === 'POST' ? dearestBodies(endpoint, values) : [undefined]
  return dearestPaths(endpoint, values).flatMap((path) =>
    bodies.map((body) => ({ method, path, ...(body !== undefined && { body }) }))
  )
}

/** Returns a body of JSON-RPC with as many calls of a method as a batch may have, each different from the others. */
export function dearestBatch(
  { name, params }: Pick<RpcMethod, 'name' | 'params'>,
  size: number,
  { rpcParams }: Pick<DearValues, 'rpcParams'>
): string {
  const valueOf = ({ name, type }: RpcParameter, at: number): unknown => {
    if (type === 'integer') return at
    // A member that nodes ignore makes each call unique, so that no answer is shared.
    if (type === 'config') return { commitment: 'confirmed', ...(rpcParams[name] as object), at }
    return rpcParams[name] ?? (type === 'strings' ? [] : name)
  }
  const calls = Array.from({ length: size }, (_, at) => ({
    jsonrpc: '2.0',
    id: at,
    method: name,
    params: params.map((each) => valueOf(each, at))
  }))
  return JSON.stringify(calls)
}

/**
 * Returns the paths of the requests that take an endpoint longest: every number and every list of addresses at its maximum.
 * There is one path with each kind of choice, with the largest offset, and with the query of each example.
 */
function dearestPaths(endpoint: Endpoint, { path, pathOf, addresses, examples }: DearValues): string[] {
  const [, own] = Object.entries(pathOf).find(([prefix]) => endpoint.path.startsWith(prefix)) ?? []
  const filled = endpoint.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = own?.[name] ?? path[name]
    if (value === undefined) throw new Error(`no value for {${name}} of ${endpoint.path}`)
    return value
  })
  const dearest: Record<string, string> = {}
  const choices: Record<string, string>[] = [{}]
  const parameters: Record<string, z.ZodType> = endpoint.query.shape
  for (const [name, schema] of Object.entries(parameters)) {
    const { type, maximum, enum: values } = jsonSchemaOf(schema)
    if (name === 'offset') choices.push({ offset: String(maximum! - Number(dearest.limit)) })
    else if (type === 'integer' && maximum !== undefined) dearest[name] = String(maximum)
    // The first value is often the default.
    else if (values !== undefined) choices.push({ [name]: String(values.at(-1)) })
    else if (isAddressList(schema, addresses)) dearest[name] = longestList(schema, addresses)
  }
  choices.push(...endpoint.examples.map((example) => ({ ...filledExample(example, examples).query })))
  const queries = choices
    .map((choice) => ({ ...choice, ...dearest }))
    .filter((query) => endpoint.query.safeParse(query).success)
    .map((query) => new URLSearchParams(query).toString())
  return [...new Set(queries)].map((query) => (query === '' ? filled : `${filled}?${query}`))
}

/** Returns the bodies that take longest: those of the examples, with each list as long as the declaration allows. */
function dearestBodies(endpoint: Endpoint, { body: values }: DearValues): (string | undefined)[] {
  const { properties = {} } = jsonSchemaOf(endpoint.body)
  const dearest: Record<string, unknown> = {}
  for (const [name, { type }] of Object.entries(properties)) {
    const value = values[name]
    if (type === 'array' && !Array.isArray(value))
      throw new Error(`no list for ${name} of ${endpoint.method} ${endpoint.path}`)
    if (value !== undefined) dearest[name] = value
  }
  const examples = endpoint.examples.map(({ body }) => body)
  const bodies = examples.map((example) => {
    if (example === undefined || Array.isArray(example)) return example
    const fields = { ...(example as object), ...dearest }
    for (const [name, value] of Object.entries(dearest))
      if (Array.isArray(value)) fields[name as keyof typeof fields] = longestOf(endpoint, fields, name, value)
    return fields
  })
  return [...new Set(bodies.map((each) => (each === undefined ? undefined : JSON.stringify(each))))]
}

/** Returns the longest beginning of a list with which a body is accepted, a half or more of it if the bound is unknown. */
function longestOf({ body }: Endpoint, fields: object, name: string, list: readonly unknown[]): never {
  for (let length = list.length; length > 1; length = Math.ceil(length / 2)) {
    const value = list.slice(0, length)
    if (body.safeParse({ ...fields, [name]: value }).success) return value as never
    for (let fewer = length - 1; fewer > Math.ceil(length / 2) && length < 300; fewer--)
      if (body.safeParse({ ...fields, [name]: list.slice(0, fewer) }).success)
        return list.slice(0, fewer) as never
  }
  return list.slice(0, 1) as never
}

const jsonSchemaOf = (schema: z.ZodType): JsonSchema =>
  z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema

const isAddressList = (schema: z.ZodType, addresses: readonly string[]): boolean =>
  schema.safeParse(addresses.slice(0, 2).join(',')).success && !schema.safeParse('text').success

function longestList(schema: z.ZodType, addresses: readonly string[]): string {
  for (let count = Math.min(addresses.length, ADDRESSES_MAX); ; count--) {
    const text = addresses.slice(0, count).join(',')
    if (count <= 1 || schema.safeParse(text).success) return text
  }
}
