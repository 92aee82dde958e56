import { membersOf, skipSpace } from '../json-scan.ts'

/**
 * Returns the unchanged bytes of a member of a JSON object, or undefined. If a name is repeated, the last occurrence
 * counts, as with JSON.parse.
 */
export function rawMember(json: Buffer, name: string): Buffer | undefined {
  const found = membersOf(json, skipSpace(json, 0))?.findLast(({ key }) => key === name)
  return found === undefined ? undefined : json.subarray(found.from, found.to)
}

/** Writes a parsed value with sorted members, so that equal values have equal texts. Integers may be bigint. */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'bigint') return value.toString()
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`)
  return `{${members.join(',')}}`
}
