import type { StartWait } from '../../storage/scylla/start-wait.ts'

/**
 * As a service waits: servers that have just started make tables slowly. A process that is given its options as text has to
 * add it. Chosen: ten times the slowest start on a machine with much else to do.
 */
export const START_WAIT: StartWait = {
  ms: 300_000,
  waiting: () => undefined,
  end: new AbortController().signal
}
