import { fromCallback } from 'xstate'
import type { ActorLogic, AnyActorRef } from 'xstate'
import type { Backoff } from './backoff.ts'

/**
 * A unit is whatever a supervisor starts: one process, or several as one. Its host asks it to drain (finish, then end)
 * or to be killed (end now); it answers under the id its host invoked it by, `process` or `inside` or a member's name:
 * `<id>.ready`, at times `<id>.failing`, and at the end one of `<id>.exited`,
 * `<id>.crashed`, `<id>.stuck`.
 */
export type Ask = { readonly type: 'drain' } | { readonly type: 'kill' }

/** The resources of ready processes, by process name. Opaque here. */
export type Resources = Readonly<Record<string, unknown>>

export interface Ready {
  /** What the unit offers to those that start after it. */
  readonly gives: Resources
}

export interface Failure {
  readonly error: Error
}

/** What a host hears from the unit it invoked as `Id`. One that restarts by itself says again that it is ready. */
export type News<Id extends string> =
  | ({ readonly type: `${Id}.ready` } & Ready)
  /** What it gave is dead and it will not recover; its end follows. */
  | ({ readonly type: `${Id}.failing` } & Failure)
  | { readonly type: `${Id}.exited` }
  | ({ readonly type: `${Id}.crashed` } & Failure)
  /** It outlived its kill. Nothing may take its place, so the whole tree fails. */
  | ({ readonly type: `${Id}.stuck` } & Failure)

export type Host = AnyActorRef

export interface UnitInput {
  readonly host: Host
  readonly given: Resources
}

// The snapshot and the mailbox differ between callbacks and machines; a host needs only the input to be right.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type UnitLogic = ActorLogic<any, any, UnitInput, any, any>

/** Stands for an actor until the wiring provides it. */
export const missing = fromCallback(() => {
  throw new Error('this actor has to be provided')
}) as unknown as UnitLogic

/** The longest a timer can wait. Given as a bound to units whose own members bound them. */
export const LONGEST_MS = 2 ** 31 - 1

export interface Policy {
  /** permanent: always restarted; transient: after a crash; temporary: never. */
  readonly restart: 'permanent' | 'transient' | 'temporary'
  /** One crash more than this within the period fails the unit. */
  readonly intensity: { readonly crashes: number; readonly periodMs: number }
  /** The wait before a restart doubles from floor to ceiling. */
  readonly backoff: Backoff
  /** Up for this long, the next backoff starts at the floor again. */
  readonly stableAfterMs: number
  /** From start to ready. */
  readonly startMs: number
  /** From drain to exit; then it is killed. */
  readonly drainMs: number
  /** From kill to exit; then it is stuck. */
  readonly killMs: number
}
