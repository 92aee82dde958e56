import { randomUUID } from 'node:crypto'
import { ServiceError } from '../../src/kernel/errors.ts'
import type { CqlClient, CqlRow, CqlStatement } from './client.ts'
import { EPOCHS_MAX } from './version.ts'
import { isOutage, refused, superseded } from './errors.ts'
import { claimStatement, claimOf, selectClaim } from './watermark.ts'

/** Maximum attempts of a claim while others claim at the same time. */
const CLAIM_TRIES = 10

/** Reads of a claim. */
export interface ClaimReads {
  readonly serial: (statement: CqlStatement) => Promise<CqlRow[]>
  readonly each: CqlClient['readEach']
}

/** Reads like a caller's, with a limit. */
export const limitedReads = (client: CqlClient): ClaimReads => ({
  serial: (statement) => client.readSerial(statement),
  each: (...read) => client.readEach(...read)
})

/** Reads like an accepted commit's, without a limit. */
export const patientReads = (client: CqlClient): ClaimReads => ({
  serial: (statement) => client.persist(() => client.trySerial(statement)),
  each: (...read) => client.readEachThrough(...read)
})

/** A claimed epoch, and the fencing token that it was stored with; null if no claim ever had a token. */
export interface TakenEpoch {
  readonly epoch: number
  readonly token: bigint | null
}

/**
 * Claims the next epoch. Fails if a greater token has claimed, or if `after` is set and is not the newest epoch. A claim
 * without a token outranks every claim before it: it is stored with a token greater by one.
 */
export async function takeEpoch(
  client: CqlClient,
  token: bigint | null,
  { serial }: ClaimReads,
  after: number | null
): Promise<TakenEpoch> {
  const claim = randomUUID()
  for (let tries = 1; tries <= CLAIM_TRIES; tries++) {
    const before = claimOf(await serial(selectClaim))
    // An earlier try has taken effect after all.
    if (before.claim === claim) return { epoch: before.epoch!, token: before.token }
    if (token !== null && before.token !== null && token < before.token) throw superseded(before.token)
    if (after !== null && before.epoch !== after) throw superseded()
    const epoch = (before.epoch ?? 0) + 1
    if (epoch > EPOCHS_MAX)
      throw new ServiceError('STORAGE_UNAVAILABLE', 'the store has no number left for a claim')
    const next = token ?? (before.token === null ? null : before.token + 1n)
    const statements = claimStatement(before, epoch, claim, next)
    if (await isTaken(client, statements)) return { epoch, token: next }
  }
  throw superseded()
}

/** Returns false also if the outcome is unknown: the caller reads it. */
async function isTaken(client: CqlClient, statements: readonly CqlStatement[]): Promise<boolean> {
  try {
    return (await client.conditional(statements)).applied
  } catch (error) {
    if (isOutage(error)) return false
    throw refused(error)
  }
}
