import { ServiceError } from '../kernel/errors.ts'
import type { Webhook } from './webhook.ts'

/**
 * Maximum number of secrets that sign at once. A signature header with ten has about 500 bytes, and no receiver needs more:
 * each further secret is a rotation within the grace period of another rotation.
 */
export const SECRETS_MAX = 10

/** A rotation of a webhook's secret. */
export interface Rotation {
  readonly nowMs: number
  /** Unix milliseconds until which the current secret signs too. */
  readonly previousExpiresAtMs: number
  /** Names the request, so that its retry finds the secret that it created. */
  readonly operation: string
}

/**
 * Returns the secrets that still sign after a rotation. The current one signs until the rotation's time. Secrets of earlier
 * rotations keep their own times, because receivers may still use them. Without a grace period all of them stop at once.
 *
 * @throws ServiceError SECRET_LIMIT_REACHED if too many would sign
 */
export function previousSecrets(
  secrets: Webhook['secrets'],
  { nowMs, previousExpiresAtMs }: Rotation
): Webhook['secrets'] {
  if (previousExpiresAtMs <= nowMs) return []
  const previous = secrets
    .map((stored) => ({ ...stored, expiresAtMs: stored.expiresAtMs ?? previousExpiresAtMs }))
    .filter(({ expiresAtMs }) => expiresAtMs > nowMs)
  if (previous.length >= SECRETS_MAX)
    throw new ServiceError(
      'SECRET_LIMIT_REACHED',
      `${SECRETS_MAX} secrets of this webhook sign now, the most that may; rotate with grace_seconds 0 to end them`
    )
  return previous
}
