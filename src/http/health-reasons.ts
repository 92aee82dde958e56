import type { SourceStateName } from '../node/source-status.ts'

/** Data older than this is degraded; exactly this old is not (spec choices, section 0, K). */
export const FRESHNESS_SECONDS_MAX = 120

/** The state of this process that reasons are derived from; read from memory. */
export interface HealthState {
  /** Age of the newest indexed block; null while there is none. */
  readonly freshnessSeconds: number | null
  readonly isStoreAway: boolean
  readonly isStoreDamaged: boolean
  /** False also where no Redis is configured. */
  readonly isRedisAway: boolean
  /** Whether what is stored is of a fork that the nodes' chain has left, or may be. */
  readonly isForkLeft: boolean
  /** Null where this process has no source of a live chain. */
  readonly source: SourceStateName | null
}

/**
 * One reason why the service is not whole. Everybody may read health: `detail` is a fixed text, so that it names no
 * host, port or driver error. Those are in the log and in the supervision tree.
 */
interface HealthReason {
  /** Part of the wire format: never renamed. */
  readonly code: string
  readonly detail: string
  /** Whether it makes the status `degraded` and the answer 503. */
  readonly degrades: boolean
  readonly applies: (state: HealthState) => boolean
}

/** All reasons, in the order in which they are listed. */
export const HEALTH_REASONS = [
  {
    code: 'data_missing',
    detail: 'no block is indexed yet',
    degrades: true,
    applies: ({ freshnessSeconds }) => freshnessSeconds === null
  },
  {
    code: 'data_stale',
    detail: `the newest indexed block is older than ${FRESHNESS_SECONDS_MAX} s`,
    degrades: true,
    applies: ({ freshnessSeconds }) => freshnessSeconds !== null && freshnessSeconds > FRESHNESS_SECONDS_MAX
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
      "what is stored is not known to be of the nodes' chain, as where a node was put back to an older state: some of it may be taken back",
    degrades: true,
    applies: ({ isForkLeft }) => isForkLeft
  },
  {
    code: 'store_damaged',
    detail:
      'files of the store are damaged: ingest waits, reads of lost rows are refused with 503, all others are answered; an operator has to run `npx millrace repair`',
    degrades: true,
    applies: ({ isStoreDamaged }) => isStoreDamaged
  },
  {
    code: 'redis_away',
    detail:
      'Redis does not answer: ingest goes on where it is, other processes take over from it later than else, and each process counts calls in a share of its own',
    degrades: false,
    applies: ({ isRedisAway }) => isRedisAway
  },
  {
    code: 'source_away',
    detail: 'no node of the source of blocks answers: it is tried again',
    degrades: false,
    applies: ({ source }) => source === 'waiting'
  },
  {
    code: 'source_stalled',
    detail: 'the source of blocks is connected, and no newer slot comes',
    degrades: false,
    applies: ({ source }) => source === 'stalled'
  },
  {
    code: 'source_refused',
    detail: 'the source of blocks cannot be used as it is configured: an operator has to see to it',
    degrades: false,
    applies: ({ source }) => source === 'refused'
  }
] as const satisfies readonly HealthReason[]

export type ReasonCode = (typeof HEALTH_REASONS)[number]['code']

/** Returns the reasons that hold at present; none for a service that is whole. */
export function reasonsOf(state: HealthState): (typeof HEALTH_REASONS)[number][] {
  return HEALTH_REASONS.filter(({ applies }) => applies(state))
}
