import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** A message to the reaper: a process or a folder that now exists, or no longer does. */
export type ReaperLine = { started: number } | { ended: number } | { made: string } | { removed: string }

const STOPPED_WITHIN_MS = 5_000

let reaper: ChildProcess | undefined

/** Sends a message to the reaper of this process, which is started with the first message. */
function tellReaper(line: ReaperLine): void {
  if (reaper === undefined) {
    reaper = spawn(process.execPath, [join(import.meta.dirname, 'reaper.ts')], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore']
    })
    // Neither keeps this process alive: the reaper waits for its end.
    reaper.unref()
    ;(reaper.stdin as unknown as { unref(): void }).unref()
  }
  reaper.stdin!.write(`${JSON.stringify(line)}\n`)
}

/** Makes a folder for a server in the system's temporary folder. It is deleted at the end of this process at the latest. */
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
  /** File for the server's output. */
  readonly log: string
  readonly address: string
  /** Port that accepts connections once the server is ready. */
  readonly port: number
  readonly startWithinMs: number
  /**
   * Whether it belongs to the session of this process. Linux shares the processors between sessions first (autogroups): only
   * within one does a low priority let others go before. False by default.
   */
  readonly sharesSession?: boolean
}

/** A third-party server that tests start, kill, pause and restart. It ends with the process that started it. */
export class ServerProcess {
  readonly #command: ServerCommand
  #child: ChildProcess | undefined

  constructor(command: ServerCommand) {
    this.#command = command
  }

  /** Process id while it runs. */
  get pid(): number | undefined {
    return this.#child?.pid
  }

  /**
   * Starts the server and resolves once it accepts connections.
   *
   * @throws Error with the end of its log, if the server ends before that or takes too long
   */
  async start(): Promise<void> {
    if (this.#child !== undefined) throw new Error(`${this.#command.command} runs already`)
    const { command, args, cwd, log, address, port, startWithinMs, sharesSession = false } = this.#command
    const file = openSync(log, 'a')
    const child = spawn(command, args, { cwd, detached: !sharesSession, stdio: ['ignore', file, file] })
    closeSync(file)
    this.#child = child
    // A missing command has no pid, and causes an error instead of an exit.
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

  /** Ends it with SIGKILL, in any state, and resolves once the process has exited. */
  async kill(): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    child.ref()
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }

  /** Kills and restarts it. */
  async restart(): Promise<void> {
    await this.kill()
    await this.start()
  }

  /** Sends SIGSTOP and waits: connections stay open, and requests are no longer answered after this returns. */
  pause(): void {
    this.#signal('SIGSTOP')
    const deadline = performance.now() + STOPPED_WITHIN_MS
    while (!isStopped(this.pid!))
      if (performance.now() > deadline) throw new Error(`${this.#command.command} does not stop`)
  }

  /** Sends SIGCONT. */
  resume(): void {
    this.#signal('SIGCONT')
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#child?.kill(signal) !== true) throw new Error(`${this.#command.command} does not run`)
  }
}

/** A thread stops when it is next scheduled; until then it may answer. Only Linux shows the state of threads. */
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

/** Returns whether something listens on the port. */
function takesConnections(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port })
    socket.once('connect', () => resolve(true))
    socket.once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
