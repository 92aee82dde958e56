import type { ChildProcess } from 'node:child_process'
import { StartRefused } from '../../machines/start-refused.ts'
import type { Clock } from '../../src/ports.ts'
import type { Run } from '../supervision/process.ts'
import { Heartbeats } from './heartbeats.ts'
import { relayLines } from './line-relay.ts'
import { childMessage, type ChildMessage, type ParentMessage } from './process-messages.ts'

export interface ChildProcessOptions {
  /** Starts the process of the operating system, with a channel and piped output. Throws if the system refuses. */
  readonly start: () => ChildProcess
  /** Called with every line of its standard output and error. */
  readonly onStdout: (line: string) => void
  readonly onStderr: (line: string) => void
  readonly clock: Clock
  /** Called with every message, and a function that answers it. */
  readonly onMessage: (message: ChildMessage, answer: (message: ParentMessage) => void) => void
}

/**
 * Runs a process of the operating system as a process of the tree: ready once it says so, drained by a message, killed by
 * SIGKILL. Its end is a crash unless it was asked for. One that hangs is killed: the system would go on to give it connections.
 * A refused start of the first instance refuses the start of all; later the same fault is a crash, because the process has run
 * with these settings before.
 */
export function childProcess(options: ChildProcessOptions): Run<unknown> {
  let hasBeenReady = false
  return async ({ draining, signal, ready, gauge }) => {
    const child = options.start()
    const { pid } = child
    const ended = endOf(child)
    gauge('pid', () => pid ?? 0)
    for (const [stream, write] of [
      [child.stdout, options.onStdout],
      [child.stderr, options.onStderr]
    ] as const)
      if (stream !== null) relayLines(stream, write)
    const send = (message: ParentMessage): void => {
      // The channel may close at any time; then the end of the process follows.
      if (child.connected) child.send(message, () => undefined)
    }
    let refusal: string | null = null
    const kill = (): void => void child.kill('SIGKILL')
    const heartbeats = new Heartbeats(options.clock, kill)
    child.on('message', (raw) => {
      const { data: message } = childMessage.safeParse(raw)
      if (message === undefined) return
      heartbeats.heard()
      if (message.millrace === 'refused') refusal = message.reason
      options.onMessage(message, send)
      if (message.millrace !== 'ready') return
      hasBeenReady = true
      heartbeats.begin()
      ready()
    })
    const drain = (): void => {
      // A drain has its own limit.
      heartbeats.end()
      send({ millrace: 'drain' })
    }
    draining.addEventListener('abort', drain, { once: true })
    signal.addEventListener('abort', kill, { once: true })
    if (draining.aborted) drain()
    if (signal.aborted) kill()
    const how = await ended
    draining.removeEventListener('abort', drain)
    signal.removeEventListener('abort', kill)
    heartbeats.end()
    if (draining.aborted) return
    if (refusal !== null && !hasBeenReady) throw new StartRefused(refusal)
    const { hungSeconds } = heartbeats
    throw new Error(
      hungSeconds === null
        ? `the process ${pid ?? 'that the system refused'} ended${how}`
        : `the process ${pid} hung for ${hungSeconds} s and was killed`
    )
  }
}

/** Resolves with how a process has ended, once its output is read. Rejects if the system cannot start it. */
function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('error', (error) => {
      if (child.pid === undefined) reject(error)
    })
    child.once('close', (code, by) => resolve(by === null ? ` with exit code ${code}` : ` by ${by}`))
  })
}
