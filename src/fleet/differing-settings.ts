import type { Announcement } from './announcement.ts'

/** The variable of the nodes. A process that has one is right beside a process that has none. */
const NODES = 'MILLRACE_RPC_URL'
/** The value of `NODES` without a node. */
export const NO_NODES = 'none'
/** Its effect is on the other two: it is named only if those agree. */
const SOURCE = 'MILLRACE_SOURCE'
const BY_SOURCE = ['MILLRACE_RETENTION_DAYS', 'MILLRACE_REPLAY_HORIZON_SECONDS']

/**
 * Returns the settings of a process that differ from those of the service, by variable. The service has the value of most of
 * the processes that state the setting. If as many have another, the value of a process that ingests counts, then that of
 * the process that has run longest.
 */
export function differingSettings(own: Announcement, all: readonly Announcement[]): readonly string[] {
  const differing = Object.entries(own.settings)
    .filter(([name, value]) => value !== valueOf(name, all))
    .map(([name]) => name)
    .toSorted()
  return differing.some((name) => BY_SOURCE.includes(name))
    ? differing.filter((name) => name !== SOURCE)
    : differing
}

function valueOf(name: string, all: readonly Announcement[]): string | undefined {
  const stating = all.filter(({ settings }) => settings[name] !== undefined)
  const values = new Map<string, Announcement[]>()
  for (const each of stating) {
    const value = each.settings[name]!
    values.set(value, [...(values.get(value) ?? []), each])
  }
  if (name === NODES && values.size > 1) values.delete(NO_NODES)
  const ranked = [...values].sort(
    ([, a], [, b]) => b.length - a.length || ingesting(b) - ingesting(a) || longestSince(a) - longestSince(b)
  )
  return ranked[0]?.[0]
}

const ingesting = (processes: readonly Announcement[]): number =>
  processes.some(({ roles }) => roles.includes('ingest')) ? 1 : 0

const longestSince = (processes: readonly Announcement[]): number =>
  Math.min(...processes.map(({ startedAtMs }) => startedAtMs))
