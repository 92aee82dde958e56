import { createHmac } from 'node:crypto'
import { retentionSecondsOf, replaySecondsOf } from '../kernel/config/retention.ts'
import type { Config } from '../kernel/config/config.ts'
import { NO_NODES } from './differing-settings.ts'

/** Hex digits of the hash of a secret key: two keys have the same in one of 2^64 cases. */
const HASH_DIGITS = 16

type Agreed = Pick<
  Config,
  'source' | 'retentionDays' | 'replayHorizonSeconds' | 'venues' | 'indexCommitment' | 'usdMints' | 'role'
>

export interface DeploymentFacts {
  readonly hasNode: boolean
  /** The key of webhook secrets; null in a process that uses none. */
  readonly secretKey: Uint8Array | null
}

/** Returns the settings that all processes of a service must have in common, by variable. No value is a secret. */
export function agreedSettings(
  config: Agreed,
  { hasNode, secretKey }: DeploymentFacts
): Record<string, string> {
  const usesNode = config.role.some((role) => role !== 'ingest')
  return {
    MILLRACE_RETENTION_DAYS: String(config.retentionDays ?? 'default'),
    MILLRACE_REPLAY_HORIZON_SECONDS: String(config.replayHorizonSeconds),
    // Retention and horizon depend on the kind of source, also in a process that reads none.
    MILLRACE_SOURCE: `${retentionSecondsOf(config) ?? 'all'}/${replaySecondsOf(config) ?? 'all'}`,
    MILLRACE_VENUES: config.venues.toSorted().join(','),
    MILLRACE_INDEX_COMMITMENT: config.indexCommitment,
    MILLRACE_USD_MINTS: config.usdMints.toSorted().join(','),
    ...(usesNode && { MILLRACE_RPC_URL: hasNode ? 'set' : NO_NODES }),
    ...(secretKey !== null && { MILLRACE_WEBHOOK_SECRET_KEY: hashOf(secretKey) })
  }
}

/** Returns a hash of a key, from which neither the key nor anything that it encrypts can be found. */
const hashOf = (key: Uint8Array): string =>
  createHmac('sha256', key)
    .update('millrace: the same key in every process')
    .digest('hex')
    .slice(0, HASH_DIGITS)
