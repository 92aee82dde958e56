import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { testWithFixtures } from '../fixtures.ts'
import { RawClient } from '../http/raw-client.ts'
import { testWithCql } from '../servers/cql.ts'
import { testWithOwnRedis } from '../servers/redis.ts'
import { answersOf, slotOf, until } from './asking.ts'
import { clusterEnvironment, clusterOf, ownKeyspace } from './cluster.ts'
import { byProcess, logOf, pidsOf } from './process-log.ts'
import { FIRST_SLOT } from './recorded-folder.ts'
import { ADMIN_KEY, runMillrace, type ServiceProcess } from './service-process.ts'

const BLOCKS = 90
const LAST_SLOT = FIRST_SLOT + (BLOCKS - 1) * 2
/** Two blocks a second: ingest runs while processes are killed. */
const SLOWLY = '22'
/** Pause of a caller after each answer, in milliseconds. */
const PAUSE_MS = 20
/** Connections while a gateway stands still: with two gateways, one in 10^7 runs gives it none of them. */
const CONNECTIONS = 24

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Codes of answers while the store is late. */
const LATE: readonly string[] = ['storage_unavailable', 'deadline_exceeded']

/** Resolves once a port has accepted a connection and received a request, with the status line of its answer; '' if none. */
async function asked(port: number): Promise<{ readonly status: Promise<string> }> {
  const client = new RawClient(port)
  await once(client.socket, 'connect')
  client.send('GET /live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  return { status: client.received.then((text) => text.split('\r\n')[0]!) }
}

/** Asks a service again and again, by new connections. */
class Caller {
  readonly #service: ServiceProcess
  readonly #done: Promise<void>
  #isOver = false
  answers = 0
  /** Answers other than 200, without those of a store that was late, as on a busy machine. */
  readonly others: string[] = []
  /** Connections that the port refused. */
  refused = 0
  /** Requests that a killed process had. */
  broken = 0

  constructor(service: ServiceProcess) {
    this.#service = service
    this.#done = this.#run()
  }

  async end(): Promise<void> {
    this.#isOver = true
    await this.#done
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      const headers = { 'x-api-key': ADMIN_KEY, connection: 'close' }
      try {
        const response = await fetch(`${this.#service.url}/v1/launches?limit=2`, { headers })
        const { code = '' } = (await response.json()) as { readonly code?: string }
        if (response.status === 200) this.answers++
        else if (!LATE.includes(code)) this.others.push(`${response.status} ${code}`)
      } catch (error) {
        const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException
        if (code === 'ECONNREFUSED') this.refused++
        else this.broken++
      }
      await delay(PAUSE_MS)
    }
  }
}

testWithFixtures(t, 'processes of one machine', (t) =>
  testWithCql(t, 'on one CQL server', (t, server) => {
    testWithOwnRedis(
      t,
      'share a port; a killed one and one that hangs are restarted, the port answers throughout, and no row is lost or doubled',
      async (t, redis) => {
        const { start, expected } = await clusterOf(t, server, { redisUrl: redis.url, blocks: BLOCKS })
        const more = ['--recorded-speed', SLOWLY, '--rate-limit-per-minute', '1000000']
        const service = await start('--processes', '4', ...more)
        for (const number of [1, 2, 3, 4])
          await until(async () => pidsOf(service, number).length === 1, `process ${number} is ready`)
        const leaders = async (): Promise<number[]> =>
          [...(await byProcess(service, 'millrace_lease_held{lease="ingest"'))]
            .filter(([, held]) => held === 1)
            .map(([number]) => number)
        const leader = await until(async () => (await leaders())[0] ?? null, 'one ingests')
        t.ok(leader <= 2, 'the first two ingest')
        t.same(
          [...(await byProcess(service, 'process_cpu_user_seconds_total')).keys()].toSorted(),
          [1, 2, 3, 4],
          'one answer has the metrics of all'
        )
        const fleet = async (): Promise<number> => (await service.get('/v1/admin/fleet')).body.data.length
        await until(async () => (await fleet()) === 4, 'the fleet has all')
        await until(async () => (await slotOf(service)) > FIRST_SLOT + 4, 'blocks are served')

        const caller = new Caller(service)
        const kill = async (number: number): Promise<void> => {
          const answers = caller.answers
          await until(async () => caller.answers > answers + 5, 'it is under load')
          process.kill(pidsOf(service, number).at(-1)!, 'SIGKILL')
          await until(async () => pidsOf(service, number).length >= 2, `process ${number} is back`)
        }
        /**
         * Lets a gateway hang while it has connections, until its parent has killed it. Resolves with the answers, once all
         * connections have ended.
         */
        const hang = async (number: number): Promise<string[]> => {
          process.kill(pidsOf(service, number).at(-1)!, 'SIGSTOP')
          const port = Number(new URL(service.url).port)
          const requests = await Promise.all(Array.from({ length: CONNECTIONS }, () => asked(port)))
          await until(async () => pidsOf(service, number).length >= 2, `process ${number} is back`)
          return Promise.all(requests.map(({ status }) => status))
        }
        await kill(leader)
        t.ok((await leaders()).length <= 1)
        const answers = await hang(3)
        t.ok(answers.includes(''), 'it had connections that it did not accept')
        t.ok(answers.includes('HTTP/1.1 200 OK'), 'the others are answered')
        await until(async () => (await slotOf(service)) === LAST_SLOT, 'the end')
        await caller.end()
        t.equal(caller.refused, 0, 'no connection is refused')
        t.same(caller.others, [])
        t.comment(`${caller.answers} answers, ${caller.broken} requests ended with the killed process`)
        t.strictSame(await answersOf(service), await expected(), 'the bytes of an undisturbed service')

        const pids = [1, 2, 3, 4].map((number) => pidsOf(service, number).at(-1)!)
        t.match(await service.end('SIGTERM'), { code: 0 })
        t.same(pids.filter(isAlive), [], 'all have ended')
        const said = logOf(service)
        t.ok(said.some(({ msg }) => /^process 3 is restarted: the process \d+ hung for 20 s/.test(msg)))
        for (const number of [1, 2, 3, 4])
          t.ok(
            said.some(({ process, msg }) => process === number && msg.includes('draining')),
            `process ${number} has drained`
          )
        // On a busy machine one may have to start a second time.
        t.ok(said.filter(({ msg }) => /^process \d is restarted/.test(msg)).length >= 2)
        t.equal(service.stdout.filter((line) => line.startsWith('listening on ')).length, 1)
      }
    )
    testWithOwnRedis(
      t,
      'end with their parent, even if it is killed; a start that the store refuses is refused once',
      async (t, redis) => {
        const { start } = await clusterOf(t, server, { redisUrl: redis.url, blocks: 10 })
        const service = await start('--processes', '2')
        for (const number of [1, 2])
          await until(async () => pidsOf(service, number).length === 1, `process ${number} is ready`)
        const pids = [1, 2].map((number) => pidsOf(service, number)[0]!)
        await service.end('SIGKILL')
        await until(async () => !pids.some(isAlive), 'they have ended')

        const wrong = clusterEnvironment(server, ownKeyspace(t, server), redis.url.replace('//', '//me:no@'))
        const args = ['serve', '--processes', '2', '--source', 'recorded', '--recorded-dir', t.testdir()]
        const refused = await runMillrace([...args, '--port', '0'], wrong)
        t.equal(refused.code, 1)
        t.equal(refused.stderr.match(/refuses: WRONGPASS/g)?.length, 1, refused.stderr)
      }
    )
  })
)

t.test('several processes with the embedded store are refused with the setting to change', async (t) => {
  const { code, stderr } = await runMillrace(['serve', '--processes', '3'])
  t.equal(code, 2)
  t.equal(
    stderr,
    'millrace: MILLRACE_PROCESSES=3 needs MILLRACE_STORAGE=scylla: only one process can open the embedded store\n'
  )
  const alone = await runMillrace(['serve', '--child', '1'])
  t.equal(alone.code, 2)
  t.match(alone.stderr, '--child is only for processes that --processes starts')
})
