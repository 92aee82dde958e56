import type { SourceStateName } from '../../node/source-status.ts'

/** Data older than this is degraded; exactly this old is not (src/docs/operations.md). */
export const FRESHNESS_SECONDS_MAX = 120

/** The state of this process from which reasons follow; read from memory. */
export interface HealthState {
  /** Age of the indexed data; null while nothing is indexed. */
  readonly freshnessSeconds: number | null
  /** Whether a fresh localnet generates its past, so that neither missing nor old data is a fault. */
  readonly isStarting: boolean
  readonly isStoreAway: boolean
  readonly isStoreDamaged: boolean
  /** False if Redis is not configured. */
  readonly isRedisAway: boolean
  /** Whether stored blocks are, or may be, on a fork that the nodes' chain has left. */
  readonly isForkLeft: boolean
  /** Roles that no process of the service has had for 5 s. */
  readonly missingRoles: readonly string[]
  /** Settings of this process that differ from those of its peers, by variable. */
  readonly differingSettings: readonly string[]
  /** Null if this process has no live source. */
  readonly source: SourceStateName | null
}

/**
 * One reason why the service is impaired. Health is public, so `detail` is a fixed text without hosts, ports or
 * driver errors; those are in the log and in the supervision tree.
 */
interface HealthReason {
  /** Part of the wire format: never renamed. */
  readonly code: string
  readonly detail: string
  /** Names that follow the text, such as roles; none of them is a secret or a host. */
  readonly names?: (state: HealthState) => readonly string[]
  /** Whether the reason makes the status `degraded` and the answer 503. */
  readonly degrades: boolean
  readonly applies: (state: HealthState) => boolean
}

/** All reasons, in the order in which they are listed. */
export const HEALTH_REASONS = [
  {
    code: 'data_missing',
    detail: 'no block is indexed yet',
    degrades: true,
    applies: ({ freshnessSeconds, isStarting }) => freshnessSeconds === null && !isStarting
  },
  {
    code: 'data_stale',
    detail: `the indexed data is older than ${FRESHNESS_SECONDS_MAX} s`,
    degrades: true,
    applies: ({ freshnessSeconds, isStarting }) =>
      freshnessSeconds !== null && freshnessSeconds > FRESHNESS_SECONDS_MAX && !isStarting
  },
  {
    code: 'store_away',
    detail: 'the store does not answer: ingest waits for it, and reads are refused with 503',
    degrades: true,
    applies: ({ isStoreAway }) => isStoreAway
  },
  {
    code: 'chain_left',
    detail:
      "the stored blocks may differ from the nodes' chain, for example because a node was restored to an older state; some of them may be removed",
    degrades: true,
    applies: ({ isForkLeft }) => isForkLeft
  },
  {
    code: 'store_damaged',
    detail:
      'files of the store are damaged: ingest waits, reads of lost rows are refused with 503, and other reads work; stop the service and run `npx millrace repair`',
    degrades: true,
    applies: ({ isStoreDamaged }) => isStoreDamaged
  },
  {
    code: 'redis_away',
    detail:
      'Redis does not answer: ingest continues, a takeover by another process takes longer, and each process enforces its own share of every quota',
    degrades: false,
    applies: ({ isRedisAway }) => isRedisAway
  },
  {
    code: 'role_missing',
    detail:
      'no process has had a role for 5 s; requests that leave work to it are refused with 503, and others are answered',
    names: ({ missingRoles }) => missingRoles,
    degrades: false,
    applies: ({ missingRoles }) => missingRoles.length > 0
  },
  {
    code: 'deployment_differs',
    detail:
      'this process has other settings than the other processes of its service, so its answers can differ from theirs',
    names: ({ differingSettings }) => differingSettings,
    degrades: true,
    applies: ({ differingSettings }) => differingSettings.length > 0
  },
  {
    code: 'source_away',
    detail: 'no node of the block source answers; the service retries',
    degrades: false,
    applies: ({ source }) => source === 'waiting'
  },
  {
    code: 'source_stalled',
    detail: 'the block source is connected but sends no newer slot',
    degrades: false,
    applies: ({ source }) => source === 'stalled'
  },
  {
    code: 'source_refused',
    detail: 'the block source refuses the configuration; an operator has to change it',
    degrades: false,
    applies: ({ source }) => source === 'refused'
  }
] as const satisfies readonly HealthReason[]

type ShownReason = Pick<(typeof HEALTH_REASONS)[number], 'code' | 'degrades'> & { readonly detail: string }

/** Returns the current reasons; an empty list for a healthy service. */
export function reasonsOf(state: HealthState): ShownReason[] {
  return HEALTH_REASONS.filter(({ applies }) => applies(state)).map((reason) => {
    const { code, degrades, detail } = reason
    const names = 'names' in reason ? reason.names(state) : []
    return { code, degrades, detail: names.length === 0 ? detail : `${detail}: ${names.join(', ')}` }
  })
}
