import type { Config, SettingName } from '../config/config.ts'

/** Results go to `stdout`, progress and logs to `stderr`, a line a call. */
export interface CommandContext {
  readonly stdout: (line: string) => void
  readonly stderr: (line: string) => void
  /** Standard input. */
  readonly stdin: NodeJS.ReadableStream
  /** Aborts at the first signal to end. */
  readonly interrupted: AbortSignal
}

/** An option of a command, beside those that are settings. */
export interface Option {
  /** Stands for the value in the help, as in `--since CURSOR`; an option without one is a switch. */
  readonly value?: string
  /** May be given several times. */
  readonly multiple?: boolean
  readonly meaning: string
}

type Options = Readonly<Record<string, Option>>

/** The value of each option that was given. */
export type OptionValues<O extends Options = Options> = {
  readonly [Name in keyof O]?:
    | (O[Name] extends { multiple: true }
        ? readonly string[]
        : O[Name] extends { value: string }
          ? string
          : true)
    | undefined
}

/** A command's arguments, read as its declaration says. */
export interface Invocation<V = unknown> extends CommandContext {
  readonly operands: readonly string[]
  readonly options: V
  readonly config: Config
}

/** Declares a command: its help and the reading of its arguments both follow from this. */
export interface Command<O extends Options = Options> {
  /** One line for the list of commands. */
  readonly summary: string
  /** More that has to be known to use it, in whole sentences. */
  readonly details?: string
  /** The operands as the usage line shows them; left out where there are none. */
  readonly operands?: string
  readonly options?: O
  /** Settings that are flags of it; the environment sets the others as well. */
  readonly settings: readonly SettingName[] | 'all'
  readonly examples: readonly string[]
  /** Resolves to the exit code: 0, 1 (failed) or 2 (bad usage). Loads what it needs only when it is called. */
  run(invocation: Invocation<OptionValues<O>>): Promise<number>
}

/** Commands under one noun, by their verb. */
export interface CommandGroup {
  readonly summary: string
  readonly verbs: Readonly<Record<string, Command>>
}

/** Declares a command; types the values that it is given by its options. */
export const command = <const O extends Options>(declared: Command<O>): Command => declared

/** Arguments that make no sense together; the help is named after the message. */
export class BadUsage extends Error {}
