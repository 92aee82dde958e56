import { randomUUID } from 'node:crypto'
import { ServiceError } from '../../src/errors.ts'
import type { CqlClient, CqlRow, CqlStatement } from './client.ts'
import { EPOCHS_MAX } from './commit.ts'
import { isOutage, refused, superseded } from './errors.ts'
import { claiming, claimOf, selectClaim } from './watermark.ts'

/** How often a claim is tried where others claim at the same time. */
const CLAIM_TRIES = 10

/** How a claim reads. */
export interface ClaimReads {
  readonly serial: (statement: CqlStatement) => Promise<CqlRow[]>
  readonly each: CqlClient['readEach']
}

/** As a caller's read, with a limit. */
export const limitedReads = (client: CqlClient): ClaimReads => ({
  serial: (statement) => client.readSerial(statement),
  each: (...read) => client.readEach(...read)
})

/** As an accepted commit, without one. */
export const patientReads = (client: CqlClient): ClaimReads => ({
  serial: (statement) => client.persist(() => client.trySerial(statement)),
  each: (...read) => client.readEachThrough(...read)
})

/**
 * Takes the next epoch, unless a greater token has claimed, or another epoch than `after` is the newest, if it is not null;
 * resolves with its number.
 */
export async function takeEpoch(
  client: CqlClient,
  token: number | null,
  { serial }: ClaimReads,
  after: number | null
): Promise<number> {
  const claim = randomUUID()
  for (let tries = 1; tries <= CLAIM_TRIES; tries++) {
    const before = claimOf(await serial(selectClaim))
    // An earlier try was done after all.
    if (before.claim === claim) return before.epoch!
    if (token !== null && before.token !== null && BigInt(token) < before.token) throw superseded()
    if (after !== null && before.epoch !== after) throw superseded()
    const epoch = (before.epoch ?? 0) + 1
    if (epoch > EPOCHS_MAX)
      throw new ServiceError('STORAGE_UNAVAILABLE', 'the store has no number left for a claim')
    const statements = claiming(before, epoch, claim, token === null ? before.token : BigInt(token))
    if (await isTaken(client, statements)) return epoch
  }
  throw superseded()
}

/** False also where nobody knows: the caller looks. */
async function isTaken(client: CqlClient, statements: readonly CqlStatement[]): Promise<boolean> {
  try {
    return (await client.conditional(statements)).applied
  } catch (error) {
    if (isOutage(error)) return false
    throw refused(error)
  }
}
