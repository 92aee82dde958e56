import type { Config, SettingName } from '../config/config.ts'

/** Output of a command: results go to `stdout`, progress and logs to `stderr`, one line a call. */
export interface CommandContext {
  readonly stdout: (line: string) => void
  readonly stderr: (line: string) => void
  /** Standard input. */
  readonly stdin: NodeJS.ReadableStream
  /** Aborts at the first signal to end (SIGINT, SIGTERM). */
  readonly interrupted: AbortSignal
}

/** An option of a command that is not a setting. */
export interface Option {
  /** Placeholder of the value in the help, as in `--since CURSOR`; an option without a placeholder is a switch. */
  readonly value?: string
  /** Whether it may be given several times. */
  readonly multiple?: boolean
  readonly meaning: string
}

type Options = Readonly<Record<string, Option>>

/** The values of the given options. */
export type OptionValues<O extends Options = Options> = {
  readonly [Name in keyof O]?:
    | (O[Name] extends { multiple: true }
        ? readonly string[]
        : O[Name] extends { value: string }
          ? string
          : true)
    | undefined
}

/** A command's parsed arguments. */
export interface Invocation<V = unknown> extends CommandContext {
  readonly operands: readonly string[]
  readonly options: V
  readonly config: Config
}

/** Declares a command; its help and the parsing of its arguments follow from this. */
export interface Command<O extends Options = Options> {
  /** One line for the list of commands. */
  readonly summary: string
  /** Further facts needed to use it, in sentences. */
  readonly details?: string
  /** The operands of the usage line; omitted if the command has no operands. */
  readonly operands?: string
  readonly options?: O
  /** Settings accepted as flags; the environment sets the others too. */
  readonly settings: readonly SettingName[] | 'all'
  readonly examples: readonly string[]
  /** Resolves with the exit code: 0, 1 (failed) or 2 (bad usage). Imports its dependencies only when it is called. */
  run(invocation: Invocation<OptionValues<O>>): Promise<number>
}

/** Commands under one noun, by verb. */
export interface CommandGroup {
  readonly summary: string
  readonly verbs: Readonly<Record<string, Command>>
}

/** Declares a command, with its option values typed by its options. */
export const command = <const O extends Options>(declared: Command<O>): Command => declared

/** Contradictory or missing arguments; the message is printed with a reference to the help. */
export class BadUsage extends Error {}
