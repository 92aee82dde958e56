import { backoffMs } from '../../../machines/backoff.ts'
import { sleep, type Clock } from '../../../src/ports.ts'
import { STATUS_IDS_MAX, type EngineStatus } from '../../../src/transactions/engine/answers.ts'
import { AutoResetEvent } from '../../supervision/auto-reset-event.ts'
import type { EngineClient } from './engine-client.ts'

export interface StatusPollerOptions {
  /** Poll interval, in milliseconds. */
  readonly pollMs: number
  readonly clock: Clock
  /** Called with faults of the engine, which it survives. */
  readonly report: (error: unknown) => void
}

/** Longest wait after faults in a row, in milliseconds. */
const CEILING_MS = 30_000

/** Polls the engine for the statuses of all followed bundles: five a call, one call after another, for the whole process. */
export class StatusPoller {
  readonly #client: Pick<EngineClient, 'statuses'>
  readonly #options: StatusPollerOptions
  /** By id, the one polled longest ago first. */
  readonly #followed = new Map<string, Set<(status: EngineStatus) => void>>()
  readonly #some = new AutoResetEvent()

  constructor(client: Pick<EngineClient, 'statuses'>, options: StatusPollerOptions) {
    this.#client = client
    this.#options = options
  }

  get followed(): number {
    return this.#followed.size
  }

  follow(id: string, heard: (status: EngineStatus) => void): () => void {
    const listeners = this.#followed.get(id) ?? new Set()
    listeners.add(heard)
    this.#followed.set(id, listeners)
    this.#some.set()
    return () => {
      listeners.delete(heard)
      if (listeners.size === 0 && this.#followed.get(id) === listeners) this.#followed.delete(id)
    }
  }

  /** Polls until the signal aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, pollMs } = this.#options
    for (let failures = 0; !signal.aborted;) {
      if (this.#followed.size === 0) {
        await this.#some.wait(clock, CEILING_MS, signal)
        continue
      }
      failures = (await this.#poll(signal)) ? 0 : failures + 1
      const backoff = { floorMs: pollMs, ceilingMs: Math.max(pollMs, CEILING_MS) }
      await sleep(clock, failures === 0 ? pollMs : backoffMs(backoff, failures + 1), signal)
    }
  }

  async #poll(signal: AbortSignal): Promise<boolean> {
    const ids = [...this.#followed.keys().take(STATUS_IDS_MAX)]
    for (const id of ids) {
      const listeners = this.#followed.get(id)!
      this.#followed.delete(id)
      this.#followed.set(id, listeners)
    }
    try {
      const statuses = await this.#client.statuses(ids, signal)
      for (const [id, status] of statuses) for (const heard of this.#followed.get(id) ?? []) heard(status)
      return true
    } catch (error) {
      if (!signal.aborted) this.#options.report(error)
      return false
    }
  }
}
