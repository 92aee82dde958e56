import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { figuresOf } from '../measured-process.ts'

/** A PostgreSQL of its own on loopback, in a directory that ends with it. */
export interface Postgres {
  readonly port: number
  readonly version: string
  connect(): Promise<pg.Client>
  /** CPU time of all of its current processes, in milliseconds. */
  cpuMs(): number
  end(): Promise<void>
}

/**
 * Starts PostgreSQL from a folder of its programs. PostgreSQL refuses to run as root; if this process is root, it runs as the
 * user `postgres`. Rejects with its output if it does not start.
 */
export async function startPostgres(binaries: string): Promise<Postgres> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-postgres-'))
  const owner = process.getuid?.() === 0 ? idsOf('postgres') : null
  if (owner !== null) chownSync(directory, owner.uid, owner.gid)
  const data = join(directory, 'data')
  const made = spawnSync(join(binaries, 'initdb'), ['-D', data, '-U', 'bench', '-A', 'trust', '-E', 'UTF8'], {
    ...owner,
    cwd: directory,
    encoding: 'utf8'
  })
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stdout}${made.stderr}`)
  const port = await freePort()
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    'shared_buffers=512MB',
    `unix_socket_directories=`
  ]
  const server = spawn(
    join(binaries, 'postgres'),
    ['-D', data, ...settings.flatMap((setting) => ['-c', setting])],
    { ...owner, cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] }
  )
  let log = ''
  server.stderr.on('data', (chunk: Buffer) => (log = (log + chunk.toString()).slice(-4_000)))
  const ended = once(server, 'exit')
  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client({ host: '127.0.0.1', port, user: 'bench', database: 'postgres' })
    await client.connect()
    return client
  }
  const first = await connected(connect, () => (server.exitCode === null ? null : log))
  const { rows } = await first.query<{ version: string }>('select version()')
  await first.end()
  return {
    port,
    version: rows[0]!.version,
    connect,
    cpuMs: () =>
      [server.pid!, ...childrenOf(server.pid!)].reduce((sum, pid) => sum + figuresOf(pid).threadsCpuMs(), 0),
    async end() {
      server.kill('SIGINT')
      await ended
      rmSync(directory, { recursive: true })
    }
  }
}

async function connected(
  connect: () => Promise<pg.Client>,
  failure: () => string | null
): Promise<pg.Client> {
  for (let tries = 0; ; tries++) {
    const log = failure()
    if (log !== null) throw new Error(`PostgreSQL ended: ${log}`)
    try {
      return await connect()
    } catch (error) {
      if (tries === 100) throw error
      await sleep(100)
    }
  }
}

function idsOf(user: string): { readonly uid: number; readonly gid: number } {
  const [, , uid, gid] =
    readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .find((line) => line.startsWith(`${user}:`))
      ?.split(':') ?? []
  if (uid === undefined) throw new Error(`there is no user ${user}, and PostgreSQL does not run as root`)
  return { uid: Number(uid), gid: Number(gid) }
}

const childrenOf = (parent: number): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')[1]) === parent
      } catch {
        // It has ended meanwhile.
        return false
      }
    })

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { readonly port: number }
  server.close()
  return port
}
