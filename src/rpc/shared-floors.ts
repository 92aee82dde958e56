import type { SharedSlotFloors } from '../../storage/cluster/coordination.ts'
import type { Clock } from '../ports.ts'
import { COMMITMENTS } from './commitment.ts'
import type { RpcGateway, RpcReply, RpcRequestContext } from './gateway.ts'
import type { ParsedRequest } from './requests.ts'
import type { SlotFloors } from './slot-floors.ts'

/** Maximum keys whose shared floors are in memory, as of the floors of this process; the oldest are read again. */
const KEYS_MAX = 10_000
/**
 * Maximum milliseconds that a request waits for the shared floors. Far above a round trip to Redis, and below what a client
 * notices; without them the floors of this process count.
 */
const ANSWER_MS = 100
const NONE = [0, 0, 0] as const

/**
 * A gateway of one of several processes: no answer to a key is older than an earlier answer of any of them.
 *
 * S1. A request begins with the shared floors of its key. They count here as if this process had sent the answers.
 * S2. An answer of a newer slot is sent only after the shared floors are raised to it.
 * S3. A shared floor is taken over once. If no node reaches it, this process abandons it, and the same floor does not return.
 *
 * While the shared floors are unreachable, each process has its own.
 */
export class SharedFloorGateway implements RpcGateway {
  readonly #gateway: RpcGateway
  readonly #floors: SlotFloors
  readonly #shared: SharedSlotFloors
  readonly #clock: Clock
  /** The shared floors of each key when they were last read or raised. */
  readonly #known = new Map<string, readonly number[]>()

  constructor(gateway: RpcGateway, floors: SlotFloors, shared: SharedSlotFloors, clock: Clock) {
    this.#gateway = gateway
    this.#floors = floors
    this.#shared = shared
    this.#clock = clock
  }

  answer(request: ParsedRequest, context: RpcRequestContext): RpcReply | Promise<RpcReply> {
    if (!this.#shared.available) return this.#gateway.answer(request, context)
    return this.#answer(request, context)
  }

  async #answer(request: ParsedRequest, context: RpcRequestContext): Promise<RpcReply> {
    const { keyId } = context.caller
    await this.#raise(keyId, NONE)
    const reply = await this.#gateway.answer(request, context)
    const seen = this.#floors.seen(keyId)
    const known = this.#known.get(keyId) ?? NONE
    if (seen.some((slot, at) => slot > known[at]!)) await this.#raise(keyId, seen)
    return reply
  }

  /** Raises the shared floors of a key, and takes over what other processes have raised. Never rejects. */
  async #raise(keyId: string, slots: readonly number[]): Promise<void> {
    const raised = await this.#inTime(this.#shared.raise(keyId, slots).catch(() => null))
    if (raised === null) return
    const known = this.#known.get(keyId) ?? NONE
    for (const [at, slot] of raised.entries())
      if (slot > known[at]!) this.#floors.saw(keyId, COMMITMENTS[at]!, slot)
    this.#known.delete(keyId)
    this.#known.set(keyId, raised)
    if (this.#known.size > KEYS_MAX) this.#known.delete(this.#known.keys().next().value!)
  }

  async #inTime<T>(answer: Promise<T>): Promise<T | null> {
    const late = Promise.withResolvers<null>()
    const timer = this.#clock.setTimeout(() => late.resolve(null), ANSWER_MS)
    try {
      return await Promise.race([answer, late.promise])
    } finally {
      this.#clock.clearTimeout(timer)
    }
  }
}
