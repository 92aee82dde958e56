import type { Command } from './cli/command.ts'
import { config } from './cli/config.ts'
import { decode } from './cli/decode.ts'
import { keys } from './cli/keys.ts'
import { record } from './cli/record.ts'
import { repair } from './cli/repair.ts'
import { serve } from './cli/serve.ts'
import { tail } from './cli/tail.ts'
import { tenants } from './cli/tenants.ts'
import { verify } from './cli/verify.ts'

const COMMANDS: Readonly<Record<string, Command>> = {
  serve,
  tail,
  decode,
  config,
  tenants,
  keys,
  record,
  verify,
  repair
}

const USAGE = `usage: millrace serve [--flag value …]          run the service
       millrace tail CHANNEL … [--since CURSOR] [--json] [--url URL]   events of the stream as they come
       millrace decode [--explain] [FILE…|-]   events of getTransaction or getBlock results
       millrace config [--flag value …]        the effective configuration
       millrace record FROM..TO [--flag value …]   downloads blocks into the recorded folder
       millrace verify [FROM..TO] [MINT …]     compares what is stored with what it follows from
       millrace verify --store                 finds damaged files of the embedded store
       millrace repair [--from-source]         replaces a damaged embedded store by what can be read of it
       millrace tenants list|create …          tenants of the data folder's store, or of the service
       millrace keys list|create|rotate|revoke …   their API keys`

const [name, ...args] = process.argv.slice(2)
const command = name === undefined ? undefined : COMMANDS[name]
if (command === undefined) {
  const asked = name === 'help' || name === '--help'
  ;(asked ? process.stdout : process.stderr).write(`${USAGE}\n`)
  process.exit(asked ? 0 : 2)
}

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

process.exitCode = await command({
  args,
  stdout: (line) => void process.stdout.write(`${line}\n`),
  stderr: (line) => void process.stderr.write(`${line}\n`),
  stdin: process.stdin,
  interrupted: interrupt.signal
})
// The driver of a cluster that is away leaves sockets and timers behind, which would keep a command that is done. Only
// `decode`, which has none, may still have results on their way.
if (name !== 'decode') setTimeout(() => process.exit(), 500).unref()
