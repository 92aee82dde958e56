import { readdirSync } from 'node:fs'
import t from 'tap'
import { until } from '../service/asking.ts'
import { startBusyLocalnetProcess } from '../service/localnet-process.ts'
import { runMillrace } from '../service/service-process.ts'
import { ownDirectory } from '../own-directory.ts'

t.test('verify finds no difference in the store of a service that goes on writing', async (t) => {
  const dataDir = ownDirectory(t)
  const service = await startBusyLocalnetProcess(t, dataDir, ['--localnet-slot-ms', '100'])
  const slot = async (): Promise<number> => Number((await service.get('/v1/health', null)).body['slot'])
  const before = readdirSync(dataDir)
  for (let n = 0; n < 3; n++) {
    const begun = await slot()
    const { code, stdout, stderr } = await runMillrace(['verify', '--data-dir', dataDir])
    t.same([code, stdout], [0, ''], stderr)
    t.match(stderr, /comparing a snapshot of it[^]*\n[1-9]\d* candles of [1-9]\d* mints .*: 0 differences/)
    await until(async () => (await slot()) > begun + 5, 'the service goes on')
  }
  t.same(readdirSync(dataDir), before, 'no snapshot is left')
  t.same(await service.end('SIGTERM'), { code: 0, signal: null })
  t.match(await runMillrace(['verify', '--store', '--data-dir', dataDir]), { code: 0 }, 'its files are sound')
  const after = await runMillrace(['verify', '--data-dir', dataDir])
  t.equal(after.code, 0)
  t.notMatch(after.stderr, 'snapshot')
})
