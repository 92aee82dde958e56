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
  /** In start order. */
  readonly children: readonly AnyUnit[]
}

/** A process or supervisor as data. */
export type AnyUnit = ProcessUnit | SupervisorUnit

/** A unit whose type states, by name, the resources it needs from outside and those it gives to units inside. */
export type Unit<Needs, Gives = unknown> = AnyUnit & Typed<Needs, Gives>

/**
 * Never set; the properties only carry the types. They are required, so that a unit without types is not assignable.
 */
interface Typed<Needs, Gives> {
  readonly needs: (needs: Needs) => void
  readonly gives: Gives
}

/** Returns a unit with its types, which only the compiler sees. */
const typed = <Needs, Gives>(unit: AnyUnit): Unit<Needs, Gives> => unit as Unit<Needs, Gives>

/** Arbitrary defaults for most processes; a process whose restarts cost more states its own policy. */
const processPolicy: Policy = {
  restart: 'permanent',
  intensity: { crashes: 5, periodMs: 30_000 },
  backoff: { floorMs: 100, ceilingMs: 5_000 },
  stableAfterMs: 10_000,
  startMs: 30_000,
  drainMs: 5_000,
  killMs: 1_000
}

/** Has no time limits of its own: the members have theirs. A supervisor exits when all members have exited. */
const supervisorPolicy: Policy = {
  ...processPolicy,
  restart: 'transient',
  intensity: { crashes: 3, periodMs: 300_000 },
  startMs: LONGEST_MS,
  drainMs: LONGEST_MS,
  killMs: LONGEST_MS
}

/** Describes a process. The value passed to `ready` becomes `input[name]` of the units inside it. */
export function child<const Name extends string, Needs = unknown, Gives = void>(
  name: Name,
  run: Run<Needs, Gives>,
  policy: Partial<Policy> = {}
): Unit<Needs, { readonly [Key in Name]: Gives }> {
  return typed({
    kind: 'process',
    name,
    policy: { ...processPolicy, ...policy },
    // Sound because `supervise` takes only trees in which every need is met by name and type.
    run: run as unknown as Run<Resources, unknown>
  })
}

/**
 * Describes several units as one. They start in order and drain in reverse; under one_for_one, side by side. Only
 * one_for_all gives its members' resources outward, because it replaces them together.
 */
export function supervisor<const By extends Strategy, const Children extends readonly Unit<never>[]>(
  name: string,
  strategy: By,
  children: Children,
  policy: Partial<Policy> = {}
): Unit<Unmet<By, Children>, By extends 'one_for_all' ? GivenBy<Children> : unknown> {
  return typed({ kind: 'supervisor', name, strategy, children, policy: { ...supervisorPolicy, ...policy } })
}

/**
 * The needs of units that no earlier unit meets, by name and type. Units of a list whose length the compiler does not know
 * give one another nothing.
 */
type Unmet<By extends Strategy, Children, Known = unknown> = Children extends readonly []
  ? unknown
  : Children extends readonly [Typed<infer Needs, infer Gives>, ...infer Rest]
    ? Without<Needs, Known> & Unmet<By, Rest, By extends 'one_for_one' ? Known : Known & Gives>
    : Children extends readonly Typed<infer Needs, unknown>[]
      ? Without<Needs, Known>
      : never

type Without<Needs, Known> = {
  [Key in keyof Needs as Known extends { readonly [Name in Key]: Needs[Key] } ? never : Key]: Needs[Key]
}

type GivenBy<Children> = Children extends readonly [Typed<never, infer Gives>, ...infer Rest]
  ? Gives & GivenBy<Rest>
  : unknown
