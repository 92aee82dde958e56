import { isCommitment, DEFAULT_COMMITMENT, type Commitment } from './commitment.ts'
import type { RpcMethod } from './methods.ts'

/** The state that a client's params require. */
export interface RequiredState {
  readonly commitment: Commitment
  /** 0 if the params name none. */
  readonly minContextSlot: number
}

/**
 * Reads the commitment and `minContextSlot` of a call. Uses the defaults for values that a node would refuse; the
 * node then refuses them.
 */
export function requiredState(
  { configAt, commitmentField, fixedCommitment }: RpcMethod,
  params: unknown
): RequiredState {
  const config: unknown = configAt !== null && Array.isArray(params) ? params[configAt] : undefined
  const fields = typeof config === 'object' && config !== null ? (config as Record<string, unknown>) : {}
  const named = fields[commitmentField]
  const { minContextSlot } = fields
  return {
    commitment: fixedCommitment ?? (isCommitment(named) ? named : DEFAULT_COMMITMENT),
    minContextSlot:
      fixedCommitment === null &&
      typeof minContextSlot === 'number' &&
      Number.isSafeInteger(minContextSlot) &&
      minContextSlot > 0
        ? minContextSlot
        : 0
  }
}
