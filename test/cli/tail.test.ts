import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t, { type Test } from 'tap'
import { VENUE_IDS } from '../../src/chain/venue-id.ts'
import type { JsonSchema } from '../../src/kernel/http/json-schemas.ts'
import { WSOL } from '../../src/market/cash.ts'
import { closed } from '../http/contract.ts'
import { freePort } from '../servers/free-port.ts'
import { startBusyLocalnetProcess, type LocalnetProcess } from '../service/localnet-process.ts'
import { ADMIN_KEY, spawnMillrace } from '../service/service-process.ts'
import { ownDirectory } from '../own-directory.ts'

interface Line {
  readonly kind: string
  readonly channel: string
  readonly cursor: number
  readonly replay: boolean
  readonly data: Readonly<Record<string, unknown>>
}

/** `millrace tail` in its own process. */
class Tail {
  readonly child
  readonly lines: string[] = []
  readonly stderr: string[] = []
  readonly #parsed: Line[] = []
  readonly #ended: Promise<unknown[]>

  constructor(t: Test, args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
    this.child = spawnMillrace(['tail', ...args], environment)
    this.#ended = once(this.child, 'close')
    createInterface(this.child.stdout!).on('line', (line) => this.lines.push(line))
    createInterface(this.child.stderr!).on('line', (line) => this.stderr.push(line))
    t.teardown(() => void this.child.kill('SIGKILL'))
  }

  /** Its lines as JSON. */
  get parsed(): readonly Line[] {
    while (this.#parsed.length < this.lines.length)
      this.#parsed.push(JSON.parse(this.lines[this.#parsed.length]!) as Line)
    return this.#parsed
  }

  /** Returns its lines once they meet a condition. */
  async until(isEnough: (lines: readonly Line[]) => boolean): Promise<readonly Line[]> {
    for (;;) {
      const lines = [...this.parsed]
      if (isEnough(lines)) return lines
      await Promise.race([once(this.child.stdout!, 'data'), this.#ended])
      if (this.child.exitCode !== null) throw new Error(this.stderr.join('\n'))
    }
  }

  async ended(): Promise<number | null> {
    const [code] = await this.#ended
    return code as number | null
  }

  interrupt(): Promise<number | null> {
    this.child.kill('SIGINT')
    return this.ended()
  }
}

/** The service that all tests read but the last one, which restarts its own. */
const service = await startBusyLocalnetProcess(t, ownDirectory(t), ['--localnet-slot-ms', '100'])
const at = ({ url }: LocalnetProcess): string[] => ['--url', url, '--key', ADMIN_KEY]
const cursors = (lines: readonly Line[]): number[] => lines.map(({ cursor }) => cursor)

t.test('every kind of event comes as the document says, a JSON object a line', async (t) => {
  const channels = [`trades:${WSOL}`, `price:${WSOL}`, 'launches', 'curves', 'pools']
  const tail = new Tail(t, [
    ...channels,
    ...VENUE_IDS.map((venue) => `venue:${venue}`),
    '--json',
    ...at(service)
  ])
  const kinds = ['trade', 'price', 'launch', 'curve', 'liquidity', 'pool']
  const lines = await tail.until((lines) => kinds.every((kind) => lines.some((line) => line.kind === kind)))
  t.equal(await tail.interrupt(), 0)
  t.match(tail.stderr.at(-1), /resume with --since \d+/)

  const document = (await service.get('/asyncapi.json', null)).body as unknown as JsonSchema
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
  ajv.addSchema({ ...closed(document), $id: 'document' })
  const faults = lines.flatMap(({ kind, channel, data, cursor }) => {
    const check = ajv.getSchema(`document#/components/messages/${channel.split(':')[0]}/payload`)!
    if (check({ type: 'event', channel, data, cursor })) return []
    return [`${kind}: ${ajv.errorsText(check.errors)}`]
  })
  t.strictSame(faults.slice(0, 5), [])
  t.strictSame(
    cursors(lines),
    cursors(lines).toSorted((a, b) => a - b)
  )
  t.ok(lines.every(({ data, cursor }) => data.cursor === cursor))
})

t.test('a tail that goes on since its cursor prints what an uninterrupted one does', async (t) => {
  const channels = [`trades:${WSOL}`, `price:${WSOL}`, '--json', ...at(service)]
  const whole = new Tail(t, channels)
  const [first] = await whole.until((lines) => lines.length > 20)
  const part = new Tail(t, [...channels, '--since', String(first!.cursor)])
  const begun = await part.until((lines) => lines.length > 20)
  t.equal(await part.interrupt(), 0)
  const since = /--since (\d+)/.exec(part.stderr.at(-1)!)![1]!
  const printed = part.parsed
  await whole.until((lines) => lines.at(-1)!.cursor > printed.at(-1)!.cursor + 3 * 2 ** 20)
  const rest = new Tail(t, [...channels, '--since', since])
  const more = await rest.until((lines) => lines.some(({ replay }) => !replay))
  t.ok(begun[0]!.replay && more[0]!.replay)
  const until = more.at(-1)!.cursor
  const all = await whole.until((lines) => lines.at(-1)!.cursor > until)
  t.strictSame(
    cursors([...printed, ...more]),
    cursors(all).filter((cursor) => cursor > first!.cursor && cursor <= until)
  )
})

t.test('lines for people name what happened; a reader that leaves ends it', async (t) => {
  const tail = new Tail(t, [`trades:${WSOL}`, '--url', service.url], { MILLRACE_KEY: ADMIN_KEY })
  while (tail.lines.length === 0) await once(tail.child.stdout!, 'data')
  t.match(tail.lines[0], /^\d\d:\d\d:\d\d\.\d{3}  [a-z0-9-]+  (buy |sell|swap)  /)
  tail.child.stdout!.destroy()
  t.equal(await tail.ended(), 0)
})

t.test('a key that is refused ends it with 1, usage that cannot be meant with 2', async (t) => {
  const refused = new Tail(t, ['launches', '--url', service.url, '--key', 'no-such-key'])
  t.equal(await refused.ended(), 1)
  t.match(refused.stderr.join('\n'), /stream_key_refused: this API key is not known/)
  // No later test reads it, and its market takes half a processor.
  t.equal((await service.end('SIGTERM')).code, 0)
  const bad: [args: string[], says: RegExp][] = [
    [['--key', 'k'], /CHANNEL is missing/],
    [['launches'], /MILLRACE_KEY/],
    [['launch', '--key', 'k'], /"launch" is not a channel/],
    [['trades:nothing', '--key', 'k'], /not an address/],
    [['launches', '--key', 'k', '--since', 'yesterday'], /yesterday is not a cursor/],
    [['launches', '--key', 'k', '--url', 'nowhere'], /nowhere is not a URL/],
    [['launches', '--key', 'k', '--colour', 'red'], /--colour/]
  ]
  for (const [args, says] of bad) {
    const tail = new Tail(t, args)
    t.equal(await tail.ended(), 2, args.join(' '))
    t.match(tail.stderr.join('\n'), says)
    t.match(tail.stderr.at(-1), /millrace tail/, 'and where its use is told')
  }
})

t.test('a tail lives through a restart of the service, and misses nothing', async (t) => {
  const dataDir = ownDirectory(t)
  const flags = ['--localnet-slot-ms', '100', '--port', String(await freePort(['127.0.0.1']))]
  const before = await startBusyLocalnetProcess(t, dataDir, flags)
  const tail = new Tail(t, [`trades:${WSOL}`, '--json', ...at(before)])
  const early = await tail.until((lines) => lines.length > 5)
  t.equal((await before.end('SIGTERM')).code, 0)
  const after = await startBusyLocalnetProcess(t, dataDir, flags)
  const lines = await tail.until((all) => all.length > early.length + 20 && !all.at(-1)!.replay)
  t.equal(await tail.interrupt(), 0)
  t.ok(tail.stderr.some((line) => /reconnecting in \d+ ms/.test(line)))
  const [oldest, newest] = [cursors(lines)[0]!, cursors(lines).at(-1)!]
  const stored: number[] = []
  for (let page = ''; ;) {
    const { body } = await after.get(`/v1/tokens/${WSOL}/trades?order=asc&limit=1000${page}`)
    stored.push(...body.data.map(({ cursor }) => cursor as number))
    if (typeof body.nextCursor !== 'string') break
    page = `&after=${body.nextCursor}`
  }
  t.strictSame(
    cursors(lines),
    stored.filter((cursor) => cursor >= oldest && cursor <= newest)
  )
})
