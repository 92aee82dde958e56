import { decodeBase58 } from '../base58.ts'
import type { Instruction } from '../transaction.ts'
import type { WireInstruction } from '../wire.ts'
import { isCount, isObject, listOf, objectOf, Unreadable, type JsonObject } from './fields.ts'
import { encodeParsed } from './json-parsed.ts'

/** An instruction's position in its transaction. */
interface Place {
  readonly height: number
  readonly outerIndex: number
  readonly innerIndex: number | null
}

/** The transaction's keys for an instruction: their number, and the index of a key by its text. */
export interface KeyScope {
  readonly count: number
  indexOf(text: unknown): number | undefined
}

// Limits work on hostile input, because decoding is quadratic. A call's data has at most 10,240 bytes, about 14,000
// digits.
const DATA_DIGITS_MAX = 65_536

/** Reads outer and inner instructions in execution order. */
export function readInstructions(
  outer: { readonly count: number; read(index: number): Instruction },
  innerGroups: readonly unknown[],
  keys: KeyScope
): { instructions: Instruction[]; nestingKnown: boolean } {
  const groups = groupsByOuter(innerGroups, outer.count)
  const instructions: Instruction[] = []
  let nestingKnown = true
  for (let outerIndex = 0; outerIndex < outer.count; outerIndex++) {
    instructions.push(outer.read(outerIndex))
    const group = groups?.[outerIndex]
    if (group === undefined) continue
    for (let innerIndex = 0; innerIndex < group.length; innerIndex++) {
      const value = objectOf(group[innerIndex], 'meta.innerInstructions')
      const height = innerHeight(value.stackHeight)
      if (height === 0) nestingKnown = false
      instructions.push(
        readInstruction(value, { height, outerIndex, innerIndex }, keys, 'meta.innerInstructions')
      )
    }
  }
  return { instructions, nestingKnown }
}

/** Reads an instruction in any of the JSON forms: compiled, partially decoded, parsed. */
export function readInstruction(value: JsonObject, place: Place, keys: KeyScope, field: string): Instruction {
  if (value.programIdIndex !== undefined) {
    const program = value.programIdIndex
    if (!isCount(program) || program >= keys.count) throw new Unreadable(`${field}.programIdIndex`)
    const accounts = listOf(value.accounts, `${field}.accounts`)
    for (const account of accounts) {
      if (!isCount(account) || account >= keys.count) throw new Unreadable(`${field}.accounts`)
    }
    return new TextInstruction(program, accounts as number[], dataTextOf(value.data, field), place)
  }
  const program = keys.indexOf(value.programId)
  if (program === undefined) throw new Unreadable(`${field}.programId`)
  const indexOf = (text: unknown): number => {
    const index = keys.indexOf(text)
    if (index === undefined) throw new Unreadable(`${field}.accounts`)
    return index
  }
  if (value.parsed === undefined) {
    const accounts = listOf(value.accounts, `${field}.accounts`).map(indexOf)
    return new TextInstruction(program, accounts, dataTextOf(value.data, field), place)
  }
  const { accounts, data } = encodeParsed(value.program, value.parsed)
  return { program, accounts: accounts.map(indexOf), data, ...place }
}

/** Places an outer instruction of a binary transaction. */
export function placeOuter(instruction: WireInstruction, outerIndex: number): Instruction {
  const { program, accounts, data } = instruction
  return { program, accounts, data, height: 1, outerIndex, innerIndex: null }
}

function innerHeight(value: unknown): number {
  if (value === undefined || value === null) return 0
  if (!isCount(value) || value < 2) throw new Unreadable('meta.innerInstructions.stackHeight')
  return value
}

function groupsByOuter(
  groups: readonly unknown[],
  outerCount: number
): (readonly unknown[] | undefined)[] | null {
  if (groups.length === 0) return null
  const byOuter: (readonly unknown[] | undefined)[] = []
  for (const group of groups) {
    if (!isObject(group)) throw new Unreadable('meta.innerInstructions')
    const { index } = group
    if (!isCount(index) || index >= outerCount || byOuter[index] !== undefined) {
      throw new Unreadable('meta.innerInstructions.index')
    }
    byOuter[index] = listOf(group.instructions, 'meta.innerInstructions.instructions')
  }
  return byOuter
}

function dataTextOf(value: unknown, field: string): string {
  if (typeof value !== 'string' || value.length > DATA_DIGITS_MAX) throw new Unreadable(`${field}.data`)
  return value
}

const NO_DATA = new Uint8Array(0)

/** Decodes instruction data. Invalid base58 gives no data, so the instruction counts as unknown. */
function bytesOf(text: string): Uint8Array {
  try {
    return decodeBase58(text)
  } catch {
    return NO_DATA
  }
}

/** An instruction with base58 data, decoded on first use (14 µs for a 383-byte event) and then cached. */
class TextInstruction implements Instruction {
  readonly program: number
  readonly accounts: readonly number[]
  readonly height: number
  readonly outerIndex: number
  readonly innerIndex: number | null
  readonly #text: string
  #data: Uint8Array | undefined

  constructor(program: number, accounts: readonly number[], text: string, place: Place) {
    this.program = program
    this.accounts = accounts
    this.#text = text
    this.height = place.height
    this.outerIndex = place.outerIndex
    this.innerIndex = place.innerIndex
  }

  get data(): Uint8Array {
    return (this.#data ??= bytesOf(this.#text))
  }
}
