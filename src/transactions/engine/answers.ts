import { z } from 'zod'
import { pubkeyFromBase58 } from '../../chain/pubkey.ts'

/** Bundle ids that one `getInflightBundleStatuses` call may have (the engine's documentation, February 2026). */
export const STATUS_IDS_MAX = 5
/** Milliseconds for which the engine remembers a bundle (the engine's documentation, February 2026). */
export const LOOK_BACK_MS = 300_000

const address = z.string().refine((text) => {
  try {
    pubkeyFromBase58(text)
    return true
  } catch {
    return false
  }
})

/** The answer of `getTipAccounts`. */
export const tipAccountsAnswer = z.array(address).min(1).max(100)

/** The engine's own status of a bundle. */
const inflightStatus = z.object({
  bundle_id: z.string(),
  status: z.enum(['Invalid', 'Pending', 'Failed', 'Landed']),
  landed_slot: z.number().int().nullish(),
  /** Given only by the localnet's engine; the public interface has no reasons. */
  reason: z.string().max(100).nullish(),
  err: z.unknown().optional()
})

/** The answer of `getInflightBundleStatuses`; null if no bundle is known. */
export const inflightAnswer = z.object({ value: z.array(inflightStatus.nullable()) }).nullable()

/** The engine's statement about a bundle. `unknown` is also the first answer to a bundle that it has just accepted. */
export interface EngineStatus {
  readonly kind: 'unknown' | 'pending' | 'failed' | 'landed'
  /** Reason of the failure; null if the engine gives none. */
  readonly reason: string | null
  readonly err: unknown
}

const KINDS = { Invalid: 'unknown', Pending: 'pending', Failed: 'failed', Landed: 'landed' } as const

/** Returns the status of each bundle in an answer, by id. A bundle that the answer leaves out is unknown. */
export function engineStatuses(
  answer: z.infer<typeof inflightAnswer>,
  ids: readonly string[]
): ReadonlyMap<string, EngineStatus> {
  const named = new Map(answer?.value.flatMap((each) => (each === null ? [] : [[each.bundle_id, each]])))
  return new Map(
    ids.map((id) => {
      const found = named.get(id)
      if (found === undefined) return [id, { kind: 'unknown', reason: null, err: null }]
      const { status, reason = null, err = null } = found
      return [id, { kind: KINDS[status], reason, err }]
    })
  )
}
