import { join } from 'node:path'
import type { Test } from 'tap'
import { newKeyspaceName, type CqlServer } from '../servers/cql.ts'
import { endClient } from '../servers/plain-client.ts'
import { lendKeyspace, rawClient } from '../storage/scylla-keyspace.ts'
import { answersOf } from './asking.ts'
import { recordedBlocks, writeLines } from './recorded-folder.ts'
import { startProcess, type ServiceProcess } from './service-process.ts'

/** Number of the last log lines of a process that are shown when its test fails. */
const LINES_SAID = 40

/** Environment of each of several processes of one service, so that they find one store and each other. */
export function clusterEnvironment(
  { contactPoints, port, datacenter, credentials }: CqlServer,
  keyspace: string,
  redisUrl: string | null
): Record<string, string> {
  return {
    MILLRACE_STORAGE: 'scylla',
    MILLRACE_WEBHOOK_SECRET_KEY: 'a'.repeat(64),
    MILLRACE_SCYLLA_CONTACT_POINTS: contactPoints.join(','),
    MILLRACE_SCYLLA_PORT: String(port),
    MILLRACE_SCYLLA_DATACENTER: datacenter,
    MILLRACE_SCYLLA_KEYSPACE: keyspace,
    ...(credentials && {
      MILLRACE_SCYLLA_USERNAME: credentials.username,
      MILLRACE_SCYLLA_PASSWORD: credentials.password
    }),
    ...(redisUrl !== null && { MILLRACE_REDIS_URL: redisUrl })
  }
}

/** Returns the name of a keyspace that is dropped after the test. */
export function ownKeyspace(t: Test, server: CqlServer): string {
  const keyspace = newKeyspaceName()
  t.teardown(async () => {
    const client = await rawClient(server)
    await client.execute(`DROP KEYSPACE IF EXISTS ${keyspace}`)
    await endClient(client)
  })
  return keyspace
}

export interface Cluster {
  readonly start: (...more: readonly string[]) => Promise<ServiceProcess>
  /** Returns the answers of an undisturbed service on the embedded store. */
  readonly expected: () => Promise<string[]>
}

/** Answers of an undisturbed service, by the number of recorded blocks; the tests of a file share them. */
const undisturbed = new Map<number, Promise<string[]>>()

function answersOnceRead(dataDir: string, recordedDir: string, blocks: number): Promise<string[]> {
  const answers = (async () => {
    const service = await startProcess({ dataDir, recordedDir })
    await service.said(/the source has no more blocks/)
    const answers = await answersOf(service)
    await service.end('SIGTERM')
    return answers
  })()
  undisturbed.set(blocks, answers)
  return answers
}

/**
 * A service of any number of processes that reads recorded blocks, in a keyspace with empty tables, or in a given one.
 */
export async function clusterOf(
  t: Test,
  server: CqlServer,
  options: {
    readonly redisUrl: string | null
    readonly blocks: number
    readonly keyspace?: string
    readonly onStderr?: (line: string) => void
  }
): Promise<Cluster> {
  const {
    redisUrl,
    blocks,
    keyspace = (await lendKeyspace(t, server)).keyspace,
    onStderr = () => undefined
  } = options
  const directory = t.testdir({ blocks: {} })
  const recordedDir = join(directory, 'blocks')
  writeLines(recordedDir, 'all.ndjson', recordedBlocks(blocks))
  const environment = clusterEnvironment(server, keyspace, redisUrl)
  let started = 0
  return {
    async start(...more) {
      const dataDir = join(directory, `data-${++started}`)
      const service = await startProcess({ dataDir, recordedDir, environment, more, onStderr })
      t.teardown(async () => {
        if (service.child.exitCode === null) await service.end('SIGKILL')
        if (!t.passing()) for (const line of service.stderr.slice(-LINES_SAID)) t.comment(line)
      })
      return service
    },
    expected: () =>
      undisturbed.get(blocks) ?? answersOnceRead(join(directory, 'embedded'), recordedDir, blocks)
  }
}
