import { MethodTable, type RpcMethod } from '../../../src/rpc/methods.ts'
import { accountIn, closedAccount, signatureIn, type GapResult } from '../../../src/rpc/pubsub/gap-answers.ts'
import { sleep, type Clock } from '../../../src/ports.ts'
import type { RpcUpstreams, UpstreamAnswer, UpstreamCall } from '../../../src/rpc/upstreams.ts'
import type { SharedSubscription } from './shared-subscription.ts'

/** Reads in one request to a node, and requests at a time: 10,000 accounts are read in several seconds. */
const READS_AT_ONCE = 50
const REQUESTS_MAX = 4
/** Pause before a failed read is retried, in milliseconds, doubled each time, and the number of tries. Together 31 s. */
const RETRY_MS = 1_000
const TRIES = 6

interface Read {
  /** Whether it is requested alone: with others the answers may have been too long. */
  readonly isAlone: boolean
  readonly call: UpstreamCall
  readonly done: (answer: UpstreamAnswer | null) => void
}

const methods = new MethodTable()
const ACCOUNT = servedMethod('getAccountInfo')
const SIGNATURES = servedMethod('getSignatureStatuses')

function servedMethod(name: string): RpcMethod {
  const found = methods.find(name)
  if (found.kind !== 'served') throw new TypeError(`${name} is not served`)
  return found.method
}

/**
 * Reads the events of subscriptions while no node had them: accounts and signatures. The past of other subscriptions cannot
 * be read.
 */
export class GapReader {
  readonly #upstreams: Pick<RpcUpstreams, 'requestAll'>
  readonly #clock: Clock
  readonly #end: AbortSignal
  readonly #report: (fault: unknown) => void
  readonly #queue: Read[] = []
  #running = 0

  constructor(
    upstreams: Pick<RpcUpstreams, 'requestAll'>,
    clock: Clock,
    end: AbortSignal,
    report: (fault: unknown) => void
  ) {
    this.#upstreams = upstreams
    this.#clock = clock
    this.#end = end
    this.#report = report
  }

  get waiting(): number {
    return this.#queue.length
  }

  /** Reads the gap of a subscription, and passes the result to it. */
  read(subscription: SharedSubscription): void {
    if (subscription.kind !== 'account' && subscription.kind !== 'signature') return subscription.unreadable()
    this.#until(subscription).catch(this.#report)
  }

  async #until(subscription: SharedSubscription): Promise<void> {
    const { losses } = subscription
    const isOpen = (): boolean =>
      subscription.state === 'recovering' && subscription.losses === losses && !this.#end.aborted
    for (let attempt = 0; attempt < TRIES; attempt++) {
      if (attempt > 0) await sleep(this.#clock, RETRY_MS * 2 ** (attempt - 1), this.#end)
      if (!isOpen()) return
      const answer = await this.#answer(this.#callOf(subscription), attempt > 0)
      if (!isOpen()) return
      const found = answer === null ? undefined : await foundIn(subscription, answer)
      if (found !== undefined) {
        if (isOpen()) subscription.read(found)
        return
      }
    }
    if (isOpen()) subscription.unreadable()
  }

  #callOf({ kind, request, lastSlot }: SharedSubscription): UpstreamCall {
    const { commitment, params, subject } = request
    if (kind === 'account') {
      const minSlot = Math.max(0, lastSlot)
      return { method: ACCOUNT, params, commitment, minSlot, minContextSlot: minSlot }
    }
    const history = JSON.stringify([[subject], { searchTransactionHistory: true }])
    return { method: SIGNATURES, params: history, commitment: 'processed', minSlot: 0, minContextSlot: 0 }
  }

  #answer(call: UpstreamCall, isAlone: boolean): Promise<UpstreamAnswer | null> {
    return new Promise((done) => {
      this.#queue.push({ call, done, isAlone })
      // Those that are lost together are read together.
      queueMicrotask(() => this.#pump())
    })
  }

  #pump(): void {
    while (this.#running < REQUESTS_MAX && this.#queue.length > 0) {
      const alone = this.#queue.findIndex(({ isAlone }) => isAlone)
      const count = alone < 0 ? READS_AT_ONCE : Math.max(1, Math.min(alone, READS_AT_ONCE))
      const reads = this.#queue.splice(0, count)
      this.#running++
      void this.#send(reads).finally(() => {
        this.#running--
        this.#pump()
      })
    }
  }

  async #send(reads: readonly Read[]): Promise<void> {
    try {
      const answers = await this.#upstreams.requestAll(
        reads.map(({ call }) => call),
        this.#end
      )
      for (const [at, { done }] of reads.entries()) {
        const answer = answers[at]
        done(answer === undefined || answer instanceof Error ? null : answer)
      }
    } catch (error) {
      if (!this.#end.aborted) this.#report(error)
      for (const { done } of reads) done(null)
    }
  }
}

/** Returns the notification of an answer: null if nothing is to be sent, undefined if the read is to be retried. */
async function foundIn(
  subscription: SharedSubscription,
  { kind, bytes, rest }: UpstreamAnswer
): Promise<GapResult | null | undefined> {
  if (kind === 'error') return undefined
  try {
    const pieces = [bytes]
    if (rest !== null) for await (const piece of rest) pieces.push(piece)
    const result = Buffer.concat(pieces)
    if (subscription.kind === 'signature') return signatureIn(result, subscription.request.commitment)
    const found = accountIn(result)
    if (found === null || found.slot < subscription.lastSlot) return undefined
    if (found.value !== null) return { slot: found.slot, value: found.value }
    // An account that was never seen may not have been there before either.
    return subscription.hasValue ? { slot: found.slot, value: closedAccount(subscription.request) } : null
  } catch {
    return undefined
  }
}
