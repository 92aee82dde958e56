/** What a command is given. Results go to `stdout`, progress and logs to `stderr`, a line a call. */
export interface CommandContext {
  readonly args: readonly string[]
  readonly stdout: (line: string) => void
  readonly stderr: (line: string) => void
  /** Standard input. */
  readonly stdin: NodeJS.ReadableStream
  /** Aborts at the first signal to end. */
  readonly interrupted: AbortSignal
}

/** Resolves to the exit code: 0, 1 (failed) or 2 (bad usage). */
export type Command = (context: CommandContext) => Promise<number>
