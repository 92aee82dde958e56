import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createInterface } from 'node:readline'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/**
 * One CQL server for the test files of a run: a process of its own has it, which the first user starts and which ends
 * with its last one. A user holds a connection to it, so that a user that crashes is gone as well.
 */
const KEEPER = join(import.meta.dirname, 'shared-cql-keeper.ts')
const KEEPER_WITHIN_MS = 60_000
/** The shortest that a system has for the path of a socket is 104 bytes (macOS), with the zero at the end. */
const SOCKET_PATH_MAX = 100
/** How often a user asks again that came when the last one had just gone. */
const ATTEMPTS = 3

/** What a user says at first. */
export interface SharedCqlRequest {
  /** The process that runs one test file after another; null outside of such a run. */
  readonly run: number | null
}

export type SharedCqlAnswer = { readonly contactPoints: string[] } | { readonly error: string }

/** Where the keeper listens: one for each user of the machine and each checkout. */
export function sharedCqlPath(): string {
  const checkout = createHash('sha256')
    .update(import.meta.dirname)
    .digest('hex')
    .slice(0, 12)
  const name = `millrace-cql-${userInfo().uid}-${checkout}.sock`
  const path = join(tmpdir(), name)
  return path.length <= SOCKET_PATH_MAX ? path : join('/tmp', name)
}

let shared: Promise<string[]> | undefined

/** Contact points of the server that the test files share; it stays until this process ends. */
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

/** A connection to the keeper, which is started where there is none. */
async function reachKeeper(): Promise<Socket> {
  const deadline = performance.now() + KEEPER_WITHIN_MS
  for (let started = false; ; started = true) {
    const socket = connect(sharedCqlPath())
    try {
      await once(socket, 'connect')
      // A keeper that ends resets it, which its end of stream says as well.
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

/** The first line that comes, or undefined if none does before the end. */
function firstLine(socket: Socket): Promise<string | undefined> {
  return new Promise((resolve) => {
    createInterface({ input: socket })
      .once('line', resolve)
      .once('close', () => resolve(undefined))
  })
}
