import type { Config } from './config.ts'

const DAY_SECONDS = 86_400
/**
 * Default retention in days, by source; null keeps rows forever. A localnet writes gigabytes a day that nobody needs.
 */
const RETENTION_DAYS = { localnet: 2, rpc: 90, yellowstone: 90, recorded: null } as const
/**
 * Seconds for which events are stored beyond the replay horizon. A replay that begins at the horizon then finds its
 * rows while it reads.
 */
const MARGIN_SECONDS = 60

type Setup = Pick<Config, 'source' | 'retentionDays' | 'replayHorizonSeconds'>

/** Returns the retention of rows in seconds before the head's block time; null for no limit. */
export function retentionSecondsOf({ source, retentionDays }: Setup): number | null {
  const days = retentionDays ?? RETENTION_DAYS[source]
  return days === null ? null : days * DAY_SECONDS + MARGIN_SECONDS
}

/**
 * Returns the replay horizon in seconds before the head's block time, at most the retention; null for all that is
 * stored.
 */
export function replaySecondsOf(setup: Setup): number | null {
  const retention = retentionSecondsOf(setup)
  const horizon = setup.source === 'recorded' ? Infinity : setup.replayHorizonSeconds
  const seconds = Math.min(retention === null ? Infinity : retention - MARGIN_SECONDS, horizon)
  return seconds === Infinity ? null : seconds
}

/** Returns the retention of the stream's events in seconds; null for no limit. */
export function logSecondsOf(setup: Setup): number | null {
  const seconds = replaySecondsOf(setup)
  return seconds === null ? null : seconds + MARGIN_SECONDS
}
