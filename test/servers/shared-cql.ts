import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/**
 * One CQL server for the test files of a run, in its own process. The first user starts that process, and it ends with its
 * last user. A user holds a connection to it, so that a crashed user counts as gone.
 */
const KEEPER = join(import.meta.dirname, 'shared-cql-keeper.ts')
const KEEPER_WITHIN_MS = 60_000
/** Bytes of a socket's path. The shortest limit of a system is 104 (macOS), including the final zero. */
const SOCKET_PATH_MAX = 100
/** Attempts of a user that connects while the last one is leaving. */
const ATTEMPTS = 3

/** A user's first message. */
export interface SharedCqlRequest {
  /** The process that runs the test files; null outside of a run. */
  readonly run: number | null
}

export type SharedCqlAnswer =
  | {
      readonly contactPoints: string[]
      /** Process of the server; null where it has ended. */
      readonly pid: number | null
    }
  | { readonly error: string }

/**
 * Path of the keeper's socket: one for each user of the machine and each checkout. A copy of the sources that a test runs
 * shares that of its original (SHARED_CQL_OF).
 */
export function sharedCqlPath(): string {
  const checkout = createHash('sha256')
    .update(process.env['SHARED_CQL_OF'] ?? import.meta.dirname)
    .digest('hex')
    .slice(0, 12)
  const name = `millrace-cql-${userInfo().uid}-${checkout}.sock`
  const path = join(tmpdir(), name)
  return path.length <= SOCKET_PATH_MAX ? path : join('/tmp', name)
}

let shared: Promise<string[]> | undefined

/** Returns contact points of the shared server; it stays until this process ends. */
export function sharedCql(): Promise<string[]> {
  shared ??= ask()
  return shared
}

async function ask(): Promise<string[]> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const socket = await reachKeeper()
    const request: SharedCqlRequest = { run: process.env.TAP === undefined ? null : process.ppid }
    socket.write(`${JSON.stringify(request)}\n`)
    const line = await firstLine(socket)
    if (line === undefined) continue
    const answer = JSON.parse(line) as SharedCqlAnswer
    if ('error' in answer) throw new Error(answer.error)
    socket.unref()
    return answer.contactPoints
  }
  throw new Error('the shared CQL server ends again and again')
}

/** Returns the CPU seconds of the shared server, or null if no server runs or `/proc` is missing. */
export async function sharedCqlSeconds(): Promise<number | null> {
  const socket = connect(sharedCqlPath())
  try {
    await once(socket, 'connect')
    const request: SharedCqlRequest = { run: null }
    socket.write(`${JSON.stringify(request)}\n`)
    const answer = JSON.parse((await firstLine(socket)) ?? '{}') as Partial<Record<'pid', number | null>>
    // After the name, which may hold spaces, user and system time are the 12th and the 13th.
    const stat = readFileSync(`/proc/${answer.pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) / 100
  } catch {
    return null
  } finally {
    socket.destroy()
  }
}

/** Connects to the keeper, and starts one if none is running. */
async function reachKeeper(): Promise<Socket> {
  const deadline = performance.now() + KEEPER_WITHIN_MS
  for (let started = false; ; started = true) {
    const socket = connect(sharedCqlPath())
    try {
      await once(socket, 'connect')
      // An ending keeper resets the connection; the end of the stream is handled likewise.
      socket.on('error', () => undefined)
      return socket
    } catch (error) {
      if (performance.now() > deadline)
        throw new Error('the shared CQL server does not start', { cause: error })
    }
    if (!started) spawn(process.execPath, [KEEPER], { detached: true, stdio: 'ignore' }).unref()
    await delay(100)
  }
}

/** Resolves with the first line, or undefined if the stream ends before. */
function firstLine(socket: Socket): Promise<string | undefined> {
  return new Promise((resolve) => {
    createInterface({ input: socket })
      .once('line', resolve)
      .once('close', () => resolve(undefined))
  })
}
