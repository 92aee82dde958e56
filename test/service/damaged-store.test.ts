import { cpSync, existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { testWithFixtures } from '../fixtures.ts'
import t from 'tap'
import { damagedCopy, filesOf, settle } from '../storage/damaged-store.ts'
import { damageRecords } from '../storage/embedded-directory.ts'
import { recordedBlocks, writeLines } from './recorded-folder.ts'
import { runMillrace, startProcess, type ServiceProcess } from './service-process.ts'
import { storedRows } from './stored-rows.ts'

const BLOCKS = 60
const WSOL = 'So11111111111111111111111111111111111111112'
/** Each takes six starts of a process; `embedded-damage.test.ts` tests many places. */
const PLACES = 1

testWithFixtures(
  t,
  'a store with zeros at any place of a table is served but for what is lost, and is as before once it is repaired',
  async (t) => {
    const directory = t.testdir({ blocks: {} })
    const recordedDir = join(directory, 'blocks')
    writeLines(recordedDir, 'all.ndjson', recordedBlocks(BLOCKS))
    const sound = join(directory, 'sound')
    const ingest = async (dataDir: string): Promise<ServiceProcess> => {
      const service = await startProcess({ dataDir, recordedDir })
      await service.said(/the source has no more blocks/)
      return service
    }
    const first = await ingest(sound)
    const mints = (await first.get('/v1/launches?limit=5')).body.data.map(({ mint }) => String(mint))
    mints.push(WSOL)
    const paths = mints.flatMap((mint) => [
      `/v1/tokens/${mint}`,
      `/v1/tokens/${mint}/trades?limit=100`,
      `/v1/tokens/${mint}/price`,
      `/v1/tokens/${mint}/candles?interval=1m&limit=100`,
      `/v1/tokens/${mint}/pools`
    ])
    paths.push('/v1/launches?limit=100', '/v1/stats', '/v1/trending')
    /** Returns the answers of all paths by status and body, without fields that depend on the time of the request. */
    const answersOf = async (service: ServiceProcess): Promise<Map<string, string>> => {
      const answers = new Map<string, string>()
      for (const path of paths) {
        const { status, body } = await service.get(path)
        answers.set(
          path,
          `${status} ${JSON.stringify(body, (name, value: unknown) => (/ingested_at|received/.test(name) ? null : value))}`
        )
      }
      return answers
    }
    const expected = await answersOf(first)
    await first.end('SIGTERM')
    await settle(join(sound, 'store'))
    const rows = await storedRows(join(sound, 'store'))

    const [file] = filesOf(join(sound, 'store'), /\.ldb$/)
    const size = statSync(join(sound, 'store', file!)).size
    const places = fc.sample(fc.noBias(fc.integer({ min: 0, max: size - 1 })), { numRuns: PLACES, seed: 7 })
    for (const [n, offset] of places.entries()) {
      const dataDir = join(directory, `damaged-${n}`)
      cpSync(sound, dataDir, { recursive: true })
      damagedCopy(join(sound, 'store'), join(dataDir, 'store'), { file: file!, offset })
      const name = `zeros from byte ${offset} of ${size} on`
      const found = await runMillrace(['verify', '--store', '--data-dir', dataDir])
      t.match(found, { code: 1, signal: null }, `${name}: verify ends by itself`)
      t.match(found.stdout, new RegExp(`"file":"${file!}"`), 'and names the file')

      const service = await startProcess({ dataDir, recordedDir }).catch((error: Error) => error)
      if (service instanceof Error) {
        t.match(
          service.message,
          /(cannot be read|lost tenants or API keys): .*millrace repair/,
          `${name}: it says why it does not start`
        )
      } else {
        for (const [path, answer] of await answersOf(service))
          if (answer !== expected.get(path)) t.match(answer, /^503 .*storage_unavailable/, `${name}: ${path}`)
        const { status, body } = await service.get('/v1/health')
        t.match(
          { status, body },
          {
            status: 503,
            body: { status: 'degraded', reasons: [{ code: 'data_stale' }, { code: 'store_damaged' }] }
          }
        )
        t.match(await service.end('SIGTERM'), { code: 0, signal: null }, `${name}: the service goes on`)
      }

      const source = ['--source', 'recorded', '--recorded-dir', recordedDir, '--data-dir', dataDir]
      const repaired = await runMillrace(['repair', ...source])
      t.match(repaired, { code: 0, signal: null }, `${name}: repaired`)
      t.match(repaired.stdout, new RegExp(file!))
      const [aside] = readdirSync(dataDir).filter((name) => name.startsWith('store.damaged-'))
      t.ok(existsSync(join(dataDir, aside!, 'CURRENT')), 'the damaged store is kept')
      const again = await ingest(dataDir)
      t.strictSame(await answersOf(again), expected, `${name}: the answers are those of the sound store`)
      await again.end('SIGTERM')
      const after = await storedRows(join(dataDir, 'store'))
      t.strictSame(after.records, rows.records, `${name}: and it has as many records of each kind`)
      const checked = await runMillrace(['verify', '--data-dir', dataDir])
      t.match(checked, { code: 0, signal: null }, `${name}: verify finds no difference`)
      t.match(await runMillrace(['verify', '--store', '--data-dir', dataDir]), { code: 0 })
    }
  }
)

testWithFixtures(
  t,
  'a damaged record that a running service meets degrades health, is logged once, and ends ingest',
  async (t) => {
    const directory = t.testdir({ some: {}, all: {} })
    const blocks = recordedBlocks(BLOCKS)
    writeLines(join(directory, 'some'), 'all.ndjson', blocks.slice(0, BLOCKS / 2))
    writeLines(join(directory, 'all'), 'all.ndjson', blocks)
    const dataDir = join(directory, 'data')
    const first = await startProcess({ dataDir, recordedDir: join(directory, 'some') })
    await first.said(/the source has no more blocks/)
    await first.end('SIGTERM')
    t.ok((await damageRecords(join(dataDir, 'store'), Buffer.from('l'))) > 0)

    const service = await startProcess({ dataDir, recordedDir: join(directory, 'all') })
    await service.said(/ingest waits: the store is damaged/)
    t.match(await service.get('/v1/launches'), { status: 503, body: { code: 'storage_unavailable' } })
    t.match(await service.get('/v1/launches'), { status: 503 })
    const health = await service.get('/v1/health')
    t.equal(health.status, 503)
    const { slot } = health.body as { readonly slot?: number }
    t.ok(slot! < blocks.at(-1)!.slot, 'blocks are taken in until the damage is met, and none after it')
    t.match(health.body, {
      status: 'degraded',
      reasons: [{ code: 'data_stale' }, { code: 'store_damaged' }]
    })
    t.equal((await service.get(`/v1/tokens/${WSOL}/trades`)).status, 200, 'what is sound is served')
    await service.said(/the store is damaged: launch [0-9a-f]+ is damaged/)
    const told = service.stderr.filter((line) =>
      /the store is damaged: launch [0-9a-f]+ is damaged/.test(line)
    )
    t.equal(new Set(told.map((line) => /launch [0-9a-f]+/.exec(line)![0])).size, told.length, 'each once')
    t.match(await service.end('SIGTERM'), { code: 0, signal: null })
    const [trusted] = filesOf(join(dataDir, 'store'), /^millrace-sound-files/)
    t.equal(trusted, undefined, 'the next start verifies every file')
  }
)
