import type { z } from 'zod'
import { nearest, readFlags, type Flag, type FlagReading } from './flags.ts'
import { hasUrls, type Setting } from './setting.ts'
import { maskedUrl, secretsMask } from './url-mask.ts'

/**
 * The configuration of a process. The settings of each product extend it where they are declared
 * (`src/<product>/settings.ts`).
 */
export interface Config {}

export type SettingName = keyof Config

/** The kind of block source. */
export type SourceKind = Config['source']

export type ConfigReading =
  | { readonly kind: 'config'; readonly config: Config }
  | { readonly kind: 'invalid'; readonly problems: readonly string[] }

/** Returns the variable of a setting: `dataDir` → `MILLRACE_DATA_DIR`. */
export function variableOf(name: SettingName): string {
  return 'MILLRACE_' + name.replace(/[A-Z]/g, '_$&').toUpperCase()
}

/** Returns the flag of a setting: `dataDir` → `data-dir`. */
export function flagOf(name: SettingName): string {
  return name.replace(/[A-Z]/g, '-$&').toLowerCase()
}

/**
 * Length from which a path segment, query value or user of a setting's URL is masked in any text. Keys of providers have 16
 * characters or more; shorter segments, such as `v1` or `bundles`, also occur in unrelated lines.
 */
const PART_IN_ANY_TEXT_MIN = 16
/** Length from which any other secret is masked. Shorter ones occur in other words. */
const SECRET_LENGTH_MIN = 8

/** The settings of a program, and the functions that read and print them. */
export type Configuration = ReturnType<typeof configurationOf>

/**
 * Returns the functions of some settings (src/docs/settings.md). The variable `MILLRACE_X_Y` is also the flag `--x-y` of
 * `millrace serve`; a flag wins over the variable. Only this file reads the environment.
 */
export function configurationOf(settings: Readonly<Record<SettingName, Setting>>) {
  const names = Object.keys(settings) as SettingName[]

  /** Returns a hint at the variable that a misspelled one is most similar to; empty if none is similar. */
  function hint(variable: string): string {
    const near = nearest(variable, names.map(variableOf))
    return near === null ? '' : ` (did you mean ${near}?)`
  }

  /** Returns settings as flags, by name. */
  function settingFlags(some: readonly SettingName[] = names): Readonly<Record<string, Flag>> {
    return Object.fromEntries(some.map((name) => [flagOf(name), { type: 'string' as const }]))
  }

  /**
   * Returns the effective configuration of flags, environment and defaults, in that order of precedence; or all
   * problems, one line each, naming the variable or flag.
   */
  function readConfig(
    args: readonly string[],
    environment: Readonly<Record<string, string | undefined>> = process.env
  ): ConfigReading {
    const { values, operands, problems } = readFlags(args, settingFlags())
    const config = configOf(values, environment)
    const all = [
      ...problems,
      ...operands.map((word) => `${JSON.stringify(word)} is not a flag`),
      ...(config.kind === 'invalid' ? config.problems : [])
    ]
    return all.length > 0 ? { kind: 'invalid', problems: all } : config
  }

  /** Returns the configuration of parsed flags, as `readConfig` does. */
  function configOf(
    flags: FlagReading['values'],
    environment: Readonly<Record<string, string | undefined>> = process.env
  ): ConfigReading {
    const problems: string[] = []
    const variables = new Map(names.map((name) => [variableOf(name), name]))
    for (const variable of Object.keys(environment)) {
      if (variable.startsWith('MILLRACE_') && !variables.has(variable))
        problems.push(`${variable} is unknown${hint(variable)}`)
    }
    const config: Record<string, unknown> = {}
    for (const name of names) {
      const setting: Setting = settings[name]
      const flag = flags[flagOf(name)]
      const given = flag ?? environment[variableOf(name)]
      const result: z.ZodSafeParseResult<unknown> = setting.schema.safeParse(given ?? setting.fallback)
      if (result.success) config[name] = result.data
      else {
        const said = flag === undefined ? variableOf(name) : `--${flagOf(name)}`
        const value = setting.secret === true || hasUrls(setting.schema) ? '' : `=${JSON.stringify(given)}`
        problems.push(`${said}${value} ${firstMessage(result.error)}`)
      }
    }
    if (problems.length > 0) return { kind: 'invalid', problems }
    return { kind: 'config', config: Object.freeze(config) as unknown as Config }
  }

  /** Tells whether a setting has its default value. */
  function isDefault<Name extends SettingName>(name: Name, value: Config[Name]): boolean {
    const { schema, fallback }: Setting = settings[name]
    return JSON.stringify(value) === JSON.stringify(schema.parse(fallback))
  }

  /** Returns the configuration as text values, secrets masked, for `millrace config`. */
  function maskedConfig(config: Config): Record<string, unknown> {
    return Object.fromEntries(
      names.map((name) => {
        const value = config[name]
        const setting: Setting = settings[name]
        const empty = value === null || (Array.isArray(value) && value.length === 0)
        if (empty) return [variableOf(name), value]
        if (hasUrls(setting.schema))
          return [
            variableOf(name),
            Array.isArray(value) ? (value as readonly string[]).map(maskedUrl) : maskedUrl(value as string)
          ]
        return [variableOf(name), setting.secret === true ? '********' : value]
      })
    )
  }

  /** Returns a function that masks the URLs and secrets of a configuration in a text, such as a line of the log. */
  function configMask(config: Partial<Config>): (text: string) => string {
    const urls: string[] = []
    const words: string[] = []
    for (const name of names) {
      const setting: Setting = settings[name]
      const values = [config[name]].flat().filter((value) => typeof value === 'string')
      if (hasUrls(setting.schema)) urls.push(...values)
      else if (setting.secret === true)
        words.push(...values.filter(({ length }) => length >= SECRET_LENGTH_MIN))
    }
    return secretsMask(urls, { partLengthMin: PART_IN_ANY_TEXT_MIN, words })
  }

  return {
    settings,
    names,
    settingFlags,
    readConfig,
    configOf,
    isDefault,
    maskedConfig,
    configMask
  }
}

/**
 * Returns a readable message. A union's own message only states that nothing matched; the last branch states the
 * reason.
 */
function firstMessage(error: z.ZodError): string {
  const issue = error.issues[0]
  if (issue?.code === 'invalid_union') {
    const branch = issue.errors.at(-1)?.[0]
    if (branch !== undefined) return branch.message
  }
  return issue?.message ?? 'is invalid'
}
