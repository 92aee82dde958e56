import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const PAGE_BYTES = 4096
/** Unit of the processor times in /proc; Linux uses 100 on every machine that Node supports. */
const TICKS_PER_SECOND = 100

/** A server in its own process, whose memory and processor time are read from /proc. */
export interface MeasuredProcess {
  readonly pid: number
  readonly url: string
  /** Milliseconds from the spawn to the line that names the listening URL. */
  readonly listeningMs: number
  readonly stderr: readonly string[]
  rssMib(): number
  /** Resident memory without mapped files, whose pages the system takes back when memory is short. */
  anonymousMib(): number
  /** Processor time of all threads since the start, including ended ones, in steps of 10 ms. */
  cpuMs(): number
  /** Processor time of the threads that exist now, exact: for short spans of a process whose threads stay. */
  threadsCpuMs(): number
  send(message: string): void
  /** Sends a message and resolves with the process's next message. */
  ask(message: string): Promise<unknown>
  /** Ends the process with a signal, SIGTERM by default, and resolves with its exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>
}

/** Starts a script of this folder and resolves when it prints `listening on URL`. Rejects if it ends before. */
export async function startMeasured(
  script: string,
  args: readonly string[],
  options: { readonly env?: Readonly<Record<string, string>>; readonly nodeArgs?: readonly string[] } = {}
): Promise<MeasuredProcess> {
  const started = performance.now()
  const child = spawn(
    process.execPath,
    [...(options.nodeArgs ?? []), join(import.meta.dirname, script), ...args],
    {
      env: { PATH: process.env.PATH ?? '', ...options.env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc']
    }
  )
  const ended = once(child, 'exit')
  const stderr: string[] = []
  createInterface(child.stderr!).on('line', (line) => {
    stderr.push(line)
    if (stderr.length > 1000) stderr.shift()
  })
  const url = await listeningUrl(child, ended, stderr)
  const listeningMs = performance.now() - started
  return {
    url,
    listeningMs,
    stderr,
    ...figuresOf(child.pid!),
    send: (message) => void child.send(message),
    async ask(message) {
      const answered = once(child, 'message')
      child.send(message)
      const [answer] = (await answered) as [unknown]
      return answer
    },
    async end(signal = 'SIGTERM') {
      child.kill(signal)
      const [code] = (await ended) as [number | null]
      return code
    }
  }
}

/** Reads memory and processor time of any process from /proc. */
export function figuresOf(
  pid: number
): Pick<MeasuredProcess, 'pid' | 'rssMib' | 'anonymousMib' | 'cpuMs' | 'threadsCpuMs'> {
  const stat = (name: string): string => readFileSync(`/proc/${pid}/${name}`, 'utf8')
  return {
    pid,
    rssMib: () => (Number(stat('statm').split(' ')[1]) * PAGE_BYTES) / 2 ** 20,
    anonymousMib: () => Number(/^RssAnon:\s+(\d+) kB$/m.exec(stat('status'))![1]) / 1_024,
    cpuMs() {
      const fields = stat('stat').split(') ')[1]!.split(' ')
      return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND
    },
    threadsCpuMs() {
      const threads = readdirSync(`/proc/${pid}/task`)
      const nanos = threads.map((thread) => Number(stat(`task/${thread}/schedstat`).split(' ')[0]))
      return nanos.reduce((sum, n) => sum + n, 0) / 1e6
    }
  }
}

function listeningUrl(
  child: ChildProcess,
  ended: Promise<unknown>,
  stderr: readonly string[]
): Promise<string> {
  return new Promise((resolve, reject) => {
    createInterface(child.stdout!).on('line', (line) => {
      const url = /listening on (http:\S+)/.exec(line)?.[1]
      if (url !== undefined) resolve(url)
    })
    void ended.then(() => reject(new Error(`a server ended at its start:\n${stderr.join('\n')}`)))
  })
}
