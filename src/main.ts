import { run } from './kernel/cli/run.ts'
import { PROGRAM } from './program.ts'

// Every file that a command creates is for its user alone: data folders hold keys and secrets.
process.umask(0o077)

const interrupt = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    // A second signal ends the process at once.
    if (interrupt.signal.aborted) process.exit(1)
    interrupt.abort()
  })
}
// A reader that closes early, like `head`, ends the command without failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

const words = process.argv.slice(2)
const context = {
  stdout: (line: string) => void process.stdout.write(`${line}\n`),
  stderr: (line: string) => void process.stderr.write(`${line}\n`),
  stdin: process.stdin,
  interrupted: interrupt.signal,
  yieldProcessor: async () => (await import('./kernel/cli/lowest-priority.ts')).takeLowestPriority()
}
process.exitCode = await run(words, context, PROGRAM)
// The driver of an unavailable cluster leaves sockets and timers that would keep a finished command alive. `decode`
// has no driver, and may still be writing results.
if (words[0] !== 'decode') setTimeout(() => process.exit(), 500).unref()
