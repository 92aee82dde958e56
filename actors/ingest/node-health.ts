import { createActor, type ActorRefFrom } from 'xstate'
import { backoffMs, jittered } from '../../machines/backoff.ts'
import {
  upstreamMachine,
  type UpstreamContext,
  type UpstreamEvent,
  type UpstreamPolicy,
  type UpstreamState
} from '../../machines/upstream.machine.ts'
import { NodeError } from '../../src/node/node-fault.ts'
import type { Ports } from '../../src/ports.ts'
import { AutoResetEvent } from '../supervision/auto-reset-event.ts'

/** How a kind of node is probed. */
export interface NodeChecks {
  readonly name: string
  /** Maximum milliseconds of a whole probe; null if its requests have limits of their own. */
  readonly probeLimitMs: number | null
  /** Returns the probe interval of a node that is up, in milliseconds. */
  readonly intervalMs: () => number
  /** Requests the genesis; returns null if the cluster is the expected one, else the reason for refusal. */
  readonly admit: (signal: AbortSignal) => Promise<string | null>
  /** Requests the slots and calls `note`. */
  readonly readSlots: (signal: AbortSignal) => Promise<void>
  /** Called after each probe. */
  readonly probed: () => void
  /** Called when the state has changed. */
  readonly stateChanged?: (state: UpstreamState, before: UpstreamState) => void
}

/** The health of one node: it is probed all the time, and judged by `upstreamMachine`. */
export class NodeHealth {
  readonly #policy: UpstreamPolicy
  readonly #checks: NodeChecks
  readonly #ports: Ports
  readonly #machine: ActorRefFrom<typeof upstreamMachine>
  #isAdmitted = false
  #probing: Promise<void> | null = null

  constructor(policy: UpstreamPolicy, checks: NodeChecks, ports: Ports) {
    this.#policy = policy
    this.#checks = checks
    this.#ports = ports
    const backoff = ({ context }: { context: UpstreamContext }): number =>
      jittered(backoffMs(context.policy.backoff, context.attempt), ports.random())
    this.#machine = createActor(upstreamMachine.provide({ delays: { backoff } }), {
      clock: ports.clock,
      input: policy
    })
  }

  get state(): UpstreamState {
    return this.#machine.getSnapshot().value
  }

  /** Slot, lag, counters and the last fault. */
  get facts(): UpstreamContext {
    return this.#machine.getSnapshot().context
  }

  /** Whether it is healthy or lagging. */
  get isUp(): boolean {
    const { state } = this
    return state === 'healthy' || state === 'lagging'
  }

  /** Probes the node until the signal aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { recheckMs, backoff } = this.#policy
    const awake = new AutoResetEvent()
    let last: UpstreamState = 'probing'
    this.#machine.subscribe(({ value }) => {
      if (value === last) return
      const before = last
      last = value
      // After an absence the address may lead to another node.
      if (value === 'probing') {
        this.#isAdmitted = false
        awake.set()
      }
      this.#checks.stateChanged?.(value, before)
    })
    this.#machine.start()
    while (!signal.aborted) {
      const { state } = this
      if (state !== 'down' && state !== 'refused') await this.probe(signal)
      const idleMs = this.isUp ? this.#checks.intervalMs() : Math.max(recheckMs, backoff.ceilingMs)
      if (this.state !== 'probing') await awake.wait(this.#ports.clock, idleMs, signal)
    }
    this.#machine.stop()
  }

  /** Probes the node now. Never rejects; concurrent calls share one probe. */
  async probe(signal: AbortSignal): Promise<void> {
    this.#probing ??= this.#probe(signal).finally(() => (this.#probing = null))
    await this.#probing
  }

  /** Judges the node by the outcome of a request. */
  note(event: UpstreamEvent): void {
    this.#machine.send(event)
  }

  /** Checks the cluster again, and probes a node that is down at once. */
  reconnect(): void {
    this.#isAdmitted = false
    this.#machine.send({ type: 'reconnect' })
  }

  async #probe(signal: AbortSignal): Promise<void> {
    try {
      await this.#withinLimit(signal, (end) => this.#check(end, signal))
    } catch (error) {
      if (signal.aborted) return
      const reason = error instanceof Error ? error.message : String(error)
      const isRefusal = error instanceof NodeError && error.fault.kind === 'unauthorized'
      this.#machine.send({ type: isRefusal ? 'refused' : 'failed', reason })
    }
    if (!signal.aborted) this.#checks.probed()
  }

  async #check(end: AbortSignal, signal: AbortSignal): Promise<void> {
    const refusal = this.#isAdmitted ? null : await this.#checks.admit(end)
    if (signal.aborted) return
    this.#isAdmitted = refusal === null
    if (refusal === null) await this.#checks.readSlots(end)
    else this.#machine.send({ type: 'refused', reason: refusal })
  }

  async #withinLimit(signal: AbortSignal, run: (end: AbortSignal) => Promise<void>): Promise<void> {
    const { name, probeLimitMs: afterMs } = this.#checks
    if (afterMs === null) return run(signal)
    const late = new AbortController()
    const timer = this.#ports.clock.setTimeout(
      () => late.abort(new NodeError(name, { kind: 'timeout', afterMs })),
      afterMs
    )
    try {
      await run(AbortSignal.any([signal, late.signal]))
    } finally {
      this.#ports.clock.clearTimeout(timer)
    }
  }
}
