import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { STORAGE, type StorageBody } from '../../src/store/bodies/storage.ts'
import { startBusyLocalnetProcess } from '../service/localnet-process.ts'
import { slotOf, until } from '../service/asking.ts'
import { ADMIN_KEY, runMillrace } from '../service/service-process.ts'
import { ownDirectory } from '../own-directory.ts'

const parsed = (stdout: string): StorageBody => STORAGE.parse(JSON.parse(stdout))
const bytesOf = ({ kinds }: StorageBody, name: string): number =>
  kinds.find(({ kind }) => kind === name)?.bytes ?? -1

t.test(
  'the bytes of a localnet are told by its service, of a snapshot beside it, and after it',
  async (t) => {
    const dataDir = ownDirectory(t)
    const service = await startBusyLocalnetProcess(t, dataDir, ['--localnet-slot-ms', '100'])
    await until(async () => (await slotOf(service)) > 100, 'blocks are indexed')
    // A starved service says that it takes too long.
    const told = await until(async () => {
      const { status, body } = await service.get('/v1/admin/storage')
      return status === 200 && (body as unknown as StorageBody)
    }, 'the store is measured')
    t.ok(told.bytes > 50_000, `${told.bytes} bytes`)
    t.ok(told.free_bytes! > 0 && told.newest_block_time! > told.oldest_block_time!)
    t.match([told.growth_bytes_per_day, told.days_left], [null, null], 'it runs for minutes only')

    const before = readdirSync(dataDir)
    const snapshot = await runMillrace(['storage', '--json', '--data-dir', dataDir])
    t.match(snapshot, { code: 0, stderr: /measuring a snapshot of it/ })
    t.ok(bytesOf(parsed(snapshot.stdout), 'trades by mint') > 10_000, 'a snapshot has its rows in tables')
    t.same(readdirSync(dataDir), before, 'no snapshot is left')

    const asked = await ask(['--url', service.url, '--json'])
    t.equal(asked.code, 0, asked.stderr)
    // Not compared with the earlier report: merged tables take fewer bytes.
    t.ok(parsed(asked.stdout).bytes > 50_000)
    t.match(await ask(['--url', service.url]), {
      code: 0,
      stdout: /^kind +bytes +kept +since +growth a day\n/
    })
    const refused = await ask(['--url', service.url], 'a-wrong-key-of-somebody')
    t.match(refused, { code: 1, stdout: '', stderr: /not known/ })

    t.same(await service.end('SIGTERM'), { code: 0, signal: null })
    const after = await runMillrace(['storage', '--data-dir', dataDir])
    t.match(after, { code: 0, stderr: '' })
    t.match(after.stdout, /^trades by mint +[\d.]+ [kM]B +2\.0 days +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +–$/m)
    t.match(after.stdout, /^candles +[\d.]+ [kM]?B +always /m)
    t.match(after.stdout, /^tenants, API keys and other documents +\d+ B +needed +– /m)
    t.match(
      after.stdout,
      /\n[\d.]+ [kM]B of blocks from .* UTC: its growth is known after an hour of blocks\n/
    )
    t.match(after.stdout, /\n[\d.]+ [MGTP]B free on its disk\n$/)
  }
)

t.test('without a store and a service, the command says so and creates nothing', async (t) => {
  const dataDir = join(t.testdir({}), 'none')
  t.match(await runMillrace(['storage', '--data-dir', dataDir]), {
    code: 1,
    stdout: '',
    stderr: /there is no store in .*--data-dir.*--url/
  })
  t.match(await ask(['--url', 'http://127.0.0.1:1']), { code: 1, stderr: /no service answers at/ })
  t.same(readdirSync(join(dataDir, '..')), [])
})

/** Runs `millrace storage` against a service, with an admin key; again where the service was too slow. */
const ask = (args: readonly string[], key = ADMIN_KEY) =>
  until(async () => {
    const told = await runMillrace(['storage', ...args], { MILLRACE_ADMIN_KEY: key })
    return !/took too long/.test(told.stderr) && told
  }, 'an answer')
