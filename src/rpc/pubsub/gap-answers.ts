import type { Commitment } from '../../market/rows.ts'
import { encodeAccount, accountFormOf } from '../../localnet/node/account-encoding.ts'
import { writeJson } from '../../localnet/node/json.ts'
import { rawMember } from './raw-json.ts'
import type { SubscriptionRequest } from './subscription-request.ts'

/** The result of a notification that a node would have sent, built from the answer to a request. */
export interface GapResult {
  readonly slot: number
  readonly value: string
}

/** Returns the state of an account from the result of getAccountInfo; null for any other result. */
export function accountIn(result: Buffer): { readonly slot: number; readonly value: string | null } | null {
  const context = rawMember(result, 'context')
  const value = rawMember(result, 'value')?.toString()
  const slot = context === undefined ? undefined : rawMember(context, 'slot')?.toString()
  if (slot === undefined || value === undefined) return null
  return { slot: Number(slot), value: value === 'null' ? null : value }
}

const NOBODY = new Uint8Array(32)

/** Returns a node's notification of a closed account, in the form of the subscription. */
export function closedAccount({ params }: Pick<SubscriptionRequest, 'params'>): string {
  const [, config] = JSON.parse(params) as [unknown, Readonly<Record<string, unknown>>]
  const account = {
    address: NOBODY,
    owner: NOBODY,
    lamports: 0n,
    data: new Uint8Array(0),
    executable: false,
    rentEpoch: 0n
  }
  return writeJson(encodeAccount(account, accountFormOf({ encoding: config.encoding }, 'binary'), () => null))
}

const ORDER: readonly Commitment[] = ['processed', 'confirmed', 'finalized']

/**
 * Returns the notification of a signature from the result of getSignatureStatuses; null until the commitment is
 * reached.
 */
export function signatureIn(result: Buffer, commitment: Commitment): GapResult | null {
  const { value } = JSON.parse(result.toString()) as { readonly value?: readonly unknown[] }
  const status = value?.[0] as
    | { readonly slot: number; readonly err: unknown; readonly confirmationStatus?: Commitment | null }
    | null
    | undefined
  if (status === null || status === undefined) return null
  // Nodes without this member report only finalized signatures, by null confirmations. All nodes that serve pubsub
  // have it.
  const reached = status.confirmationStatus ?? 'processed'
  if (ORDER.indexOf(reached) < ORDER.indexOf(commitment)) return null
  return { slot: status.slot, value: JSON.stringify({ err: status.err }) }
}

/** Returns the result of a notification of an account or a signature. */
export const resultOf = ({ slot, value }: GapResult): Buffer =>
  Buffer.from(`{"context":{"slot":${slot}},"value":${value}}`)
