import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** What the reaper hears. */
export type ReaperLine = { started: number } | { ended: number } | { made: string } | { removed: string }

const STOPPED_WITHIN_MS = 5_000

let reaper: ChildProcess | undefined

/** Tells the reaper of this process, which is started with the first thing that it could leave behind. */
function tellReaper(line: ReaperLine): void {
  if (reaper === undefined) {
    reaper = spawn(process.execPath, [join(import.meta.dirname, 'reaper.ts')], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore']
    })
    // Neither holds up the end of a test: their end is what the reaper waits for.
    reaper.unref()
    ;(reaper.stdin as unknown as { unref(): void }).unref()
  }
  reaper.stdin!.write(`${JSON.stringify(line)}\n`)
}

/** Makes a folder for a server below the system's temporary one; it is gone with this process at the latest. */
export function makeServerFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `millrace-${name}-`))
  tellReaper({ made: folder })
  return folder
}

export function removeServerFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  tellReaper({ removed: folder })
}

export interface ServerCommand {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  /** A file for what the server says. */
  readonly log: string
  readonly address: string
  /** It is ready once it takes connections on this port. */
  readonly port: number
  readonly startWithinMs: number
}

/** A server of others that tests start, kill, pause and start again. It ends with the process that started it. */
export class ServerProcess {
  readonly #command: ServerCommand
  #child: ChildProcess | undefined

  constructor(command: ServerCommand) {
    this.#command = command
  }

  /** The id of the process, while it runs. */
  get pid(): number | undefined {
    return this.#child?.pid
  }

  /**
   * Starts it and resolves once it takes connections.
   *
   * @throws Error with the end of its log, if it ends before or takes too long
   */
  async start(): Promise<void> {
    if (this.#child !== undefined) throw new Error(`${this.#command.command} runs already`)
    const { command, args, cwd, log, address, port, startWithinMs } = this.#command
    const file = openSync(log, 'a')
    const child = spawn(command, args, { cwd, detached: true, stdio: ['ignore', file, file] })
    closeSync(file)
    this.#child = child
    // A command that is not there has no pid, and gives an error instead of an exit.
    child.once('error', () => this.#forget(child))
    child.once('exit', () => this.#forget(child))
    if (child.pid !== undefined) tellReaper({ started: child.pid })
    child.unref()
    const deadline = performance.now() + startWithinMs
    while (!(await takesConnections(address, port))) {
      const late = performance.now() > deadline
      if (this.#child === child && !late) {
        await delay(50)
        continue
      }
      await this.kill()
      const said = readFileSync(log, 'utf8').slice(-4_000)
      throw new Error(`${command} ${late ? 'was not ready in time' : 'ended at its start'}:\n${said}`)
    }
  }

  #forget(child: ChildProcess): void {
    if (child.pid !== undefined) tellReaper({ ended: child.pid })
    if (this.#child === child) this.#child = undefined
  }

  /** Ends it with SIGKILL, in whatever state it is, and resolves once it is gone. */
  async kill(): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    child.ref()
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }

  /** Kills and starts it. */
  async restart(): Promise<void> {
    await this.kill()
    await this.start()
  }

  /** SIGSTOP: its connections stay open, and nothing answers any more when this returns. */
  pause(): void {
    this.#signal('SIGSTOP')
    const deadline = performance.now() + STOPPED_WITHIN_MS
    while (!isStopped(this.pid!))
      if (performance.now() > deadline) throw new Error(`${this.#command.command} does not stop`)
  }

  /** SIGCONT. */
  resume(): void {
    this.#signal('SIGCONT')
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#child?.kill(signal) !== true) throw new Error(`${this.#command.command} does not run`)
  }
}

/** A thread stops when it is scheduled next: until then it may answer. Elsewhere than on Linux nobody says. */
function isStopped(pid: number): boolean {
  const threads = `/proc/${pid}/task`
  if (!existsSync(threads)) return true
  return readdirSync(threads).every((id) => {
    try {
      const stat = readFileSync(join(threads, id, 'stat'), 'utf8')
      return stat.startsWith(') T', stat.lastIndexOf(')'))
    } catch {
      // It has ended meanwhile.
      return true
    }
  })
}

/** Whether something listens there. */
function takesConnections(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port })
    socket.once('connect', () => resolve(true))
    socket.once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
