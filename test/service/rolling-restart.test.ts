import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { testWithFixtures } from '../fixtures.ts'
import { until } from './asking.ts'
import { recordedBlocks, writeLines } from './recorded-folder.ts'
import { RoundRobin } from './round-robin.ts'
import { ADMIN_KEY, startProcess } from './service-process.ts'

/** Several times as long as the balancer believes an answer of `/ready`. */
const DELAY_SECONDS = 4
/** Pause of a caller after each answer, in milliseconds: without it, the callers use all of the machine. */
const PAUSE_MS = 10

testWithFixtures(
  t,
  'two processes that are restarted one after the other under load refuse no request of a balancer',
  async (t) => {
    const directory = t.testdir({ blocks: {} })
    const recordedDir = join(directory, 'blocks')
    writeLines(recordedDir, 'all.ndjson', recordedBlocks(10))
    const start = async (name: string) => {
      const more = ['--drain-delay-seconds', String(DELAY_SECONDS), '--rate-limit-per-minute', '1000000']
      const service = await startProcess({ dataDir: join(directory, name), recordedDir, more })
      t.teardown(async () => {
        if (service.child.exitCode === null) await service.end('SIGKILL')
      })
      return service
    }
    const balancer = await RoundRobin.start(t)
    let [first, second] = await Promise.all([start('first'), start('second')])
    for (const { url } of [first, second]) balancer.add(url)
    const ready = (service: typeof first): Promise<unknown> =>
      until(async () => (await service.get('/ready', null)).status === 200, 'it is ready')
    await Promise.all([ready(first), ready(second)])

    const statuses = new Map<string, number>()
    let isOver = false
    const caller = async (): Promise<void> => {
      while (!isOver) {
        const response = await fetch(`${balancer.url}/v1/launches?limit=5`, {
          headers: { 'x-api-key': ADMIN_KEY }
        })
        const { code = '' } = (await response.json()) as { code?: string }
        const said = `${response.status} ${code}`.trim()
        statuses.set(said, (statuses.get(said) ?? 0) + 1)
        await delay(PAUSE_MS)
      }
    }
    const callers = Array.from({ length: 4 }, caller)
    const answered = (url: string): number => balancer.answers.get(url) ?? 0
    for (const each of ['first', 'second'] as const) {
      const old = each === 'first' ? first : second
      const before = answered(old.url)
      await until(async () => answered(old.url) > before + 20, 'it is under load')
      const ended = old.end('SIGTERM')
      await old.said(/draining/)
      t.match(await old.get('/ready', null), { status: 503, body: { status: 'draining' } })
      t.match(await old.get('/v1/health', null), { status: 503, body: { status: 'draining' } })
      t.equal((await old.get('/live', null)).status, 200)
      t.equal((await old.get('/v1/launches')).status, 200, 'it still answers')
      t.match(await ended, { code: 0, signal: null })
      const restarted = await start(each)
      if (each === 'first') first = restarted
      else second = restarted
      balancer.add(restarted.url)
      await ready(restarted)
      await until(async () => answered(restarted.url) > 20, 'it takes its part of the load')
    }
    isOver = true
    await Promise.all(callers)
    t.equal(balancer.refused, 0)
    t.same([...statuses.keys()], ['200'])
    t.comment(`${statuses.get('200')} requests`)
    // Without a delay of its own, the test would wait for both.
    for (const service of [first, second]) await service.end('SIGKILL')
  }
)
