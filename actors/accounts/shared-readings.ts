import { AvailableReadings } from '../../src/accounts/available-readings.ts'
import type { Logger } from '../../src/kernel/telemetry/logger.ts'
import type { SharedReadings } from '../../storage/port/readings.ts'
import { aborted } from '../supervision/aborted.ts'
import type { Run } from '../supervision/process.ts'

/** Readings of accounts that all processes of a service share; null in a process that shares them with no other. */
export interface Readings {
  readonly shared: SharedReadings | null
}

/**
 * Gives the readings that this process shares with others: in Redis, and in the store while Redis is unreachable or not
 * configured. A change of server is one line in the log.
 */
export function sharedReadings<Needs>(
  logger: Pick<Logger, 'info' | 'warn'>,
  serversOf: (needs: Needs) => readonly [redis: SharedReadings | null, store: SharedReadings | null]
): Run<Needs, Readings> {
  return async ({ input, draining, ready, gauge }) => {
    const [redis, store] = serversOf(input)
    const note = (isRedis: boolean): void => {
      if (isRedis) logger.info('readings of accounts are shared over Redis again')
      else
        logger.warn(
          'Redis is unreachable; until it is back, readings of accounts are shared by the store, and a change reaches other gateways within a second'
        )
    }
    const shared =
      redis === null || store === null ? (redis ?? store) : new AvailableReadings(redis, store, note)
    gauge('shared', () => (shared?.available === true ? 1 : 0))
    gauge('notified', () => (shared?.notifies === true ? 1 : 0))
    ready({ shared })
    await aborted(draining)
  }
}
