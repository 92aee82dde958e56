import type { Commitment } from '../../market/rows.ts'
import type { LocalChain } from '../chain.ts'
import type { BlockStatistics } from './block-statistics.ts'
import { commitmentOf, countOf, isMap, optional, type JsonMap } from './params.ts'
import { invalidParams, minContextSlotNotReached } from './rpc-error.ts'
import type { RenderedBlocks } from './rendered-blocks.ts'

/** The release of Agave whose answers this node imitates; clients derive from it which methods exist. */
export const NODE_VERSION = '4.2.1'

/** The context in which methods run. */
export interface NodeContext {
  readonly chain: LocalChain
  /** Key of the only validator, which leads every slot. */
  readonly identity: Uint8Array
  readonly blocks: RenderedBlocks
  readonly statistics: BlockStatistics
}

export interface Method {
  /** Minimum and maximum number of parameters. */
  readonly required: number
  readonly most: number
  /** Returns the value to be written as JSON; throws RpcError. */
  readonly run: (node: NodeContext, params: readonly unknown[]) => unknown
}

export function method(required: number, most: number, run: Method['run']): Method {
  return { required, most, run }
}

/** Returns the parameters of a call as a list, after checking their number. */
export function paramsOf({ required, most }: Method, params: unknown): readonly unknown[] {
  const absent = params === undefined || params === null
  if (isMap(params)) throw invalidParams('`params` should be an array')
  const list: readonly unknown[] = Array.isArray(params) ? params : []
  if (most === 0) {
    if (list.length === 0) return list
    throw invalidParams('Invalid parameters: No parameters were expected', debugOf(list))
  }
  // A node reads a method without optional parameters as one tuple.
  if (required === most) return exactly(required, list, absent)
  if (list.length < required) {
    throw invalidParams(`\`params\` should have at least ${required} argument(s)`)
  }
  if (list.length > most) {
    throw invalidParams(
      `Invalid parameters: Expected from ${required} to ${most} parameters.`,
      `"Got: ${list.length}"`
    )
  }
  return list
}

/**
 * Checks the parameters of a method without optional parameters. They are slots, counts and ids, and a node checks given
 * values before their number.
 */
function exactly(size: number, list: readonly unknown[], absent: boolean): readonly unknown[] {
  const expected = `expected a tuple of size ${size}.`
  if (absent) throw invalidParams(`Invalid params: invalid type: null, ${expected}`)
  if (list.length < size) for (const value of list) countOf(value)
  if (list.length < size) throw invalidParams(`Invalid params: invalid length ${list.length}, ${expected}`)
  if (list.length === size) return list
  throw invalidParams(`Invalid params: invalid length ${list.length}, expected fewer elements in array.`)
}

const DEBUG_CHARACTERS_MAX = 1000

/** Describes unexpected values as a node does, truncated when long. */
function debugOf(values: readonly unknown[]): string {
  const show = (value: unknown): string => {
    if (value === null) return 'Null'
    if (Array.isArray(value)) return `Array([${value.map(show).join(', ')}])`
    switch (typeof value) {
      case 'boolean':
        return `Bool(${value})`
      case 'string':
        return `String(${JSON.stringify(value)})`
      case 'object':
        return `Object {${Object.entries(value)
          .map(([name, part]) => `${JSON.stringify(name)}: ${show(part)}`)
          .join(', ')}}`
      default:
        return `Number(${value as number})`
    }
  }
  return show(values).slice(0, DEBUG_CHARACTERS_MAX)
}

/** Returns the slot of an answer at a commitment; refuses a slot below the client's minimum. */
export function contextSlot({ chain }: NodeContext, commitment: Commitment, config: JsonMap): number {
  const slot = chain.slot(commitment)
  const least = optional(config.minContextSlot, countOf)
  if (least !== null && slot < least) throw minContextSlotNotReached(slot)
  return slot
}

/** Returns a value with its slot, at the commitment of a configuration. */
export function inContext(
  node: NodeContext,
  config: JsonMap,
  value: (commitment: Commitment) => unknown
): object {
  const commitment = commitmentOf(config)
  const slot = contextSlot(node, commitment, config)
  return withSlot(slot, value(commitment))
}

export function withSlot(slot: number, value: unknown): object {
  return { context: { apiVersion: NODE_VERSION, slot }, value }
}
