import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { run } from './cli/run.ts'

// What one process has compiled the next takes from there: a start takes half the processor time.
enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/millrace'))

const interrupt = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    // The second signal does not wait for what the first began.
    if (interrupt.signal.aborted) process.exit(1)
    interrupt.abort()
  })
}
// A reader that closes early, like `head`, ends the command; it is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

const words = process.argv.slice(2)
process.exitCode = await run(words, {
  stdout: (line) => void process.stdout.write(`${line}\n`),
  stderr: (line) => void process.stderr.write(`${line}\n`),
  stdin: process.stdin,
  interrupted: interrupt.signal
})
// The driver of a cluster that is away leaves sockets and timers behind, which would keep a command that is done. Only
// `decode`, which has none, may still have results on their way.
if (words[0] !== 'decode') setTimeout(() => process.exit(), 500).unref()
