import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { formatKey } from '../../storage/codec/keys.ts'
import { formatKind } from '../../storage/codec/kinds.ts'
import { packRecord } from '../../storage/codec/record.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { sampleBlock } from '../../storage/test/sample-blocks.ts'
import { withRawStore } from '../storage/embedded-directory.ts'
import { spawnMillrace, startProcess } from './service-process.ts'
import { storedRows } from './stored-rows.ts'

/** Starts the service on a data directory and gives how it ended on its own. */
async function failing(dataDir: string, recordedDir: string) {
  const started = Date.now()
  const flags = ['--recorded-dir', recordedDir, '--data-dir', dataDir, '--port', '0']
  const child = spawnMillrace(['serve', '--source', 'recorded', ...flags])
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, 'exit') as Promise<[number | null]>
  ])
  const lines = stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { level: number; msg: string; unit?: string; time: number })
  return { stdout, lines, code, ms: Date.now() - started }
}

/** A store of two blocks. */
async function fill(directory: string): Promise<void> {
  const storage = await openEmbeddedStorage({ directory })
  for (const index of [0, 1]) await storage.blocks.commit(sampleBlock(3, index))
  await storage.close()
}

t.test(
  'a store that cannot be opened ends the service with 1, and each try is a line that says why',
  async (t) => {
    const directory = t.testdir({ blocks: {}, locked: {}, corrupt: {}, newer: {}, foreign: { store: {} } })
    const store = (name: string): string => join(directory, name, 'store')
    for (const name of ['locked', 'corrupt', 'newer']) await fill(store(name))
    const before = await storedRows(store('locked'))
    writeFileSync(join(store('corrupt'), 'CURRENT'), 'no manifest is called so')
    await withRawStore(store('newer'), (raw) =>
      raw.put(formatKey(), Buffer.from(packRecord(formatKind, formatKey(), 99)))
    )
    await withRawStore(store('foreign'), (raw) => raw.put(Buffer.from('anything'), Buffer.from('else')))

    const fail = (name: string) => failing(join(directory, name), join(directory, 'blocks'))
    // The failing starts mostly wait, so they wait side by side.
    const [locked, corrupt, newer, foreign] = await withRawStore(store('locked'), () =>
      Promise.all([fail('locked'), fail('corrupt'), fail('newer'), fail('foreign')])
    )
    for (const [name, { stdout, lines, code, ms }, reason] of [
      ['locked', locked, /is open in another process/],
      ['corrupt', corrupt, /cannot be opened: .*(Corruption|CURRENT|manifest|IO error)/i],
      ['newer', newer, /has format 99, newer than 3/],
      ['foreign', foreign, /holds something else than a store/]
    ] as const) {
      t.equal(code, 1, name)
      t.equal(stdout, '', 'it never says that it listens')
      t.match(lines.at(-1), { level: 60, msg: /^the service failed: STORAGE_UNAVAILABLE: / })
      const tries = lines.filter(({ unit }) => unit === 'storage')
      for (const { msg } of [...tries, lines.at(-1)!]) t.match(msg, /STORAGE_UNAVAILABLE/)
      t.ok(
        lines.some((line) => reason.test(JSON.stringify(line))),
        `${name}: ${lines.at(-1)!.msg}`
      )
      t.ok(tries.length >= 5 && tries.length <= 40, `${name} was tried ${tries.length} times in ${ms} ms`)
      t.ok(ms > 1_000 && ms < 40_000, 'it waits between tries, and not for ever')
    }
    t.strictSame(await storedRows(store('locked')), before, 'the store of the other process is as it was')
  }
)

t.test('a store whose lock is given up in time is opened, and the service serves', async (t) => {
  const directory = t.testdir({ blocks: {}, data: { store: {} } })
  const flags = { dataDir: join(directory, 'data'), recordedDir: join(directory, 'blocks') }
  const refused = Promise.withResolvers<void>()
  const onStderr = (line: string): void => {
    if (line.includes('is open in another process')) refused.resolve()
  }
  const { starting } = await withRawStore(join(directory, 'data/store'), async () => {
    const starting = startProcess({ ...flags, onStderr })
    await refused.promise
    return { starting }
  })
  const service = await starting
  t.equal((await service.get('/v1/launches')).status, 200)
  t.match(await service.end('SIGTERM'), { code: 0 })
})
