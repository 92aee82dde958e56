import type { Config } from './config.ts'

type Role = Config['role'][number]

const ROLES = ['ingest', 'gateway', 'delivery'] as const satisfies readonly Role[]
/** Maximum processes that each have all roles. With one more, two gateways remain beside the two that ingest. */
const ALIKE_MAX = 3
/** Processes from which delivery has processes of its own: two ingest, two deliver, and two are gateways. */
const APART_MIN = 6

/**
 * Returns the roles of each of the processes that a machine runs (`MILLRACE_PROCESSES`). With Redis each role is in two of
 * them at least, so that another process takes over its work. Without Redis one process ingests, and one delivers. Roles that
 * the operator has chosen are those of each process.
 */
export function rolesOfProcesses({
  processes,
  role,
  redisUrl
}: Pick<Config, 'processes' | 'role' | 'redisUrl'>): readonly (readonly Role[])[] {
  const all = (count: number, ...roles: readonly Role[]) => Array.from({ length: count }, () => roles)
  if (role.length < ROLES.length) return all(processes, ...role)
  if (redisUrl !== null) {
    if (processes <= ALIKE_MAX) return all(processes, ...ROLES)
    if (processes < APART_MIN) return [...all(2, 'ingest', 'delivery'), ...all(processes - 2, 'gateway')]
    return [...all(2, 'ingest'), ...all(2, 'delivery'), ...all(processes - 4, 'gateway')]
  }
  if (processes <= 2) return [...all(1, ...ROLES), ...all(processes - 1, 'gateway')]
  if (processes === 3) return [...all(1, 'ingest', 'delivery'), ...all(2, 'gateway')]
  return [...all(1, 'ingest'), ...all(1, 'delivery'), ...all(processes - 2, 'gateway')]
}
