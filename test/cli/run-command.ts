import { run } from '../../src/kernel/cli/run.ts'
import { PROGRAM } from '../../src/program.ts'

export interface Said {
  readonly code: number | null
  readonly lines: readonly string[]
  readonly stderr: string
  /** The lines as JSON. */
  readonly rows: () => Record<string, unknown>[]
}

/** Runs a command in this process, in an environment without any other variable of Millrace. */
export async function runCommand(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  interrupted = new AbortController().signal
): Promise<Said> {
  const lines: string[] = []
  const complaints: string[] = []
  const before = { ...process.env }
  for (const name of Object.keys(process.env)) if (name.startsWith('MILLRACE_')) delete process.env[name]
  Object.assign(process.env, environment)
  try {
    const code = await run(
      args,
      {
        stdout: (line) => lines.push(line),
        stderr: (line) => complaints.push(line),
        stdin: process.stdin,
        yieldProcessor: () => undefined,
        interrupted
      },
      PROGRAM
    )
    return said(code, lines, complaints.join('\n'))
  } finally {
    process.env = before
  }
}

/** Returns the output of a command, with its lines readable as JSON. */
export function said(code: number | null, lines: readonly string[], stderr: string): Said {
  return { code, lines, stderr, rows: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) }
}
