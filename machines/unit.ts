import { fromCallback } from 'xstate'
import type { ActorLogic, AnyActorRef } from 'xstate'
import type { Backoff } from './backoff.ts'

/**
 * Requests to a unit. A unit is anything a supervisor starts: one process, or several as one. Its host requests
 * a drain (finish, then end) or a kill (end now). The unit answers under the id by which its host invoked it
 * (`process`, `inside` or a member's name): `<id>.ready`, sometimes `<id>.failing`, and at the end one of
 * `<id>.exited`, `<id>.crashed`, `<id>.stuck`.
 */
export type UnitRequest = { readonly type: 'drain' } | { readonly type: 'kill' }

/** Resources of ready processes, by process name. Opaque here. */
export type Resources = Readonly<Record<string, unknown>>

export interface Ready {
  /** Resources for the units that start after it. */
  readonly gives: Resources
}

export interface Failure {
  readonly error: Error
}

/** Events from the unit that a host invoked as `Id`. A unit that restarts by itself sends `ready` again. */
export type UnitEvent<Id extends string> =
  | ({ readonly type: `${Id}.ready` } & Ready)
  /** Its resources are dead and it will not recover; its end follows. */
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

// The snapshot and the mailbox types differ between callbacks and machines; a host needs only the input type.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type UnitLogic = ActorLogic<any, any, UnitInput, any, any>

/** A placeholder for an actor until the wiring provides it. */
export const missing = fromCallback(() => {
  throw new Error('this actor has to be provided')
}) as unknown as UnitLogic

/** The longest delay of a timer, in milliseconds. Given as a limit to units whose members have limits of their own. */
export const LONGEST_MS = 2 ** 31 - 1

export interface Policy {
  /** permanent: always restarted; transient: after a crash; temporary: never. */
  readonly restart: 'permanent' | 'transient' | 'temporary'
  /** One crash more than `crashes` within the period fails the unit. */
  readonly intensity: { readonly crashes: number; readonly periodMs: number }
  /** The wait before a restart. */
  readonly backoff: Backoff
  /** Milliseconds of uptime after which the next backoff starts at the floor again. */
  readonly stableAfterMs: number
  /** Milliseconds from start to ready. */
  readonly startMs: number
  /** Milliseconds from drain to exit; then the process is killed. */
  readonly drainMs: number
  /** Milliseconds from kill to exit; then the process is stuck. */
  readonly killMs: number
}
