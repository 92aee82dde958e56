import type { Test } from 'tap'
import { startProcess, type ServiceProcess } from './service-process.ts'

export interface LocalnetProcess extends ServiceProcess {
  /** Where its node listens. */
  readonly rpcUrl: string
}

/** The service as somebody starts it who has no node. */
export async function startLocalnetProcess(
  t: Test,
  dataDir: string,
  more: readonly string[] = []
): Promise<LocalnetProcess> {
  const service = await startProcess({ dataDir, recordedDir: null, more })
  t.teardown(async () => {
    if (service.child.exitCode === null && service.child.signalCode === null) await service.end('SIGKILL')
    if (!t.passing()) for (const line of service.stderr.slice(-20)) t.comment(line)
  })
  const rpcUrl = service.stdout.map((line) => /not mainnet; its node: (\S+)/.exec(line)?.[1]).find(Boolean)
  if (rpcUrl === undefined) throw new Error('the service does not say that it is a localnet')
  return Object.assign(service, { rpcUrl })
}
