import type { ProcessScope } from '../../../actors/supervision/process.ts'
import { supervise } from '../../../actors/supervision/supervisor.ts'
import type { Deadlines } from '../../../actors/supervision/supervisor.ts'
import { child } from '../../../actors/supervision/unit.ts'
import type { Unit } from '../../../actors/supervision/unit.ts'
import type { TreeNode } from '../../../actors/supervision/live-tree.ts'
import type { Policy } from '../../../machines/unit.ts'
import { settle, virtualClock } from '../../virtual-time.ts'

/** A name and the number of the instance, like `storage#2`. */
export type InstanceName = string

export type Scope = ProcessScope<Readonly<Record<string, InstanceName>>, InstanceName>

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve())
  })
}

/**
 * Records starts, with the instances they were built on, and ends. Each process provides its instance name to those inside
 * it.
 */
export class Recorder {
  readonly clock = virtualClock()
  /** `+storage#1` at a start, `-storage#1` at an end, in order. */
  readonly log: string[] = []
  readonly alive = new Set<InstanceName>()
  /** The instances that each instance was built on. */
  readonly builtOn = new Map<InstanceName, readonly InstanceName[]>()
  readonly #instances = new Map<string, number>()

  /** A process that is ready at once and ends when drained, unless `live` does otherwise. */
  process<const Name extends string>(
    name: Name,
    policy: Partial<Policy> = {},
    live: (scope: Scope, instance: InstanceName) => Promise<void> = async ({ draining, ready }, instance) => {
      ready(instance)
      await aborted(draining)
    }
  ) {
    const run = async (scope: Scope): Promise<void> => {
      const number = (this.#instances.get(name) ?? 0) + 1
      this.#instances.set(name, number)
      const instance = `${name}#${number}`
      this.log.push(`+${instance}`)
      this.alive.add(instance)
      this.builtOn.set(instance, Object.values(scope.input))
      this.began(instance)
      try {
        await live(scope, instance)
      } finally {
        this.log.push(`-${instance}`)
        this.alive.delete(instance)
      }
    }
    return child<Name, unknown, InstanceName>(name, run as never, policy)
  }

  /** Called at every start, for tests that check each moment. */
  began: (instance: InstanceName) => void = () => {}

  /** Starts a tree on the virtual clock; `random` sets the jitter of the backoff. */
  async start(
    root: Unit<object>,
    { random = 1, deadlines }: { random?: number; deadlines?: Deadlines } = {}
  ) {
    const running = supervise(root, { clock: this.clock, random: () => random }, deadlines)
    await settle()
    return running
  }

  /** Returns and removes the log so far. */
  take(): string[] {
    return this.log.splice(0)
  }
}

/** Returns the node at a path like `chain/ingest`. */
export function nodeAt(tree: TreeNode, path: string): TreeNode {
  const found = path
    .split('/')
    .reduce<TreeNode | undefined>((node, name) => node?.children.find((each) => each.name === name), tree)
  if (found === undefined) throw new Error(`no unit at ${path}`)
  return found
}
