import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { ROOT } from '../house/sources.ts'

/** Given by the operator, so that a test has it after every restart. */
export const ADMIN_KEY = 'an-admin-key-of-the-tests'

/** The service as a user starts it, in its own process, on a free port. */
export interface ServiceProcess {
  readonly url: string
  readonly child: ChildProcess
  readonly stdout: readonly string[]
  readonly stderr: readonly string[]
  /** Resolves once a line of standard error matches. */
  said(pattern: RegExp): Promise<void>
  get(path: string, key?: string | null): Promise<{ status: number; headers: Headers; body: Body }>
  /** Signals the process and resolves with how it ended. */
  end(signal: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

/** A response's JSON; a test reads the fields that it expects. */
export interface Body {
  readonly [field: string]: unknown
  readonly data: readonly Readonly<Record<string, unknown>>[]
  readonly code: string
  readonly children: readonly { readonly name: string }[]
  readonly venues: Readonly<Record<string, { readonly events: Readonly<Record<string, number>> }>>
}

export interface ServiceFlags {
  readonly dataDir: string
  /** Null names no source. */
  readonly recordedDir: string | null
  readonly more?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** Called with every line of standard error. */
  readonly onStderr?: (line: string) => void
  /** Folder of the sources; that of this version by default. */
  readonly root?: string
}

/** Starts a command of millrace, without the environment's own MILLRACE_ variables. */
export function spawnMillrace(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  root = ROOT
): ChildProcess {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('MILLRACE_'))
  return spawn(process.execPath, [join(root, 'src/kernel/cli/millrace.js'), ...args], {
    env: { ...Object.fromEntries(inherited), ...environment },
    stdio: ['pipe', 'pipe', 'pipe']
  })
}

/** Runs a command of millrace to its end. */
export async function runMillrace(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  root = ROOT
) {
  const child = spawnMillrace(args, environment, root)
  const [stdout, stderr, [code, signal]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  ])
  return { stdout, stderr, code, signal }
}

/** Starts the service and waits for the line that names its URL. */
export async function startProcess(flags: ServiceFlags): Promise<ServiceProcess> {
  const source =
    flags.recordedDir === null ? [] : ['--source', 'recorded', '--recorded-dir', flags.recordedDir]
  const args = ['serve', ...source, '--data-dir', flags.dataDir]
  const child = spawnMillrace(
    [...args, '--port', '0', ...(flags.more ?? [])],
    { MILLRACE_ADMIN_KEY: ADMIN_KEY, ...flags.environment },
    flags.root
  )
  const stdout: string[] = []
  const stderr: string[] = []
  const ended = once(child, 'exit')
  const lines = { stdout: createInterface(child.stdout!), stderr: createInterface(child.stderr!) }
  lines.stdout.on('line', (line) => stdout.push(line))
  lines.stderr.on('line', (line) => {
    stderr.push(line)
    flags.onStderr?.(line)
  })

  const seen = (of: 'stdout' | 'stderr', pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const known = (of === 'stdout' ? stdout : stderr).find((line) => pattern.test(line))
      if (known !== undefined) return resolve(known)
      const check = (line: string): void => {
        if (!pattern.test(line)) return
        lines[of].off('line', check)
        resolve(line)
      }
      lines[of].on('line', check)
      void ended.then(([code]) =>
        reject(new Error(`ended with ${String(code)} before ${String(pattern)}:\n${stderr.join('\n')}`))
      )
    })

  const url = /http:\S+/.exec(await seen('stdout', /^listening on /))![0]
  return {
    url,
    child,
    stdout,
    stderr,
    said: async (pattern) => void (await seen('stderr', pattern)),
    async get(path, key = ADMIN_KEY) {
      const response = await fetch(url + path, { headers: key === null ? {} : { 'x-api-key': key } })
      const text = await response.text()
      const isJson = response.headers.get('content-type')?.includes('json') ?? false
      return {
        status: response.status,
        headers: response.headers,
        body: isJson ? (JSON.parse(text) as Body) : ({ text } as unknown as Body)
      }
    },
    async end(signal) {
      child.kill(signal)
      const [code, by] = (await ended) as [number | null, NodeJS.Signals | null]
      return { code, signal: by }
    }
  }
}
