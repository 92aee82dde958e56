import type { Config } from './config.ts'

const DAY_SECONDS = 86_400
/** Days that rows are kept unless told otherwise; null for ever. A localnet fills gigabytes a day that nobody needs. */
const RETENTION_DAYS = { localnet: 2, rpc: 90, yellowstone: 90, recorded: null } as const
/** Rows are kept for so much longer than replays reach back: a replay that begins at the horizon finds them while it reads. */
const MARGIN_SECONDS = 60

type Setup = Pick<Config, 'source' | 'retentionDays' | 'replayHorizonSeconds'>

/** Seconds that rows are kept, counted back from the head's block time; null for ever. */
export function retentionSecondsOf({ source, retentionDays }: Setup): number | null {
  const days = retentionDays ?? RETENTION_DAYS[source]
  return days === null ? null : days * DAY_SECONDS + MARGIN_SECONDS
}

/** Seconds that replays reach back from the head's block time, as long as rows are kept; null for all that is stored. */
export function replaySecondsOf(setup: Setup): number | null {
  const kept = retentionSecondsOf(setup)
  const asked = setup.source === 'recorded' ? Infinity : setup.replayHorizonSeconds
  const seconds = Math.min(kept === null ? Infinity : kept - MARGIN_SECONDS, asked)
  return seconds === Infinity ? null : seconds
}

/** Seconds that the events of the stream are kept; null for ever. */
export function logSecondsOf(setup: Setup): number | null {
  const seconds = replaySecondsOf(setup)
  return seconds === null ? null : seconds + MARGIN_SECONDS
}
