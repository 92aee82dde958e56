import type { InspectionEvent } from 'xstate'
import type { Policy } from '../../machines/unit.ts'
import type { Clock } from '../../src/ports.ts'
import type { SourceStatus } from '../../src/node/source-status.ts'
import type { MemberCounts } from './dynamic-supervisor.ts'
import type { ProcessInstance, ProcessObserver } from './process.ts'

export type Strategy = 'one_for_one' | 'one_for_all' | 'rest_for_one'

/** A unit of the running tree, as plain JSON. Times are milliseconds since the Unix epoch. */
export interface TreeNode {
  readonly name: string
  readonly kind: 'supervisor' | 'process'
  /** `simple_one_for_one`: its members come and go, and are not listed. */
  readonly strategy: Strategy | 'simple_one_for_one' | null
  readonly restart: Policy['restart']
  /** `waiting` before the first start, then the state of the unit's machine. */
  readonly state: string
  /** Number of starts; a new number means a new instance. */
  readonly instance: number
  readonly restarts: number
  readonly started_at: number | null
  readonly last_error: { readonly message: string; readonly at: number } | null
  readonly gauges: Readonly<Record<string, number>>
  /** Only on a source of a live chain. */
  readonly source?: Omit<SourceStatus, 'headSlot'> & { readonly head_slot: number | null }
  readonly children: readonly TreeNode[]
}

type About = Pick<TreeNode, 'name' | 'kind' | 'strategy' | 'restart'>

/** State of one unit over the life of the service, across its machines and instances. */
export class LiveUnit implements ProcessObserver {
  readonly #clock: Clock
  readonly #about: About
  readonly #children: readonly LiveUnit[]
  readonly #onFault: (error: Error) => void
  #state = 'waiting'
  #machine = ''
  #instance = 0
  /** Starts under earlier machines. */
  #startsBefore = 0
  #startedAt: number | null = null
  #error: Error | null = null
  #errorAt = 0
  #life: ProcessInstance | undefined

  constructor(about: About, children: readonly LiveUnit[], clock: Clock, onFault: (error: Error) => void) {
    this.#about = about
    this.#children = children
    this.#clock = clock
    this.#onFault = onFault
  }

  born(life: ProcessInstance): void {
    this.#life = life
  }

  died(life: ProcessInstance): void {
    if (this.#life === life) this.#life = undefined
  }

  reported(error: Error): void {
    this.#error = error
    this.#errorAt = Math.floor(this.#clock.now())
    this.#onFault(error)
  }

  /** Crashes the process if it runs, and returns whether it did. */
  crash(error: Error): boolean {
    this.#life?.crash(error)
    return this.#life !== undefined
  }

  /** Status of a running source of a live chain; null for any other unit. */
  get status(): SourceStatus | null {
    return this.#life?.status?.() ?? null
  }

  /** Copies the state of the unit's machine. */
  observe(machine: string, { value, context }: UnitSnapshot): void {
    if (machine !== this.#machine) {
      this.#machine = machine
      this.#startsBefore = this.#instance
    }
    if (this.#startsBefore + context.starts !== this.#instance) {
      this.#instance = this.#startsBefore + context.starts
      this.#startedAt = Math.floor(this.#clock.now())
    }
    if (context.error !== null && context.error !== this.#error) this.reported(context.error)
    this.#state = innermost(value)
  }

  toJSON(): TreeNode {
    const { status } = this
    const gauges = [...(this.#life?.gauges ?? [])].map(([name, read]) => [name, read()] as const)
    return {
      ...this.#about,
      state: this.#state,
      instance: this.#instance,
      restarts: Math.max(0, this.#instance - 1),
      started_at: this.#startedAt,
      last_error: this.#error === null ? null : { message: this.#error.message, at: this.#errorAt },
      gauges: Object.fromEntries(gauges),
      ...(status !== null && { source: sourceJson(status) }),
      children: [
        ...this.#children.map((child) => child.toJSON()),
        ...[...(this.#life?.members ?? [])].map(([name, read]) => this.#dynamic(name, read()))
      ]
    }
  }

  /** Returns a dynamic supervisor of this process. */
  #dynamic(name: string, { restart, running, waiting, restarts, lastError }: MemberCounts): TreeNode {
    return {
      ...{ name, kind: 'supervisor', strategy: 'simple_one_for_one', restart },
      state: waiting > 0 ? 'backoff' : 'running',
      instance: this.#instance,
      restarts,
      started_at: this.#startedAt,
      last_error: lastError,
      gauges: { running, waiting },
      children: []
    }
  }
}

function sourceJson({ headSlot, ...rest }: SourceStatus): TreeNode['source'] & object {
  return { ...rest, head_slot: headSlot }
}

interface UnitSnapshot {
  readonly value: StateValue
  readonly context: { readonly starts: number; readonly error: Error | null }
}

type StateValue = string | { readonly [state: string]: StateValue }

function innermost(value: StateValue): string {
  return typeof value === 'string' ? value : innermost(Object.values(value)[0]!)
}

/** Returns the root's inspector, which passes each snapshot of a machine to the unit it belongs to. */
export function observeUnits(units: ReadonlyMap<unknown, LiveUnit>): (event: InspectionEvent) => void {
  return (event) => {
    if (event.type !== '@xstate.snapshot' || !('machine' in event.snapshot)) return
    units
      .get(event.snapshot.machine)
      ?.observe(event.actorRef.sessionId, event.snapshot as unknown as UnitSnapshot)
  }
}
