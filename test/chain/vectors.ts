import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { InstructionLayout } from '../../src/chain/layout.ts'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import type { Venue } from '../../src/chain/venue.ts'

/** Bytes of an instruction or event, with the field values that its source's own tests state. */
export interface Vector {
  readonly name: string
  readonly type: 'instruction' | 'event'
  readonly data_hex: string
  readonly expected: Readonly<Record<string, string | number | boolean>>
  readonly expected_accounts?: Readonly<Record<string, string>>
  readonly accounts?: readonly { readonly pubkey: string }[]
}

export function readVectors(fixtures: string, file: string): Vector[] {
  return JSON.parse(readFileSync(join(fixtures, 'vectors', `${file}.json`), 'utf8')) as Vector[]
}

/**
 * Compares the values that a vector's source states with those that the venue's layouts read. A name is searched anywhere
 * in the value, in snake_case or dotted form, by its camelCase or its last part. `aliases` maps names that the source made
 * up; `null` marks a name that is not in the bytes.
 */
export function compareVector(
  venue: Pick<Venue, 'instructions' | 'events' | 'statedEventOffset'>,
  vector: Vector,
  aliases: Readonly<Record<string, string | null>> = {}
): { readonly found: string | null; readonly differences: string[] } {
  const data = Uint8Array.fromHex(vector.data_hex)
  const stated = venue.statedEventOffset(data)
  const offset = stated < 0 ? 0 : stated
  const layout = vector.type === 'event' ? venue.events.find(data, offset) : venue.instructions.find(data)
  if (layout === undefined) return { found: null, differences: [`no layout for ${vector.name}`] }
  const reading = layout.read(data, offset + layout.discriminator.length)
  if (reading === null)
    return { found: layout.name, differences: [`${vector.name} is too short for ${layout.name}`] }
  const differences: string[] = []
  for (const [name, expected] of Object.entries(vector.expected)) {
    const alias = aliases[name]
    if (alias === null) continue
    const values = valuesNamed(reading.value, alias ?? name)
    if (values.length === 0) differences.push(`${name}: ${layout.name} has no such field`)
    else if (!values.includes(String(expected).toLowerCase())) {
      differences.push(`${name}: expected ${String(expected)}, read ${values.join(' or ')}`)
    }
  }
  differences.push(...compareAccounts(layout as InstructionLayout, vector))
  return { found: layout.name, differences }
}

function compareAccounts(layout: InstructionLayout, vector: Vector): string[] {
  const differences: string[] = []
  const listed = vector.accounts ?? []
  const positions = vector.type === 'instruction' ? layout.accounts(listed.length) : null
  if (positions === null) return []
  for (const [name, expected] of Object.entries(vector.expected_accounts ?? {})) {
    const position = positions[camelCase(name)]
    if (position === undefined) continue
    const actual = listed[position]?.pubkey
    if (actual !== expected)
      differences.push(`account ${name}: expected ${expected}, position ${position} has ${actual}`)
  }
  return differences
}

/** Every value under a name in a nested value, as lower-case text. */
function valuesNamed(value: unknown, name: string): string[] {
  const wanted = new Set([name, camelCase(name), camelCase(name.split('.').at(-1)!)])
  const found: string[] = []
  const visit = (current: unknown): void => {
    if (current === null || typeof current !== 'object' || current instanceof Uint8Array) return
    for (const [key, item] of Object.entries(current)) {
      if (wanted.has(key)) found.push(text(item))
      visit(item)
    }
  }
  visit(value)
  return found
}

function text(value: unknown): string {
  return (value instanceof Uint8Array ? pubkeyToBase58(value) : String(value)).toLowerCase()
}

function camelCase(name: string): string {
  return name.replace(/[._]([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}
