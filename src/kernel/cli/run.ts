import { nearest, readFlags, type Flag } from '../config/flags.ts'
import {
  BadUsage,
  type Command,
  type CommandContext,
  type CommandGroup,
  type OptionValues,
  type Program
} from './command.ts'
import { commandList, groupLines, usageLine } from './usage.ts'

const HELP: Flag = { type: 'boolean', short: 'h' }

/** Runs a command line of a program. Resolves with the exit code. */
export async function run(
  words: readonly string[],
  context: CommandContext,
  program: Program
): Promise<number> {
  const { commands } = program
  const [first, ...rest] = words
  const show = (lines: readonly string[]): number => {
    lines.forEach(context.stdout)
    return 0
  }
  const refuse = (...lines: readonly string[]): number => {
    for (const line of lines) context.stderr(`millrace: ${line}`)
    return 2
  }
  if (first === 'help' && rest.length > 0) return run([...rest, '--help'], context, program)
  if (first === 'help' || first === '--help' || first === '-h') return show(commandList(commands))
  if (first === '--version' || first === '-v') return show([(await import('../../version.ts')).version])
  if (first === undefined) {
    commandList(commands).forEach(context.stderr)
    return 2
  }
  const found = entryOf(commands, first)
  if (found === undefined)
    return refuse(`${unknown('command', first, Object.keys(commands))}; \`millrace help\` lists them`)
  if (!('verbs' in found)) return runCommand(found, first, rest, { ...context, program }, refuse)
  const [verb = '', ...args] = rest
  const command = entryOf(found.verbs, verb)
  if (command !== undefined)
    return runCommand(command, `${first} ${verb}`, args, { ...context, program }, refuse)
  if (verb === '--help' || verb === '-h') return show(groupLines(first, found))
  const usages = Object.entries(found.verbs).map(([name, each]) => usageLine(`${first} ${name}`, each))
  return refuse(
    ...(verb === '' ? [] : [unknown(`command ${first}`, verb, Object.keys(found.verbs))]),
    ...usages
  )
}

async function runCommand(
  command: Command,
  name: string,
  args: readonly string[],
  { program, ...context }: CommandContext & { readonly program: Program },
  refuse: (...lines: readonly string[]) => number
): Promise<number> {
  const configuration = await program.configuration()
  const { configMask, configOf, settingFlags } = configuration
  const settings = settingFlags(command.settings === 'all' ? undefined : command.settings)
  const options = Object.fromEntries(
    Object.entries(command.options ?? {}).map(([option, { value, multiple = false, short }]) => [
      option,
      {
        type: value === undefined ? 'boolean' : 'string',
        multiple,
        ...(short !== undefined && { short })
      } as const
    ])
  )
  const { values, operands, problems } = readFlags(args, { ...settings, ...options, help: HELP })
  if (values['help'] === true) {
    const { commandHelp } = await import('./help.ts')
    commandHelp(name, command, configuration).forEach(context.stdout)
    return 0
  }
  if (problems.length > 0)
    return refuse(...problems.map((problem) => `${problem}; \`millrace ${name} --help\` lists the options`))
  const misplaced = operandProblem(command.operands ?? '', operands)
  if (misplaced !== null) return refuse(misplaced, usageLine(name, command))
  // An option may have the name of a setting that the command does not take, such as `--role`.
  const ofSettings = Object.entries(values).filter(([option]) => Object.hasOwn(settings, option))
  const reading = configOf(Object.fromEntries(ofSettings))
  if (reading.kind === 'invalid') return refuse(...reading.problems)
  const mask = configMask(reading.config)
  const stderr = (line: string): void => context.stderr(mask(line))
  try {
    const invocation = {
      ...context,
      stderr,
      operands,
      options: values as OptionValues,
      config: reading.config,
      configuration,
      products: program.products
    }
    if (command.isBackground === true) await context.yieldProcessor()
    if (!('endpoint' in command)) return await command.run(invocation)
    return await (await import('./request.ts')).sendRequest(command, invocation)
  } catch (error) {
    if (!(error instanceof BadUsage)) throw error
    return refuse(...error.message.split('\n'), usageLine(name, command))
  }
}

/** Returns why the operands do not fit a usage line's, like `ID`, `[FILE…|-]` or `CHANNEL …`; null if they fit. */
function operandProblem(declared: string, given: readonly string[]): string | null {
  const wordsOf = (text: string): string[] => text.split(' ').filter((word) => /\w/.test(word))
  const words = wordsOf(declared)
  const needed = wordsOf(declared.replaceAll(/\[[^\]]*\]/g, ''))
  if (given.length < needed.length) return `${needed[given.length]!} is missing`
  const isEndless = declared.includes('…')
  return isEndless || given.length <= words.length
    ? null
    : `${JSON.stringify(given[words.length])} is one argument too many`
}

function entryOf<T extends Command | CommandGroup>(entries: Readonly<Record<string, T>>, name: string) {
  return Object.hasOwn(entries, name) ? entries[name] : undefined
}

function unknown(kind: string, word: string, names: readonly string[]): string {
  const near = nearest(word, names)
  return `there is no ${kind} ${JSON.stringify(word)}${near === null ? '' : ` (did you mean ${near}?)`}`
}
