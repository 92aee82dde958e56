import type { Clock } from '../../src/ports.ts'
import type { ChildMessage, ParentMessage, RegistryJson } from './process-messages.ts'

/** Milliseconds in which processes give their metrics. One that is blocked for longer is left out of the answer. */
export const WITHIN_MS = 1_000

interface Collection {
  readonly waitsFor: Set<number>
  readonly processes: RegistryJson[]
  readonly finish: () => void
}

/** Collects the metrics of all processes for the one that answers Prometheus. */
export class CollectedMetrics {
  readonly #clock: Clock
  /** Sends a message to each running process, by number. */
  readonly #links = new Map<number, (message: ParentMessage) => void>()
  readonly #collections = new Map<number, Collection>()
  #last = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** A process is ready. */
  join(number: number, send: (message: ParentMessage) => void): void {
    this.#links.set(number, send)
  }

  /** A process has ended: nothing is expected of it. */
  leave(number: number): void {
    this.#links.delete(number)
    for (const collection of this.#collections.values()) settle(collection, number)
  }

  /** Handles a message of a process; those of other kinds are ignored. */
  hear(number: number, message: ChildMessage, answer: (message: ParentMessage) => void): void {
    if (message.millrace === 'metrics.wanted') this.#collect(number, message.request, answer)
    if (message.millrace !== 'metrics.given') return
    const collection = this.#collections.get(message.request)
    if (collection?.waitsFor.has(number) !== true) return
    collection.processes.push(message.metrics)
    settle(collection, number)
  }

  #collect(asker: number, asked: number, answer: (message: ParentMessage) => void): void {
    const request = ++this.#last
    const others = [...this.#links].filter(([number]) => number !== asker)
    const processes: RegistryJson[] = []
    const finish = (): void => {
      this.#clock.clearTimeout(timer)
      if (!this.#collections.delete(request)) return
      answer({ millrace: 'metrics.collected', request: asked, processes })
    }
    const timer = this.#clock.setTimeout(finish, WITHIN_MS)
    this.#collections.set(request, { waitsFor: new Set(others.map(([number]) => number)), processes, finish })
    for (const [, send] of others) send({ millrace: 'metrics.wanted', request })
    if (others.length === 0) finish()
  }
}

function settle({ waitsFor, finish }: Collection, number: number): void {
  if (waitsFor.delete(number) && waitsFor.size === 0) finish()
}
