import { join } from 'node:path'
import t from 'tap'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { ownDirectory } from '../own-directory.ts'
import { slotOf, until } from './asking.ts'
import { startBusyLocalnetProcess } from './localnet-process.ts'
import type { ServiceProcess } from './service-process.ts'
import { judgeSwarm, SLOTS, swarmUntil } from './stream-run.ts'

const FLAGS = ['--localnet-slot-ms', '120']

t.test(
  '50 clients that are cut off at random, and a service that is killed: each hears what the store has, once, in order, to the byte',
  async (t) => {
    const dataDir = ownDirectory(t)
    let service: ServiceProcess = await startBusyLocalnetProcess(t, dataDir, FLAGS)
    const heard = await swarmUntil(
      SLOTS,
      () => [service],
      async () => {
        await until(async () => (await slotOf(service)) >= SLOTS / 2, 'half of the slots')
        await service.end('SIGKILL')
        service = await startBusyLocalnetProcess(t, dataDir, FLAGS)
      }
    )
    t.match(await service.end('SIGTERM'), { code: 0 })
    const storage = await openEmbeddedStorage({ directory: join(dataDir, 'store') })
    t.teardown(() => storage.close())
    await judgeSwarm(t, heard, storage)
  }
)
