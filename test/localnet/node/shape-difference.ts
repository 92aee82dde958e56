/**
 * Returns the differences in shape of two answers: a line for each place with another kind of value, or that only one has.
 * Numbers and texts may differ in value; all members of a list count as one.
 */
export function shapeDifferences(ours: unknown, real: unknown): string[] {
  const found: string[] = []
  compare([ours], [real], '', found)
  return found
}

type Kind = 'nothing' | 'null' | 'list' | 'object' | 'string' | 'number' | 'boolean'

function kindOf(value: unknown): Kind {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'list'
  return typeof value as Kind
}

function compare(ours: readonly unknown[], real: readonly unknown[], path: string, found: string[]): void {
  const [here, there] = [ours, real].map((values) => [...new Set(values.map(kindOf))].sort().join(' or '))
  if (here !== there) found.push(`${path}: ${here} where a node has ${there}`)
  const [lists, realLists] = [ours, real].map((values) => values.filter(Array.isArray))
  if (lists!.length > 0 && realLists!.length > 0) {
    const [members, realMembers] = [lists!.flat(), realLists!.flat()] as [unknown[], unknown[]]
    if (members.length > 0 && realMembers.length > 0) compare(members, realMembers, `${path}[]`, found)
    else if (members.length !== realMembers.length) {
      found.push(`${path}: ${members.length === 0 ? 'empty' : 'filled'} where a node has it the other way`)
    }
  }
  const [objects, realObjects] = [ours, real].map(
    (values) => values.filter((value) => kindOf(value) === 'object') as Record<string, unknown>[]
  )
  if (objects!.length === 0 || realObjects!.length === 0) return
  const names = new Set([...objects!, ...realObjects!].flatMap((object) => Object.keys(object)))
  for (const name of [...names].sort()) {
    const [values, realValues] = [objects!, realObjects!].map((list) => list.map((object) => object[name]))
    compare(values!, realValues!, path === '' ? name : `${path}.${name}`, found)
  }
}
