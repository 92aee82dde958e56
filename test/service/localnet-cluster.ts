import { join } from 'node:path'
import type { Test } from 'tap'
import type { Storage } from '../../storage/port.ts'
import { openScyllaStorage } from '../../storage/scylla/store.ts'
import type { CqlServer } from '../servers/cql.ts'
import { scyllaOptions } from '../storage/scylla-keyspace.ts'
import { clusterEnvironment, ownKeyspace } from './cluster.ts'
import { makeBusyLocalnet } from './localnet-process.ts'
import { startProcess, type ServiceProcess } from './service-process.ts'

/** Processes of one service on a CQL server and a Redis. The one that is named `first` has a busy localnet. */
export interface LocalnetCluster {
  readonly start: (name: string, ...more: readonly string[]) => Promise<ServiceProcess>
  /** Opens the store of all of them until the test ends. */
  readonly openStorage: () => Promise<Storage>
}

/** Makes the chain of a cluster. Its keyspace is dropped, and its processes are killed, after the test. */
export async function localnetCluster(
  t: Test,
  server: CqlServer,
  redisUrl: string,
  more: Readonly<Record<string, string>> = {}
): Promise<LocalnetCluster> {
  const keyspace = ownKeyspace(t, server)
  const environment = { ...clusterEnvironment(server, keyspace, redisUrl), ...more }
  const directory = t.testdir()
  await makeBusyLocalnet(join(directory, 'first'))
  return {
    async start(name, ...flags) {
      const dataDir = join(directory, name)
      const service = await startProcess({ dataDir, recordedDir: null, environment, more: flags })
      t.teardown(async () => {
        if (service.child.exitCode === null) await service.end('SIGKILL')
        if (!t.passing()) for (const line of service.stderr.slice(-20)) t.comment(line)
      })
      return service
    },
    async openStorage() {
      const storage = await openScyllaStorage(scyllaOptions(server, keyspace))
      t.teardown(() => storage.close())
      return storage
    }
  }
}
