import type { Product } from '../compose/product.ts'
import type { Config, Configuration, SettingName } from '../config/config.ts'
import type { Endpoint } from '../http/endpoint.ts'
import type { Outcome } from './service-client.ts'

/** Output of a command: results go to `stdout`, progress and logs to `stderr`, one line a call. */
export interface CommandContext {
  readonly stdout: (line: string) => void
  readonly stderr: (line: string) => void
  /** Standard input. */
  readonly stdin: NodeJS.ReadableStream
  /** Aborts at the first signal to end (SIGINT, SIGTERM). */
  readonly interrupted: AbortSignal
  /** Leaves the processor to all other processes that need it. The process stays so until it ends. */
  readonly yieldProcessor: () => void | Promise<void>
}

/** An option of a command that is not a setting. */
export interface Option {
  /** Placeholder of the value in the help, as in `--since CURSOR`; an option without a placeholder is a switch. */
  readonly value?: string
  /** Its one-letter name, as in `-o FILE`. */
  readonly short?: string
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
  readonly configuration: Configuration
  /** Loads every product. */
  readonly products: () => Promise<readonly Product[]>
}

/** The form of a command's line; its help and the parsing of its arguments follow from this. */
interface Declared<O extends Options = Options> {
  /** Place in the list of commands, ascending. Those without a position come last; a verb needs none. */
  readonly position?: number
  /** One line for the list of commands. */
  readonly summary: string
  /** Further facts needed to use it, in sentences. */
  readonly details?: string
  /** The operands of the usage line; omitted if the command has no operands. */
  readonly operands?: string
  readonly options?: O
  /** Whether it works for hours beside a service: it takes only the time of the processor that no other process needs. */
  readonly isBackground?: true
  /** Settings accepted as flags; the environment sets the others too. */
  readonly settings: readonly SettingName[] | 'all'
  readonly examples: readonly string[]
}

/** A command with code of its own. */
interface OwnCommand<O extends Options = Options> extends Declared<O> {
  /** Resolves with the exit code: 0, 1 (failed) or 2 (bad usage). Imports its dependencies only when it is called. */
  run(invocation: Invocation<OptionValues<O>>): Promise<number>
}

/** An object of the API. */
export type Row = Outcome['body']

/** A flag that sets a parameter of an endpoint. */
export interface ParameterFlag extends Option {
  /** Name of the parameter, if it is not the flag's. */
  readonly parameter?: string
  /** Value of an omitted flag; if not set, the default of the endpoint counts. */
  readonly fallback?: string
  /** Refusal of a command without the flag; omitted for an optional flag. */
  readonly missing?: string
}

/**
 * A command that sends one request and prints the answer. The endpoint gives the method, the path, the scope, and the place
 * of each parameter, and validates their values.
 */
interface RequestRow extends Pick<Declared, 'summary' | 'details' | 'examples' | 'options'> {
  /** Imports the declaration of the endpoint. */
  readonly endpoint: () => Promise<Endpoint>
  /** The parameter of each operand, in the order of the usage line. A last operand with `…` takes all that remain. */
  readonly operands?: Readonly<Record<string, string>>
  /** Shown before the options of the group, unless `options` states another order. */
  readonly flags?: Readonly<Record<string, ParameterFlag>>
  /** Parameters with the same value in every call. */
  readonly fixed?: Readonly<Record<string, string>>
  /**
   * The field with the listed objects; `data` by default. An answer without it is one object. All pages are read, unless
   * the row has a flag `limit`.
   */
  readonly list?: string
  /** Columns of the table, separated by spaces. Without them, an object is printed with a line for each field. */
  readonly columns?: string
  /** Returns the lines of an object in the table; omitted if the line is the object. */
  readonly lines?: (row: Row) => Row | readonly Row[]
  /** Whether an answer is a success; the others exit with 1. */
  readonly isSuccess?: (body: Row) => boolean
  /** Timeout in milliseconds of a request that may take longer than usual. */
  readonly answerMs?: number
}

/** Facts that the rows of a group have in common. */
interface RequestGroup extends Required<Pick<Declared, 'details' | 'options' | 'settings'>> {
  /** A running service; or the store, unless a service has it open. */
  readonly answeredBy: 'service' | 'store'
}

/** A row completed by what its group has in common. */
export interface RequestCommand
  extends Declared, Omit<RequestRow, keyof Declared>, Pick<RequestGroup, 'answeredBy'> {
  /** The parameters of the operands, in their order. */
  readonly parameters?: readonly string[]
}

export type Command = OwnCommand | RequestCommand

/** Commands under one noun, by verb. */
export interface CommandGroup {
  /** Place in the list of commands, as a command's. */
  readonly position?: number
  readonly summary: string
  readonly verbs: Readonly<Record<string, Command>>
}

/** Commands and groups of commands, by name. */
export type Commands = Readonly<Record<string, Command | CommandGroup>>

/** A program: its commands, and the settings and products that it loads when a command needs them. */
export interface Program {
  readonly commands: Commands
  readonly configuration: () => Promise<Configuration>
  readonly products: Invocation['products']
}

/** Declares a command, with its option values typed by its options. */
export const command = <const O extends Options>(declared: OwnCommand<O>): Command => declared

/** Returns a function that completes the rows of a group. */
export const requestsOf =
  ({ options, ...shared }: RequestGroup) =>
  ({ operands, ...row }: RequestRow): RequestCommand => ({
    ...shared,
    options: { ...row.flags, ...options },
    ...row,
    ...(operands && { operands: Object.keys(operands).join(' '), parameters: Object.values(operands) })
  })

/** Common to commands that send requests to a running service. */
export const SERVICE = {
  answeredBy: 'service',
  settings: ['key', 'host', 'port'],
  options: {
    json: { meaning: 'print JSON objects instead of a table' },
    url: { value: 'URL', meaning: 'the service; default: http://HOST:PORT of the settings' }
  }
} as const

/** Contradictory or missing arguments; the message is printed with a reference to the help. */
export class BadUsage extends Error {}
