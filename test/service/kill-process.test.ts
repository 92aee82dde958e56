import { join } from 'node:path'
import { pino } from 'pino'
import t from 'tap'
import type { TreeNode } from '../../actors/supervision/live-tree.ts'
import type { Supervision } from '../../actors/supervision/supervisor.ts'
import { readConfig } from '../../src/configuration.ts'
import { PRODUCTS } from '../products/loaded-products.ts'
import { startService } from '../../src/service.ts'
import { testWithFixtures } from '../fixtures.ts'
import { until } from './asking.ts'
import { FIRST_SLOT, recordedBlocks, writeLines } from './recorded-folder.ts'
import { storedRows } from './stored-rows.ts'

const BLOCKS = 300
const LAST_SLOT = FIRST_SLOT + (BLOCKS - 1) * 2
const ADMIN_KEY = 'an-admin-key-of-the-tests'

interface Running {
  readonly supervision: Supervision
  readonly logged: readonly string[]
  readonly instances: () => Readonly<Record<string, number>>
  /** Returns the newest slot as a user sees it; null while no process answers or no block is indexed. */
  readonly head: () => Promise<number | null>
  readonly get: (path: string) => Promise<Response>
}

/** Runs the service in this process, with the system's own ports. */
function start(dataDir: string, recordedDir: string): Running {
  const reading = readConfig(
    ['--source', 'recorded', '--recorded-dir', recordedDir, '--data-dir', dataDir, '--port', '0'],
    { MILLRACE_ADMIN_KEY: ADMIN_KEY }
  )
  if (reading.kind === 'invalid') throw new Error(reading.problems.join('\n'))
  const logged: string[] = []
  let port = 0
  const supervision = startService({
    products: PRODUCTS,
    config: { ...reading.config, recordedDir },
    logger: pino({ base: null }, { write: (line: string) => void logged.push(line) }),
    version: 'test',
    onFirstKeys: () => undefined,
    onListening: (bound) => (port = bound)
  })
  const get = (path: string) =>
    fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'x-api-key': ADMIN_KEY, connection: 'close' } })
  const head = async (): Promise<number | null> => {
    const response = await get('/v1/health').catch(() => null)
    if (response === null) return null
    return ((await response.json()) as { slot?: number | null }).slot ?? null
  }
  const instances = (): Record<string, number> => {
    const found: Record<string, number> = {}
    const visit = (node: TreeNode): void => {
      found[node.name] = node.instance
      for (const child of node.children) visit(child)
    }
    visit(supervision.tree())
    return found
  }
  return { supervision, logged, instances, head, get }
}

const ALL = ['storage', 'chain', 'source', 'ingest', 'views', 'ranking', 'edge'] as const
/** Processes that restart with a killed one: itself and those inside it. */
const INSIDE: Readonly<Record<string, readonly string[]>> = {
  storage: ALL,
  'chain/source': ['source', 'ingest'],
  'chain/ingest': ['ingest'],
  'views/ranking': ['ranking'],
  edge: ['edge']
}

testWithFixtures(
  t,
  'each process killed in the middle of ingest comes back with what is inside it, and no row is lost or repeated',
  async (t) => {
    const directory = t.testdir({ blocks: {}, undisturbed: {}, disturbed: {} })
    const recorded = join(directory, 'blocks')
    writeLines(recorded, 'all.ndjson', recordedBlocks(BLOCKS))
    const undisturbed = start(join(directory, 'undisturbed'), recorded)
    await until(async () => (await undisturbed.head()) === LAST_SLOT, 'the end of an undisturbed run')
    await undisturbed.supervision.drain()
    const expected = await storedRows(join(directory, 'undisturbed/store'))

    const { supervision, logged, instances, head, get } = start(join(directory, 'disturbed'), recorded)
    t.teardown(() => supervision.drain())
    const kills = [
      'chain/ingest',
      'edge',
      'chain/source',
      'storage',
      'chain/ingest',
      'storage',
      'chain/source',
      'edge',
      'views/ranking'
    ]
    let seen = -1
    for (const [index, path] of kills.entries()) {
      // The next kill waits for new blocks, so that it hits a working ingest.
      await until(async () => ((await head()) ?? -1) > seen, `blocks before kill ${index}`)
      seen = (await head())!
      t.ok(seen < LAST_SLOT, `kill ${index} of ${path} after block ${(seen - FIRST_SLOT) / 2} of ${BLOCKS}`)
      const before = instances()
      t.equal(supervision.kill(path, new Error(`kill number ${index}`)), true)
      const renewed = INSIDE[path]!
      await until(
        async () => renewed.every((name) => instances()[name]! > before[name]!),
        `${renewed.join(', ')} anew after ${path}`
      )
      const now = instances()
      for (const name of ['service', ...ALL].filter((name) => !renewed.includes(name)))
        t.equal(now[name], before[name], `${name} is the same instance after a kill of ${path}`)
    }
    await until(async () => (await head()) === LAST_SLOT, 'the end in spite of all kills')
    const tree = (await (await get('/v1/admin/tree')).json()) as TreeNode
    const at = (name: string): TreeNode => {
      const found = [...tree.children, ...tree.children.flatMap(({ children }) => children)]
      return found.find((node) => node.name === name)!
    }
    t.match(at('storage'), { state: /fresh|stable/, restarts: 2, last_error: { message: 'kill number 5' } })
    t.match(at('source'), { restarts: 4, last_error: { message: 'kill number 6' } })
    // A killed store may close during the preparation of a commit; then that is the later error.
    t.match(at('ingest'), { restarts: 6, last_error: { message: /kill number 4|the store is closed/ } })
    t.match(at('ranking'), { restarts: 3, last_error: { message: 'kill number 8' } })
    t.match(at('edge'), { restarts: 4, last_error: { message: 'kill number 7' } })
    t.equal(tree.restarts, 0, 'the service itself never failed')
    for (const index of kills.keys())
      t.ok(
        logged.some((line) => line.includes(`kill number ${index}`)),
        'the kill is a log line'
      )
    t.equal(supervision.kill('chain/nothing'), false)
    t.match(await supervision.drain(), { kind: 'stopped' })
    t.strictSame(await storedRows(join(directory, 'disturbed/store')), expected)
  }
)
