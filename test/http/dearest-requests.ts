import { z } from 'zod'
import type { Endpoint } from '../../src/http/endpoint.ts'

/** Addresses of a list at most that are tried. */
const ADDRESSES_MAX = 1_000

/** Values of an endpoint's path and query that a store has much for. */
export interface DearValues {
  /** By the name of a parameter of the path. */
  readonly path: Readonly<Record<string, string>>
  /** Addresses for lists of them. */
  readonly addresses: readonly string[]
}

type JsonSchema = Readonly<{ type?: string; maximum?: number; enum?: readonly unknown[]; format?: string }>

/**
 * Returns the paths of the requests that take an endpoint longest, as its declaration allows them: every number and every
 * list of addresses at its maximum; and so with each kind of choice, with the largest offset, and with the query of each example.
 */
export function dearestPaths(endpoint: Endpoint, { path, addresses }: DearValues): string[] {
  const filled = endpoint.path.replaceAll(
    /\{(\w+)\}/g,
    (_, name: string) => path[name] ?? exampleOf(endpoint, name)
  )
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
  choices.push(...endpoint.examples.map(({ query = {} }) => ({ ...query })))
  const queries = choices
    .map((choice) => ({ ...choice, ...dearest }))
    .filter((query) => endpoint.query.safeParse(query).success)
    .map((query) => new URLSearchParams(query).toString())
  return [...new Set(queries)].map((query) => (query === '' ? filled : `${filled}?${query}`))
}

const jsonSchemaOf = (schema: z.ZodType): JsonSchema =>
  z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema

const isAddressList = (schema: z.ZodType, addresses: readonly string[]): boolean =>
  schema.safeParse(addresses.slice(0, 2).join(',')).success && !schema.safeParse('x').success

function exampleOf({ examples }: Endpoint, name: string): string {
  return examples.find(({ params }) => params?.[name] !== undefined)?.params?.[name] ?? 'unknown'
}

function longestList(schema: z.ZodType, addresses: readonly string[]): string {
  for (let count = Math.min(addresses.length, ADDRESSES_MAX); ; count--) {
    const text = addresses.slice(0, count).join(',')
    if (count <= 1 || schema.safeParse(text).success) return text
  }
}
