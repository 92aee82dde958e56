import type { Test } from 'tap'
import { notShown } from '../servers/not-run.ts'
import { linesWith } from './asking.ts'
import type { ServiceProcess } from './service-process.ts'

/** Logged of a unit, and of the service, that has not ended although it was killed. */
const OUTLIVED = 'ms after its kill'

/**
 * Ends a process by SIGTERM, and asserts that it drains. If the machine gives it no CPU time, it may exceed its deadline, says so
 * and ends with code 1 (src/docs/operations.md): then the assertion counts as not run.
 */
export async function drains(t: Test, service: ServiceProcess): Promise<void> {
  const ended = await service.end('SIGTERM')
  if (ended.code === 1 && linesWith(service, OUTLIVED) > 0)
    notShown(t, 'a process drains', 'the machine was starved: the drain exceeded its deadline')
  else t.match(ended, { code: 0, signal: null })
}
