import { flagOf, variableOf, type Configuration, type SettingName } from '../config/config.ts'
import type { Setting } from '../config/setting.ts'
import type { Command } from './command.ts'
import { aligned, usageLine } from './usage.ts'

const LINE = 100

/** Returns the help of a command: usage, options and settings with defaults, and examples. */
export function commandHelp(name: string, command: Command, configuration: Configuration): readonly string[] {
  const { summary, details, options = {}, settings, examples } = command
  const own = Object.entries(options).map(
    ([option, { value, short, meaning }]) =>
      [
        `${short === undefined ? '' : `-${short}, `}--${option}${value === undefined ? '' : ` ${value}`}`,
        meaning
      ] as const
  )
  const shown = settings === 'all' ? configuration.names : settings
  return [
    usageLine(name, command),
    '',
    summary,
    ...(details === undefined ? [] : wrapped(details)),
    '',
    'options:',
    ...aligned([...own, ['-h, --help', 'show this']]),
    ...(shown.length === 0 ? [] : ['', 'settings, each a flag or the environment variable in brackets:']),
    ...shown.flatMap((name) => settingLines(name, configuration.settings[name])),
    '',
    examples.length > 1 ? 'examples:' : 'example:',
    ...examples.map((example) => `  ${example}`)
  ]
}

function settingLines(name: SettingName, { fallback, meaning }: Setting): readonly string[] {
  const start = fallback === '' ? 'not set by default' : `default: ${fallback}`
  return [`  --${flagOf(name)} VALUE  [${variableOf(name)}]`, ...wrapped(`${meaning}; ${start}`, '      ')]
}

/** Breaks text into lines of at most `LINE` characters. */
function wrapped(text: string, indent = ''): readonly string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last === undefined || last.length + 1 + word.length > LINE) lines.push(indent + word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}
