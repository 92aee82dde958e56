import type { StartWait } from '../../storage/scylla/start-wait.ts'

/**
 * Start options of a service: servers that have just started create tables slowly. A process that gets its options as text
 * must add them. Ten times the slowest start on a busy machine.
 */
export const START_WAIT: StartWait = {
  ms: 300_000,
  waiting: () => undefined,
  end: new AbortController().signal
}
