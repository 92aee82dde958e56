import { createActor, fromCallback, toPromise } from 'xstate'
import { oneForOne } from '../../machines/one-for-one.machine.ts'
import { serviceMachine } from '../../machines/service.machine.ts'
import type { ServiceOutput } from '../../machines/service.machine.ts'
import { StartRefused } from '../../machines/start-refused.ts'
import { supervised } from '../../machines/supervised.machine.ts'
import { backoffMs, jittered } from '../../machines/backoff.ts'
import type { UnitRequest, Policy, UnitInput, UnitLogic } from '../../machines/unit.ts'
import type { Ports } from '../../src/ports.ts'
import type { SourceStatus } from '../../src/node/source-status.ts'
import { LiveUnit, observeUnits } from './live-tree.ts'
import type { TreeNode } from './live-tree.ts'
import { fromProcess } from './process.ts'
import type { AnyUnit, ProcessUnit, SupervisorUnit, Unit } from './unit.ts'

/** A running tree of processes. */
export interface Supervision {
  /** Resolves with true once everything is up for the first time; with false if the tree ended before. */
  readonly ready: Promise<boolean>
  /** Resolves at the end, with the failure for which the process should exit non-zero. Never rejects. */
  readonly done: Promise<ServiceOutput>
  /** Ends all units from the inside out, within the deadline. Further calls change nothing. */
  drain(): Promise<ServiceOutput>
  /**
   * Crashes the process at a path like `chain/ingest` (without the root's name), as if it had rejected with `error`.
   * Returns false if it does not run now.
   */
  kill(path: string, error?: Error): boolean
  /** The current tree. */
  tree(): TreeNode
  /** Status of the source of a live chain at a path; null if no source runs there. */
  source(path: string): SourceStatus | null
  [Symbol.asyncDispose](): Promise<void>
}

export interface Deadlines {
  /** Milliseconds for the drain of the whole tree; then it is killed. */
  readonly drainMs: number
  /** Milliseconds for its kill; then it is abandoned. */
  readonly killMs: number
}

/** Called for every fault of a unit, fatal or not. The root's path is empty. */
export type OnFault = (path: string, error: Error) => void

/** Starts a tree of units. A tree with a need that no unit meets is a type error. */
export function supervise(
  root: Unit<object>,
  ports: Ports,
  deadlines: Deadlines = { drainMs: 10_000, killMs: 2_000 },
  onFault: OnFault = () => undefined
): Supervision {
  // Units that a refused start kills may end late, or not as requested. Neither counts as another reason for the end.
  let refusal: StartRefused | null = null
  const wiring = new Wiring(ports, (path, error) => {
    if (error instanceof StartRefused) refusal ??= error
    if (refusal === null || error instanceof StartRefused) onFault(path, error)
  })
  const { logic, live } = wiring.unit(root, '', nothing, root.policy)
  const actor = createActor(serviceMachine.provide({ actors: { tree: logic } }), {
    clock: ports.clock,
    inspect: observeUnits(wiring.machines),
    input: deadlines
  })
  const done = toPromise(actor)
    .catch((error: Error): ServiceOutput => ({ kind: 'failed', error }))
    .then((output): ServiceOutput =>
      output.kind === 'failed' && refusal !== null ? { kind: 'failed', error: refusal } : output
    )
  const ready = new Promise<boolean>((resolve) => {
    actor.subscribe((snapshot) => {
      if (snapshot.matches({ running: 'ready' })) resolve(true)
    })
    void done.then(() => resolve(false))
  })
  const drain = (): Promise<ServiceOutput> => {
    actor.send({ type: 'drain' })
    return done
  }
  actor.start()

  return {
    ready,
    done,
    drain,
    kill: (path, error = new Error('killed')) => wiring.paths.get(path)?.crash(error) ?? false,
    tree: () => live.toJSON(),
    source: (path) => wiring.paths.get(path)?.status ?? null,
    [Symbol.asyncDispose]: async () => void (await drain())
  }
}

interface Wired {
  readonly logic: UnitLogic
  readonly live: LiveUnit
}

interface Member {
  readonly unit: AnyUnit
  readonly path: string
  readonly policy: Policy
}

/** Units joined into the process of their supervisor. */
interface Group {
  readonly process: UnitLogic
  readonly lives: readonly LiveUnit[]
}

/** Builds machines from unit descriptions, innermost first, and remembers the unit of each. */
class Wiring {
  readonly paths = new Map<string, LiveUnit>()
  readonly machines = new Map<unknown, LiveUnit>()
  readonly #ports: Ports
  readonly #onFault: OnFault

  constructor(ports: Ports, onFault: OnFault) {
    this.#ports = ports
    this.#onFault = onFault
  }

  unit(unit: AnyUnit, path: string, inside: UnitLogic, policy: Policy): Wired {
    const { process, live } = unit.kind === 'process' ? this.#process(unit, path) : this.#members(unit, path)
    const machine = supervised(unit.name, policy).provide({
      actors: { process, inside },
      delays: {
        backoff: ({ context }) =>
          jittered(backoffMs(context.policy.backoff, context.attempt), this.#ports.random())
      }
    })
    if (this.paths.has(path)) throw new RangeError(`two units are called ${path}`)
    this.paths.set(path, live)
    this.machines.set(machine, live)
    return { logic: machine, live }
  }

  #process({ name, policy, run }: ProcessUnit, path: string) {
    const about = { name, kind: 'process', strategy: null, restart: policy.restart } as const
    const live = this.#live(about, [], path)
    return { process: fromProcess(name, run, live), live }
  }

  #members({ name, strategy, policy, children }: SupervisorUnit, path: string) {
    const about = { name, kind: 'supervisor', strategy, restart: policy.restart } as const
    const members = children.map((child) => ({
      unit: child,
      path: path === '' ? child.name : `${path}/${child.name}`,
      policy: strategy === 'one_for_all' ? neverAlone(child.policy) : child.policy
    }))
    const { process, lives } =
      strategy === 'one_for_one' ? this.#sideBySide(name, members) : this.#nested(members)
    return { process, live: this.#live(about, lives, path) }
  }

  #live(about: ConstructorParameters<typeof LiveUnit>[0], children: readonly LiveUnit[], path: string) {
    return new LiveUnit(about, children, this.#ports.clock, (error) => this.#onFault(path, error))
  }

  #sideBySide(name: string, members: readonly Member[]): Group {
    const wired = members.map(({ unit, path, policy }) => this.unit(unit, path, nothing, policy))
    const names = members.map(({ unit }) => unit.name)
    const actors = Object.fromEntries(wired.map(({ logic }, index) => [names[index]!, logic]))
    return {
      process: oneForOne(`${name} members`, names).provide({ actors }),
      lives: wired.map(({ live }) => live)
    }
  }

  #nested(members: readonly Member[]): Group {
    return members.reduceRight<Group>(
      (inner, { unit, path, policy }) => {
        const { logic, live } = this.unit(unit, path, inner.process, policy)
        return { process: logic, lives: [live, ...inner.lives] }
      },
      { process: nothing, lives: [] }
    )
  }
}

/**
 * Returns the policy of a member under one_for_all. Units are nested as under rest_for_one, but the first crash fails each
 * level, so that the supervisor restarts all.
 */
function neverAlone(policy: Policy): Policy {
  return { ...policy, intensity: { ...policy.intensity, crashes: 0 } }
}

/** The unit inside the innermost one: always ready, and ends on request. */
const nothing: UnitLogic = fromCallback<UnitRequest, UnitInput>(({ self, sendBack, receive }) => {
  receive(() => sendBack({ type: `${self.id}.exited` }))
  sendBack({ type: `${self.id}.ready`, gives: {} })
})
