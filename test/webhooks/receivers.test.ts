import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import { PooledSender } from '../../actors/webhooks/sender.ts'
import { systemPorts } from '../../src/ports.ts'
import { UrlGuard } from '../../src/webhooks/url-guard.ts'
import { WebhookSecrets } from '../../src/webhooks/webhook-secrets.ts'
import { notRun } from '../servers/not-run.ts'
import { PAGE } from './webhooks-page.ts'

/** The first compilation of Go's library on a machine takes half a minute. */

const FOLDER = join(import.meta.dirname, 'receivers')

interface Language {
  readonly name: string
  readonly file: string
  /** The language of its block on the page. */
  readonly block: string
  /** A program and arguments that succeed where the language is there. */
  readonly probe: readonly string[]
  /** Returns the program and arguments of the receiver. */
  readonly command: (t: Test, file: string) => readonly string[]
}

const LANGUAGES: readonly Language[] = [
  {
    name: 'TypeScript',
    file: 'receiver.ts',
    block: 'ts',
    probe: [process.execPath, '--version'],
    command: (_, file) => [process.execPath, file]
  },
  {
    name: 'Python',
    file: 'receiver.py',
    block: 'python',
    probe: ['python3', '--version'],
    command: (_, file) => ['python3', file]
  },
  {
    name: 'Go',
    file: 'receiver.go',
    block: 'go',
    probe: ['go', 'version'],
    // Built first: a program that `go run` starts does not end with it.
    command(t, file) {
      const program = join(t.testdir(), 'receiver')
      const { status, stderr } = spawnSync('go', ['build', '-o', program, file], { encoding: 'utf8' })
      if (status !== 0) throw new Error(stderr)
      return [program]
    }
  }
]

const KEY = new Uint8Array(32).fill(1)
const HOOK = { tenant: 'acme', id: 42 }
const never = new AbortController().signal

for (const { name, file, block, probe, command } of LANGUAGES) {
  const [program, ...args] = probe
  const title = `the receiver of the page in ${name} prints what is signed, and refuses the rest`
  if (spawnSync(program!, args).status !== 0) notRun(t, title, `${name} is not installed`)
  else
    t.test(title, async (t) => {
      const secrets = new WebhookSecrets(KEY)
      const made = secrets.make(HOOK)
      const [path, ...words] = command(t, join(FOLDER, file))
      const child = spawn(path!, words, {
        env: { ...process.env, PORT: '0', WEBHOOK_SECRET: made.secret },
        stdio: ['ignore', 'pipe', 'inherit']
      })
      t.teardown(() => void child.kill('SIGKILL'))
      const lines: string[] = []
      createInterface(child.stdout).on('line', (line) => lines.push(line))
      const port = (): string | undefined => /listening\D.*\D(\d+)\D*$/m.exec(lines.join('\n'))?.[1]
      while (port() === undefined) await once(child.stdout, 'data')

      const guard = new UrlGuard({ allowPrivate: true })
      const sender = new PooledSender({ guard, clock: systemPorts.clock })
      t.teardown(() => sender.close())
      const post = async (
        id: string,
        change: (headers: Record<string, string>) => void = () => undefined
      ) => {
        const body = Buffer.from(
          JSON.stringify({
            webhook_id: 42,
            batch_id: id,
            events: [{ channel: 'launches', data: { name: `é ${id}` } }]
          })
        )
        const rotated = secrets.rotate(
          { ...HOOK, secrets: made.secrets },
          { nowMs: Date.now(), previousExpiresAtMs: Date.now() + 60_000, operation: 'a' }
        )
        const hook = { ...HOOK, secrets: id === 'rotated' ? rotated.secrets : made.secrets }
        const nowMs = Date.now() - (id === 'old' ? 400_000 : 0)
        const headers = secrets.headers(hook, { id, body, nowMs, attempt: 1 })
        change(headers)
        const url = `http://127.0.0.1:${port()!}/hook`
        const outcome = await sender.post('acme', { url, headers, body }, never)
        return outcome.kind === 'answered' ? outcome.status : outcome.error
      }
      t.equal(await post('first'), 204)
      t.equal(await post('rotated'), 204, 'the secret of before a rotation')
      t.equal(await post('old'), 400)
      t.equal(await post('changed', (headers) => (headers['webhook-id'] = 'msg_x')), 400)
      t.equal(await post('unsigned', (headers) => (headers['webhook-signature'] = 'v1,')), 400)
      t.equal(await post('last'), 204)
      const printed = (): string[] => lines.filter((line) => line.startsWith('launches '))
      while (printed().length < 3) await once(child.stdout, 'data')
      t.same(
        printed().map((line) => JSON.parse(line.slice('launches '.length)) as unknown),
        ['first', 'rotated', 'last'].map((id) => ({ name: `é ${id}` }))
      )
    })
  t.test(`the page has the receiver in ${name} as it is run`, async (t) => {
    const code = readFileSync(join(FOLDER, file), 'utf8').trimEnd()
    t.ok(PAGE.includes(`\`\`\`${block}\n${code}\n\`\`\``))
  })
}
