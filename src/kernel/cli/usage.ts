import type { Command, CommandGroup, Commands } from './command.ts'

/** Returns the usage line of a command. */
export function usageLine(name: string, { operands, options = {} }: Command): string {
  const switches = Object.entries(options).map(([option, { value, multiple }]) => {
    const flag = value === undefined ? `[--${option}]` : `[--${option} ${value}]`
    return multiple === true ? `${flag}…` : flag
  })
  return ['usage: millrace', name, operands ?? [], switches].flat().join(' ')
}

/** Returns the list of commands with their summaries. */
export function commandList(commands: Commands): readonly string[] {
  return [
    'usage: millrace COMMAND …',
    '',
    ...aligned(Object.entries(commands).map(([name, { summary }]) => [name, summary])),
    '',
    '`millrace COMMAND --help` shows the options of a command and an example; `millrace --version` the version.'
  ]
}

/** Returns the list of a noun's verbs. */
export function groupLines(noun: string, { summary, verbs }: CommandGroup): readonly string[] {
  const entries = Object.entries(verbs)
  return [
    `usage: millrace ${noun} ${Object.keys(verbs).join('|')} …`,
    '',
    summary,
    '',
    ...aligned(entries.map(([verb, each]) => [`${noun} ${verb}`, each.summary])),
    '',
    'examples:',
    ...entries.flatMap(([, { examples }]) => examples.map((example) => `  ${example}`)),
    '',
    `\`millrace ${noun} VERB --help\` shows the options of each.`
  ]
}

/** Formats two columns, the second one aligned. */
export function aligned(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(0, ...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}
