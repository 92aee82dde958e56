import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../../test/servers/free-port.ts'
import { saidByItself } from '../held-memory.ts'
import { figuresOf, startMeasured, type MeasuredProcess } from '../measured-process.ts'
import { Commits, TIDY, type Order } from './committing.ts'
import { keyOf } from './keys.ts'
import type { Protocol } from './receiver.ts'
import { eventMessages, type Block, type EventMessage, type Kind } from './trades.ts'

/** A server that publishes commits to many connections, in its own process. */
export interface Side extends Pick<MeasuredProcess, 'pid' | 'url' | 'threadsCpuMs'> {
  readonly protocol: Protocol
  /** Returns the URL path of the n-th connection. */
  path(connection: number): string
  /** Builds blocks; resolves when they are ready. */
  prepare(blocks: readonly Block[]): Promise<void>
  /** Commits the next block that is ready. */
  commit(): void
  /** Returns the times of the commits since the last call, by `monotonicMs`. */
  committedAt(): Promise<readonly number[]>
  end(): Promise<unknown>
}

export interface MillraceOptions {
  readonly nodeArgs?: readonly string[]
  /** Blocks to store before the start, from FIRST_SLOT on, and the trades in each. */
  readonly past?: readonly [blocks: number, trades: number]
}

/** Starts the service's stream with keys for a number of connections. */
export async function millrace(
  connections: number,
  { nodeArgs = [], past = [0, 0] }: MillraceOptions = {}
): Promise<Side & MeasuredProcess> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-stream-'))
  const server = await startMeasured(
    'stream/millrace-server.ts',
    [String(connections), directory, ...past.map(String)],
    { nodeArgs: [...profiling(), ...nodeArgs] }
  )
  return {
    ...server,
    protocol: 'messages',
    path: (connection) => `/v1/stream?key=${keyOf(connection)}`,
    ...ordersTo(server),
    async end() {
      const code = await server.end()
      for (const line of saidByItself(server)) process.stderr.write(`${line}\n`)
      rmSync(directory, { recursive: true })
      return code
    }
  }
}

/** Node options that write a profile by function to the folder in `PROFILE`; none without it. */
function profiling(): string[] {
  const directory = process.env.PROFILE
  return directory === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${directory}`]
}

/** Starts the peer; with `frames` it is the floor: it only writes ready frames. */
export async function plainWs(...args: readonly 'frames'[]): Promise<Side> {
  const server = await startMeasured('stream/plain-server.ts', args, { nodeArgs: [TIDY] })
  return {
    ...server,
    protocol: 'messages',
    path: () => '/',
    ...ordersTo(server),
    end: () => server.end()
  }
}

function ordersTo(server: MeasuredProcess): Pick<Side, 'prepare' | 'commit' | 'committedAt'> {
  const text = (order: Order): string => JSON.stringify(order)
  return {
    prepare: async (blocks) => void (await server.ask(text({ kind: 'prepare', blocks }))),
    commit: () => server.send(text({ kind: 'commit' })),
    committedAt: async () => (await server.ask(text({ kind: 'times' }))) as number[]
  }
}

const LOOPBACK = ['127.0.0.1']

/** Returns the path of `nats-server`, or null if it is not in PATH. */
export function findNats(): string | null {
  const directories = (process.env.PATH ?? '').split(delimiter)
  return directories.map((directory) => join(directory, 'nats-server')).find(existsSync) ?? null
}

/** Starts a NATS server with WebSocket subscribers; this process publishes equal texts to it. */
export async function nats(binary: string, kind: Kind): Promise<Side> {
  const [port, webPort] = [await freePort(LOOPBACK), await freePort(LOOPBACK)]
  const directory = mkdtempSync(join(tmpdir(), 'millrace-nats-'))
  const config = join(directory, 'nats.conf')
  writeFileSync(
    config,
    `host: "127.0.0.1"\nport: ${port}\nwebsocket { host: "127.0.0.1", port: ${webPort}, no_tls: true }\n`
  )
  const child = spawn(binary, ['-c', config], { stdio: 'ignore' })
  const ended = once(child, 'exit')
  const publisher = await reached(port)
  publisher.write('CONNECT {"verbose":false}\r\n')
  publisher.on('data', (data: Buffer) => data.includes('PING') && publisher.write('PONG\r\n'))
  const commits = new Commits((said: string) => void publisher.write(said))
  return {
    url: `http://127.0.0.1:${webPort}`,
    ...figuresOf(child.pid!),
    protocol: 'nats',
    path: () => '/',
    async prepare(blocks) {
      commits.prepared = blocks.map((block) => eventMessages(kind, block).map(published).join(''))
    },
    commit: () => commits.next(),
    committedAt: async () => commits.takeTimes(),
    async end() {
      publisher.destroy()
      child.kill('SIGTERM')
      await ended
      rmSync(directory, { recursive: true })
    }
  }
}

function published(event: EventMessage): string {
  const text = event.text()
  return `PUB ${event.channel} ${text.length}\r\n${text}\r\n`
}

async function reached(port: number) {
  for (let tries = 0; ; tries++) {
    const socket = connect(port, '127.0.0.1')
    try {
      await once(socket, 'connect')
      return socket
    } catch (error) {
      if (tries === 100) throw error
      await pause(100)
    }
  }
}
