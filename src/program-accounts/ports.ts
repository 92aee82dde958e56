import type { Pubkey } from '../chain/pubkey.ts'
import type { AccountVersion } from '../../storage/port.ts'

/** Receives a node's notifications about a program. No method may throw. */
export interface SubscriptionListener {
  /** An account of the program has changed in a slot that is confirmed. */
  update(version: AccountVersion): void
  /** The node has processed a block of this slot. */
  processed(slot: number): void
}

/** A connection to a node that reports each change of a program's accounts at confirmed, except closed accounts. */
export interface ProgramSubscription {
  /** Resolves with the reason, in words, when the connection has ended. Later changes may be missing. */
  readonly ended: Promise<string>
  /** Resolves when everything that the node had sent before the call has been received. Rejects after the end. */
  roundTrip(): Promise<void>
  close(): void
}

/** Subscribes to a program. Rejects with an error whose message is for the operator. */
export type SubscribeProgram = (
  program: Pubkey,
  listener: SubscriptionListener,
  signal: AbortSignal
) => Promise<ProgramSubscription>
