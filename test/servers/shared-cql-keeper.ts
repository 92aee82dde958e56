/**
 * Runs the CQL server that test files share. It starts the server with the first user, and ends the server and itself
 * without users: outside of a run at once, otherwise within a second of the run's end.
 */
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { CqlCluster } from './cql-cluster.ts'
import { sharedCqlPath, type SharedCqlAnswer, type SharedCqlRequest } from './shared-cql.ts'

const POLL_INTERVAL_MS = 250
/** Milliseconds until the starting process must have connected. */
const FIRST_USER_WITHIN_MS = 15_000

const users = new Set<Socket>()
const runs = new Set<number>()
let cluster: Promise<CqlCluster> | undefined
let usedAt = performance.now()

const server = createServer((socket) => {
  users.add(socket)
  socket.on('error', () => undefined)
  socket.once('close', () => {
    users.delete(socket)
    usedAt = performance.now()
  })
  createInterface({ input: socket }).once('line', (line) => void answer(socket, line))
})

async function answer(socket: Socket, line: string): Promise<void> {
  const { run } = JSON.parse(line) as SharedCqlRequest
  if (run !== null) runs.add(run)
  // It serves many files: compiled for speed, it shortens their run by a tenth.
  cluster ??= CqlCluster.start({ fast: true, disposable: true })
  const told: SharedCqlAnswer = await cluster.then(
    ({ contactPoints, nodes }) => ({ contactPoints, pid: nodes[0]?.pid ?? null }),
    (error: unknown) => ({ error: `the shared CQL server does not start: ${String(error)}` })
  )
  socket.write(`${JSON.stringify(told)}\n`)
}

/** Listens. Returns false if another keeper does already. */
async function listen(path: string): Promise<boolean> {
  for (let last = false; ; last = true) {
    try {
      server.listen(path)
      await once(server, 'listening')
      return true
    } catch (error) {
      if (last || (await isAnswered(path))) return false
      // The socket file of a killed keeper.
      if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') rmSync(path, { force: true })
    }
  }
}

async function isAnswered(path: string): Promise<boolean> {
  const socket = connect(path)
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

function isOver(): boolean {
  if (users.size > 0) return false
  const idle = performance.now() - usedAt
  if (cluster === undefined) return idle > FIRST_USER_WITHIN_MS
  return ![...runs].some(isAlive)
}

if (await listen(sharedCqlPath())) {
  while (!isOver()) await delay(POLL_INTERVAL_MS)
  server.close()
  // A server that failed to start has ended itself.
  await cluster?.then((started) => started.end()).catch(() => undefined)
}
