import { parseArgs } from 'node:util'

/** A flag: a switch, or an option with a value; it may be allowed several times. */
export interface Flag {
  readonly type: 'boolean' | 'string'
  readonly multiple?: boolean
  /** Its one-letter name. */
  readonly short?: string
}

export interface FlagReading {
  /** Values of the given flags: true for a switch, a list for a repeatable flag. */
  readonly values: Readonly<Record<string, string | true | readonly string[]>>
  readonly operands: readonly string[]
  /** A line for each argument that cannot be parsed. */
  readonly problems: readonly string[]
}

/** Parses arguments into flags and operands, and reports every argument that is neither. */
export function readFlags(args: readonly string[], flags: Readonly<Record<string, Flag>>): FlagReading {
  const { tokens } = parseArgs({ args: [...args], options: flags, strict: false, tokens: true })
  const values: Record<string, string | true | string[]> = {}
  const operands: string[] = []
  const problems: string[] = []
  let unknownAt = -2
  for (const token of tokens) {
    // The word after an unknown flag is most likely its value.
    if (token.kind === 'positional' && token.index !== unknownAt + 1) operands.push(token.value)
    if (token.kind !== 'option') continue
    const { name, rawName, value, inlineValue } = token
    const flag = Object.hasOwn(flags, name) ? flags[name] : undefined
    if (flag === undefined) {
      problems.push(`${rawName} is unknown${hint(name, Object.keys(flags))}`)
      if (value === undefined) unknownAt = token.index
    } else if (flag.type === 'boolean') {
      if (value === undefined) values[name] = true
      else problems.push(`${rawName} takes no value`)
    } else if (value === undefined || (inlineValue === false && /^-./.test(value))) {
      problems.push(`${rawName} has no value`)
    } else if (flag.multiple === true) {
      values[name] = [...((values[name] as string[] | undefined) ?? []), value]
    } else values[name] = value
  }
  return { values, operands, problems }
}

/** Returns the name most similar to a misspelled word; null if no name is similar. */
export function nearest(word: string, names: readonly string[]): string | null {
  const [best] = names
    .map((name) => ({ name, distance: editDistance(word, name) }))
    .sort((a, b) => a.distance - b.distance)
  return best !== undefined && best.distance <= Math.max(2, word.length / 3) ? best.name : null
}

function hint(name: string, names: readonly string[]): string {
  const near = nearest(name, names)
  return near === null ? '' : ` (did you mean --${near}?)`
}

/** Returns the number of insertions, deletions and replacements between two words. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (const [i, character] of [...a].entries()) {
    const next = [i + 1]
    for (const [j, other] of [...b].entries())
      next.push(Math.min(row[j + 1]! + 1, next[j]! + 1, row[j]! + (character === other ? 0 : 1)))
    row = next
  }
  return row[b.length]!
}
