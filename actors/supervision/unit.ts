import { LONGEST_MS } from '../../machines/unit.ts'
import type { Policy, Resources } from '../../machines/unit.ts'
import type { Strategy } from './live-tree.ts'
import type { Run } from './process.ts'

export interface ProcessUnit {
  readonly kind: 'process'
  readonly name: string
  readonly policy: Policy
  readonly run: Run<Resources, unknown>
}

export interface SupervisorUnit {
  readonly kind: 'supervisor'
  readonly name: string
  readonly policy: Policy
  readonly strategy: Strategy
  /** In the order of their start. */
  readonly children: readonly AnyUnit[]
}

/** A process or supervisor as data. */
export type AnyUnit = ProcessUnit | SupervisorUnit

/** A unit whose type says, by name, what it takes from outside and what it gives inward. */
export type Unit<Needs, Gives = unknown> = AnyUnit & Typed<Needs, Gives>

/** Never set; they carry the types. */
interface Typed<Needs, Gives> {
  readonly needs?: (needs: Needs) => void
  readonly gives?: Gives
}

/** Values chosen; a supervisor that restarts often enough to matter states its own. */
const processPolicy: Policy = {
  restart: 'permanent',
  intensity: { crashes: 5, periodMs: 30_000 },
  backoff: { floorMs: 100, ceilingMs: 5_000 },
  stableAfterMs: 10_000,
  startMs: 30_000,
  drainMs: 5_000,
  killMs: 1_000
}

/** The members of a supervisor have bounds of their own, so it has none. When all have ended well, so has it. */
const supervisorPolicy: Policy = {
  ...processPolicy,
  restart: 'transient',
  intensity: { crashes: 3, periodMs: 300_000 },
  startMs: LONGEST_MS,
  drainMs: LONGEST_MS,
  killMs: LONGEST_MS
}

/** A process. What it passes to `ready` is `input[name]` of those inside it. */
export function child<const Name extends string, Needs = unknown, Gives = void>(
  name: Name,
  run: Run<Needs, Gives>,
  policy: Partial<Policy> = {}
): Unit<Needs, { readonly [Key in Name]: Gives }> {
  return {
    kind: 'process',
    name,
    policy: { ...processPolicy, ...policy },
    // Sound because `supervise` takes only trees in which every need is met by name and type.
    run: run as unknown as Run<Resources, unknown>
  }
}

/**
 * Several units as one, started in order and drained in reverse; under one_for_one, side by side. Only one_for_all gives
 * what its members give, for theirs are replaced together; under the others a member may be replaced alone.
 */
export function supervisor<const By extends Strategy, const Children extends readonly AnyUnit[]>(
  name: string,
  strategy: By,
  children: Children,
  policy: Partial<Policy> = {}
): Unit<Unmet<By, Children>, By extends 'one_for_all' ? GivenBy<Children> : unknown> {
  return { kind: 'supervisor', name, strategy, children, policy: { ...supervisorPolicy, ...policy } }
}

/** The needs of units in order that none before them meets, by name and type. */
type Unmet<By extends Strategy, Children, Known = unknown> = Children extends readonly [
  Typed<infer Needs, infer Gives>,
  ...infer Rest
]
  ? Without<Needs, Known> & Unmet<By, Rest, By extends 'one_for_one' ? Known : Known & Gives>
  : unknown

type Without<Needs, Known> = {
  [Key in keyof Needs as Known extends { readonly [Name in Key]: Needs[Key] } ? never : Key]: Needs[Key]
}

type GivenBy<Children> = Children extends readonly [Typed<never, infer Gives>, ...infer Rest]
  ? Gives & GivenBy<Rest>
  : unknown
