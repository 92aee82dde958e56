import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import type { Protocol } from './receiver.ts'
import type { Run } from './trades.ts'

export interface Client {
  readonly path: string
  /** The number of the client's channel. */
  readonly channel: number
}

export type Order =
  | {
      readonly kind: 'connect'
      readonly url: string
      readonly protocol: Protocol
      readonly clients: readonly Client[]
    }
  | { readonly kind: 'subscribe'; readonly names: readonly string[]; readonly since: number | null }
  | { readonly kind: 'run'; readonly run: Run; readonly every: number }
  | { readonly kind: 'report'; readonly committedAt: readonly number[] }

export type Report =
  | { readonly kind: 'connected' | 'subscribed' | 'ready' | 'got' }
  | { readonly kind: 'fault'; readonly text: string }
  | ({ readonly kind: 'report' } & Received)

export interface Received {
  readonly received: number
  /** Milliseconds from the commit of an event's block to its receipt. */
  readonly p50Ms: number
  readonly p99Ms: number
  /** Milliseconds from the first event to the last one. */
  readonly ms: number
  readonly bytes: number
}

/** Clients of a server, in their own process. After a wrong event every further request rejects. */
export class Receiving {
  readonly #child: ChildProcess
  #fault: Error | null = null
  #waiting: PromiseWithResolvers<Report> | null = null
  readonly #reports: Report[] = []

  /** `priority` is a `nice` value: above 0 the process yields the processor to others. */
  constructor(priority = 0) {
    this.#child = fork(join(import.meta.dirname, 'receivers.ts'), {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc']
    })
    setPriority(this.#child.pid!, priority)
    this.#child.on('message', (report: Report) => {
      if (report.kind === 'fault') {
        this.#fault ??= new Error(`a receiver: ${report.text}`)
        this.#waiting?.reject(this.#fault)
      } else if (this.#waiting === null) this.#reports.push(report)
      else {
        const waiting = this.#waiting
        this.#waiting = null
        waiting.resolve(report)
      }
    })
  }

  async connect(url: string, protocol: Protocol, clients: readonly Client[]): Promise<void> {
    await this.#ask({ kind: 'connect', url, protocol, clients }, 'connected')
  }

  /** Subscribes each client to its channel. `names` are in the order of the clients. */
  async subscribe(names: readonly string[], since: number | null = null): Promise<void> {
    await this.#ask({ kind: 'subscribe', names, since }, 'subscribed')
  }

  /** Starts a run of expected events. `got` resolves each time that all clients together received `every` more. */
  async run(run: Run, every: number): Promise<void> {
    await this.#ask({ kind: 'run', run, every }, 'ready')
  }

  async got(): Promise<void> {
    await this.#next('got')
  }

  /**
   * Returns the figures of the run. `committedAt` has the commit times of its blocks, by `monotonicMs`; it may be empty if
   * latencies are not needed.
   */
  report(committedAt: readonly number[]): Promise<Received> {
    return this.#ask({ kind: 'report', committedAt }, 'report')
  }

  /** Ends the process and with it all clients. */
  async end(): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGTERM')
    await ended
  }

  #ask<Kind extends Report['kind']>(order: Order, kind: Kind): Promise<Extract<Report, { kind: Kind }>> {
    this.#child.send(order)
    return this.#next(kind)
  }

  async #next<Kind extends Report['kind']>(kind: Kind): Promise<Extract<Report, { kind: Kind }>> {
    if (this.#fault !== null) throw this.#fault
    let report = this.#reports.shift()
    if (report === undefined) {
      this.#waiting = Promise.withResolvers()
      report = await this.#waiting.promise
    }
    if (report.kind !== kind) throw new Error(`${report.kind} came instead of ${kind}`)
    return report as Extract<Report, { kind: Kind }>
  }
}
