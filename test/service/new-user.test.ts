import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { ROOT } from '../house/sources.ts'
import { notShown } from '../servers/not-run.ts'
import { PATIENT, until } from '../until.ts'

/** Ports of the service, and of the localnet's sockets and node, from the first one on. */
const PORTS = 4
const README = readFileSync(join(ROOT, 'README.md'), 'utf8')

/** Returns the indented lines below a heading of the README, without comments and answers. */
function commandsBelow(heading: string): string[] {
  const section = README.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0]
  if (section === undefined) throw new Error(`the README has no heading ${heading}`)
  const prose = section.replaceAll(/^```.*?^```$/gms, '')
  return [...prose.matchAll(/^ {4}(\S.*)$/gm)].map(([, line]) => line!.replace(/\s+# .*$/, ''))
}

/** Copies the files of the repository as a clone would have them, with uncommitted changes. */
function cloneInto(directory: string): void {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 2 ** 24
  })
  for (const path of listed.split('\0').filter((each) => each !== '' && existsSync(join(ROOT, each)))) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    cpSync(join(ROOT, path), join(directory, path))
  }
}

/** Returns the first of several free ports in a row. */
async function freePorts(count: number): Promise<number> {
  for (;;) {
    const first = await listening(0)
    const ports = Array.from({ length: count }, (_, at) => first + at)
    const free = await Promise.all(ports.map((port) => listening(port).catch(() => null)))
    if (!free.includes(null)) return first
  }
}

/** Listens on a port for a moment, and returns it. */
async function listening(port: number): Promise<number> {
  const server = createServer()
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const { port: bound } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return bound
}

/** Unit of the times in /proc. */
const TICKS_PER_SECOND = 100

/** Fields of a process in /proc, from its state on; null for an ended one. */
function statOf(pid: number | string): readonly string[] | null {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
  } catch {
    return null
  }
}

/** Returns seconds of the processor that a process and its descendants have used, ended ones included; 0 without /proc. */
function secondsOf(root: number): number {
  const stats = existsSync('/proc/self/stat') ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : []
  const processes = stats.flatMap((pid) => {
    const stat = statOf(pid)
    return stat === null ? [] : [{ pid: Number(pid), parent: Number(stat[1]), stat }]
  })
  const family = new Set([root])
  for (let size = 0; size !== family.size;) {
    size = family.size
    for (const { pid, parent } of processes) if (family.has(parent)) family.add(pid)
  }
  const ticks = processes
    .filter(({ pid }) => family.has(pid))
    // Times in user and system mode: its own, and of children that have ended.
    .map(({ stat }) => stat.slice(11, 15).reduce((sum, text) => sum + Number(text), 0))
  return ticks.reduce((sum, each) => sum + each, 0) / TICKS_PER_SECOND
}

/** A user at a shell in the clone. */
class User {
  readonly #clone: string
  readonly #ports: Readonly<Record<string, string>>
  readonly #environment: NodeJS.ProcessEnv
  readonly children = new Set<ChildProcess>()

  constructor(clone: string, ports: Readonly<Record<string, string>>) {
    this.#clone = clone
    this.#ports = ports
    const inherited = Object.entries(process.env).filter(
      ([name]) => !/^(MILLRACE_|NODE_|TAP|npm_)/i.test(name)
    )
    // Programs of the checkout are not those of a user.
    const path = (process.env.PATH ?? '').split(delimiter).filter((each) => !each.includes('node_modules'))
    const npm = { npm_config_prefer_offline: 'true', npm_config_update_notifier: 'false' }
    this.#environment = { ...Object.fromEntries(inherited), ...npm, PATH: path.join(delimiter) }
  }

  /** Sets a variable of the shell. */
  export(name: string, value: string): void {
    this.#environment[name] = value
  }

  /** Starts a line, with the ports of this test in place of the usual ones. */
  begin(line: string) {
    const text = line.replaceAll(/\b(89\d\d|9000)\b/g, (port) => this.#ports[port] ?? port)
    const child = spawn('bash', ['-c', text], {
      cwd: this.#clone,
      env: this.#environment,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe']
    })
    this.children.add(child)
    const closed = once(child, 'close').then(([code]) => {
      this.children.delete(child)
      return code as number | null
    })
    const said = { text: '' }
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (said.text += chunk.toString('utf8')))
    return {
      pid: child.pid!,
      said,
      closed,
      /** Resolves with the match once it has been printed; rejects if the command ends before. */
      says: (pattern: RegExp): Promise<RegExpExecArray> => {
        let ended = false
        void closed.then(() => (ended = true))
        return until(
          async () => {
            const found = pattern.exec(said.text)
            if (found === null && ended)
              throw new Error(`${text} ended without ${String(pattern)}:\n${said.text}`)
            return found
          },
          `${text} prints ${String(pattern)}`,
          PATIENT
        )
      },
      /** Presses Ctrl-C. */
      interrupt: async (): Promise<number | null> => {
        process.kill(-child.pid!, 'SIGINT')
        return closed
      }
    }
  }

  /** Runs a line to its end. Rejects with its output if it fails. */
  async run(line: string): Promise<string> {
    const { closed, said } = this.begin(line)
    if ((await closed) !== 0) throw new Error(`${line} failed:\n${said.text}`)
    return said.text
  }
}

/** An answer with rows. */
interface Answer {
  readonly data: readonly object[]
}

/** Processor seconds of each task: of the commands, and of the service beside them. */
const taken: { readonly task: string; readonly seconds: number }[] = []

async function timed<T>(task: string, run: () => Promise<T>): Promise<T> {
  const before = secondsOf(process.pid)
  const result = await run()
  taken.push({ task, seconds: secondsOf(process.pid) - before })
  return result
}

/** Returns the processor seconds of the cheapest of three runs: the first ones fill caches. */
async function leastSeconds(run: () => Promise<unknown>): Promise<number> {
  const seconds: number[] = []
  for (let n = 0; n < 3; n++) {
    const before = secondsOf(process.pid)
    await run()
    seconds.push(secondsOf(process.pid) - before)
  }
  return Math.min(...seconds)
}

t.test('a new user clones, installs, starts, and does ten tasks by the README alone', async (t: Test) => {
  // Not below the checkout, whose packages would stand in for missing ones.
  const folder = mkdtempSync(join(tmpdir(), 'millrace-new-user-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const clone = join(folder, 'clone')
  const [first, receiver] = [await freePorts(PORTS), await freePorts(1)]
  const ports = Array.from({ length: PORTS }, (_, at) => [String(8900 + at), String(first + at)] as const)
  const user = new User(clone, { ...Object.fromEntries(ports), 9000: String(receiver) })
  t.teardown(() => {
    for (const { pid } of user.children) process.kill(-pid!, 'SIGKILL')
    for (const { task, seconds } of taken) t.comment(`${seconds.toFixed(1).padStart(6)} s  ${task}`)
  })
  const todo = new Set([...commandsBelow('Start'), ...commandsBelow('First tasks')])
  /** Returns the command of the README that matches, and crosses it off. */
  const command = (pattern: RegExp): string => {
    const line = [...todo].find((each) => pattern.test(each))
    if (line === undefined) throw new Error(`the README has no further command ${String(pattern)}`)
    todo.delete(line)
    return line
  }

  cloneInto(clone)
  const install = command(/^npm ci$/)
  const installed = await timed('npm ci', () => user.run(install).catch((error: Error) => error))
  if (installed instanceof Error) {
    if (!/E(NOTFOUND|AI_AGAIN|CONNREFUSED|TIMEDOUT|NOTCACHED)/.test(installed.message)) throw installed
    return notShown(t, 'the first hour of a new user', 'npm cannot reach its registry')
  }
  t.notMatch(installed, /npm warn/i, 'npm ci prints no warning')

  const npx = await leastSeconds(() => user.run('npx -c true'))
  const help = await leastSeconds(() => user.run('npx millrace --help'))
  taken.push({ task: 'npx alone', seconds: npx }, { task: 'npx millrace --help', seconds: help })
  t.ok(help <= 2 * npx, `${help} s of the processor, at most twice the ${npx} s of npx alone`)

  user.export('MILLRACE_PORT', String(first))
  const start = command(/^npm start$/)
  let service = user.begin(start)
  const key = await timed('npm start', async () => {
    const [, shown] = await service.says(/demo key, shown only now: +(\S+)/)
    await service.says(/listening on/)
    return shown!
  })
  t.match(command(/^export KEY=/), 'export KEY=mr_live_')
  user.export('KEY', key)

  const curl = command(/^curl .*\/trades/)
  const request = async (): Promise<Answer> =>
    JSON.parse(await user.run(curl.replace(/^curl /, 'curl -sS '))) as Answer
  await timed('1. the first request', async () => {
    await until(async () => (await request()).data.length > 0, 'the past has trades', PATIENT)
    const shown = JSON.parse(/```json\n(.*?)```/s.exec(README)![1]!) as Answer
    const answer = await request()
    t.strictSame(Object.keys(answer), Object.keys(shown), 'the answer has the form that the README shows')
    t.strictSame(Object.keys(answer.data[0]!), Object.keys(shown.data[0]!), 'with its fields')
  })
  await timed('2. the page and the document open', async () => {
    for (const path of README.matchAll(/<http:\/\/127\.0\.0\.1:8900(\/?\w*)>/g)) {
      const response = await fetch(`http://127.0.0.1:${first}${path[1]!}`)
      t.match([response.status, await response.text()], [200, /<html/], path[0])
    }
  })
  await timed('3. a trade from the stream', async () => {
    const tail = user.begin(command(/millrace tail .*trades:/))
    await tail.says(/\b(buy|sell)\b/i)
    await tail.interrupt()
  })
  await timed('4. a webhook to a receiver of this machine', async () => {
    const created = await user.run(command(/webhooks create/))
    const [secret] = /whsec_\S+/.exec(created)!
    const listen = user.begin(command(/millrace listen/).replace('whsec_…', secret))
    await listen.says(/launch {2}/)
    await listen.interrupt()
  })
  await timed('5. a transaction on the localnet', async () => {
    t.match(await user.run(command(/tx transfer/)), /confirmed|finalized/)
  })
  await timed('6. a watched address', async () => {
    await user.run(command(/revenue watch/))
    const events = command(/revenue events/)
    await until(
      async () => /fee_wallet|Launchpad/.test(await user.run(events)),
      'the ledger has rows',
      () => 2_000
    )
  })
  await timed('7. an export to CSV', async () => {
    await user.run(command(/millrace export trades/))
    const [heading, ...rows] = readFileSync(join(clone, 'trades.csv'), 'utf8').trim().split('\n')
    t.match(heading, /cursor/)
    t.ok(rows.length > 10, `${rows.length} rows`)
  })
  await timed('8. the decoder alone', async () => {
    t.match(await user.run(command(/millrace decode/)), /"kind":"trade"|"venue":/)
  })
  await timed('the line of code', async () => {
    const code = `
      import { createMillrace } from 'millrace/client'
      const [url, key, mint] = ['http://127.0.0.1:8900', process.env.KEY, 'So11111111111111111111111111111111111111112']
      ${command(/^for await/)}`
    user.export('CODE', code.replace('8900', String(first)))
    const program = user.begin(`${process.execPath} --input-type=module -e "$CODE"`)
    await program.says(/^\d+(\.\d+)?$/m)
    await program.interrupt()
  })
  const older = `curl -sS -H "X-API-Key: $KEY" 'http://127.0.0.1:8900/v1/launches?limit=3&after=${await oldest()}'`
  const before = await user.run(older)
  await timed('9. a backup, and its restore', async () => {
    t.match(await user.run(command(/millrace backup/)), /files, .* MB/)
    await user.run(command(/millrace restore/))
  })
  await timed('10. stop, and start again', async () => {
    await service.interrupt()
    service = user.begin(start)
    await service.says(/listening on/)
    t.equal(await user.run(older), before, 'with the rows of before')
    await service.interrupt()
    service = user.begin(`${start} -- --data-dir ./restored`)
    await service.says(/listening on/)
    t.equal(await user.run(older), before, 'and on the restored folder')
  })
  await service.interrupt()
  t.strictSame([...todo], [], 'no command of the README is left')

  /** Returns a cursor within the launches, below which nothing changes. */
  async function oldest(): Promise<string> {
    const response = await fetch(`http://127.0.0.1:${first}/v1/launches?limit=5`, {
      headers: { 'x-api-key': key }
    })
    const { nextCursor } = (await response.json()) as { nextCursor: string }
    return encodeURIComponent(nextCursor)
  }
})
