import type { Registry } from 'prom-client'
import { HEARTBEAT_INTERVAL_MS } from '../../../actors/processes/heartbeats.ts'
import {
  parentMessage,
  type ChildMessage,
  type RegistryJson
} from '../../../actors/processes/process-messages.ts'
import { sleep, type Clock } from '../../ports.ts'

/** Milliseconds until the parent has answered with the metrics of the others: twice the time that it gives them. */
const COLLECTED_WITHIN_MS = 2_000

/** The channel of a process, as `process` has it. */
export type Channel = Pick<NodeJS.Process, 'send' | 'on'> & { readonly connected?: boolean }

/** The link of a process to the parent that has started it (`MILLRACE_PROCESSES`). */
export class ParentLink {
  /** Number of this process among those of the parent, from 1. */
  readonly number: number
  readonly #channel: Channel
  readonly #clock: Clock
  readonly #ended = new AbortController()
  readonly #wanted = new Map<number, (processes: readonly RegistryJson[]) => void>()
  #registry: Registry | null = null
  #last = 0

  constructor(number: number, channel: Channel, clock: Clock) {
    this.number = number
    this.#channel = channel
    this.#clock = clock
    channel.on('message', (raw: unknown) => void this.#hear(raw))
    // A parent that is gone restarts nothing and reads no output: the process ends as if asked to.
    channel.on('disconnect', () => this.#ended.abort())
    setInterval(() => this.say({ millrace: 'heartbeat' }), HEARTBEAT_INTERVAL_MS).unref()
  }

  /** Aborts once the parent asks this process to end, or is gone. */
  get ended(): AbortSignal {
    return this.#ended.signal
  }

  say(message: ChildMessage): void {
    if (this.#channel.connected === true) this.#channel.send?.(message, undefined, undefined, () => undefined)
  }

  /** Marks the metrics of a registry with the number of this process, and gives them to the others. */
  share(registry: Registry): void {
    registry.setDefaultLabels({ process: String(this.number) })
    this.#registry = registry
  }

  /** Resolves with the metrics of the other processes that answer in time. */
  async othersMetrics(): Promise<readonly RegistryJson[]> {
    const request = ++this.#last
    const collected = Promise.withResolvers<readonly RegistryJson[]>()
    this.#wanted.set(request, collected.resolve)
    const over = new AbortController()
    this.say({ millrace: 'metrics.wanted', request })
    const late = sleep(this.#clock, COLLECTED_WITHIN_MS, over.signal).then(() => [])
    try {
      return await Promise.race([collected.promise, late])
    } finally {
      over.abort()
      this.#wanted.delete(request)
    }
  }

  async #hear(raw: unknown): Promise<void> {
    const { data: message } = parentMessage.safeParse(raw)
    if (message?.millrace === 'drain') this.#ended.abort()
    if (message?.millrace === 'metrics.collected') this.#wanted.get(message.request)?.(message.processes)
    if (message?.millrace !== 'metrics.wanted' || this.#registry === null) return
    const metrics = (await this.#registry.getMetricsAsJSON()) as unknown as RegistryJson
    this.say({ millrace: 'metrics.given', request: message.request, metrics })
  }
}
