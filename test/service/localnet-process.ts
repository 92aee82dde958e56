import type { Test } from 'tap'
import { openLocalnet } from '../../src/localnet/localnet.ts'
import { systemPorts } from '../../src/ports.ts'
import { localnetDirectory } from '../../src/ingest/sources.ts'
import { until } from './asking.ts'
import { startProcess, type ServiceProcess } from './service-process.ts'

export interface LocalnetProcess extends ServiceProcess {
  /** URL of its node. */
  readonly rpcUrl: string
}

/**
 * Starts the service on a localnet that begins empty and has much activity within some hundred slots. Its chain is made
 * before the first start.
 */
export async function startBusyLocalnetProcess(
  t: Test,
  dataDir: string,
  more: readonly string[] = []
): Promise<LocalnetProcess> {
  await makeBusyLocalnet(dataDir)
  return startLocalnetProcess(t, dataDir, more)
}

/** Makes an empty chain with a busy market in a data folder, unless there is one. */
export async function makeBusyLocalnet(dataDir: string): Promise<void> {
  const onFault = (fault: unknown): never => {
    throw fault
  }
  const directory = localnetDirectory({ dataDir })
  const place = { directory, host: '127.0.0.1', port: 0, clock: systemPorts.clock }
  const net = await openLocalnet({ ...place, past: 'none', market: 'busy', onFault })
  await net.close()
}

/** Starts the service as a user without a node does, and resolves once the market's past is indexed and it is live. */
export async function startLocalnetProcess(
  t: Test,
  dataDir: string,
  more: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {}
): Promise<LocalnetProcess> {
  const service = await startProcess({ dataDir, recordedDir: null, more, environment })
  t.teardown(async () => {
    if (service.child.exitCode === null && service.child.signalCode === null) await service.end('SIGKILL')
    if (!t.passing()) for (const line of service.stderr.slice(-20)) t.comment(line)
  })
  const rpcUrl = service.stdout.map((line) => /not mainnet; its node: (\S+)/.exec(line)?.[1]).find(Boolean)
  if (rpcUrl === undefined) throw new Error('the service does not say that it is a localnet')
  const isLive = async (): Promise<boolean> => (await service.get('/v1/health', null)).body['status'] === 'ok'
  await until(isLive, 'the past is indexed')
  return Object.assign(service, { rpcUrl })
}
