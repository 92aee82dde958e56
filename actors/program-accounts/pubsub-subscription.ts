import { z } from 'zod'
import { pubkeyToBase58, samePubkey, type Pubkey } from '../../src/chain/pubkey.ts'
import { parseWithExactLamports, readAddressed } from '../../src/accounts/node-answers.ts'
import { Unreadable } from '../../src/chain/rpc/fields.ts'
import { nodeAddresses } from '../../src/node/node-address.ts'
import { readInContext } from '../../src/node/node-answers.ts'
import { sleep, type Clock } from '../../src/ports.ts'
import type {
  ProgramSubscription,
  SubscribeProgram,
  SubscriptionListener
} from '../../src/program-accounts/ports.ts'

/** Milliseconds to connect, and for an answer. A node that takes longer is overloaded. */
const ANSWER_MS = 10_000
/** Milliseconds without a slot after which a connection counts as dead: 75 slots; clusters rarely pause for longer. */
const SILENCE_MS = 30_000

const message = z.union([
  z.object({
    id: z.number(),
    result: z.unknown().optional(),
    error: z.object({ message: z.string() }).optional()
  }),
  z.object({ method: z.string(), params: z.object({ result: z.unknown(), subscription: z.number() }) })
])
const slotNotice = z.object({ slot: z.int().min(0) })

/** Returns a function that subscribes at the first of some WebSocket URLs that accepts. `urls` is read at each call. */
export function pubsubSubscriptions(urls: () => readonly string[], clock: Clock): SubscribeProgram {
  return async (program, listener, signal) => {
    const distinct = [...new Set(urls())]
    let last: unknown = new Error('no node with WebSocket subscriptions is configured')
    for (const [at, { name }] of nodeAddresses(distinct).entries())
      try {
        const connection = new PubsubConnection(distinct[at]!, name, program, listener, clock)
        await connection.open(signal)
        return connection
      } catch (error) {
        signal.throwIfAborted()
        last = error
      }
    throw last
  }
}

class PubsubConnection implements ProgramSubscription {
  readonly #name: string
  readonly #program: Pubkey
  readonly #listener: SubscriptionListener
  readonly #clock: Clock
  readonly #socket: WebSocket
  readonly #end = Promise.withResolvers<string>()
  readonly #over = new AbortController()
  readonly #answers = new Map<number, PromiseWithResolvers<void>>()
  #id = 0
  #heardAtMs: number

  constructor(url: string, name: string, program: Pubkey, listener: SubscriptionListener, clock: Clock) {
    this.#name = name
    this.#program = program
    this.#listener = listener
    this.#clock = clock
    this.#heardAtMs = clock.now()
    this.#socket = new WebSocket(url)
    this.#socket.addEventListener('message', ({ data }) => this.#take(data))
    this.#socket.addEventListener('close', ({ code }) => this.#finish(`it closed the connection (${code})`))
    // An error is followed by the close.
    this.#socket.addEventListener('error', () => undefined)
  }

  get ended(): Promise<string> {
    return this.#end.promise
  }

  /** Connects and subscribes. */
  async open(signal: AbortSignal): Promise<void> {
    const abort = (): void => this.#finish('the subscription was abandoned')
    signal.addEventListener('abort', abort, { once: true })
    try {
      const opened = Promise.withResolvers<void>()
      this.#socket.addEventListener('open', () => opened.resolve(), { once: true })
      await this.#inTime(opened.promise, 'connect')
      const form = { encoding: 'base64', commitment: 'confirmed' }
      await this.#call('programSubscribe', [pubkeyToBase58(this.#program), form])
      await this.#call('slotSubscribe')
      void this.#watch()
    } catch (error) {
      this.close()
      throw error
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  /** Waits for any answer, which shows that the node's messages before it have come. */
  async roundTrip(): Promise<void> {
    await this.#call('getVersion', [], true)
  }

  close(): void {
    this.#finish('it was closed')
  }

  async #call(method: string, params: readonly unknown[] = [], isAnyAnswer = false): Promise<void> {
    const id = ++this.#id
    const answer = Promise.withResolvers<void>()
    if (!isAnyAnswer) this.#strict.add(id)
    this.#answers.set(id, answer)
    // The message is sent at once or the socket is closed, which ends the wait.
    if (this.#socket.readyState === WebSocket.OPEN)
      this.#socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    await this.#inTime(answer.promise, method).finally(() => this.#answers.delete(id))
  }

  /** Requests whose refusal is an error. */
  readonly #strict = new Set<number>()

  async #inTime<T>(wait: Promise<T>, what: string): Promise<T> {
    const done = new AbortController()
    const late = sleep(this.#clock, ANSWER_MS, AbortSignal.any([done.signal, this.#over.signal])).then(
      async () => {
        if (done.signal.aborted) return wait
        const reason = this.#over.signal.aborted
          ? await this.ended
          : `no answer to ${what} within ${ANSWER_MS / 1_000} s`
        throw new Error(`the subscription at ${this.#name} failed: ${reason}`)
      }
    )
    try {
      return await Promise.race([wait, late])
    } finally {
      done.abort()
      late.catch(() => undefined)
    }
  }

  #take(data: unknown): void {
    if (this.#over.signal.aborted) return
    const known = message.safeParse(typeof data === 'string' ? parsed(data) : null)
    if (!known.success) return this.#finish('it sent a message that cannot be read')
    if ('id' in known.data) return this.#answered(known.data)
    const { method, params } = known.data
    if (method === 'slotNotification') {
      const slot = slotNotice.safeParse(params.result)
      if (!slot.success) return this.#finish('it sent a slot that cannot be read')
      this.#heardAtMs = this.#clock.now()
      this.#listener.processed(slot.data.slot)
    } else if (method === 'programNotification') this.#notice(params.result, data as string)
  }

  #notice(result: unknown, text: string): void {
    try {
      this.#listener.update(versionIn(this.#program, result))
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      if (!error.isOutOfRange) return this.#finish(`it sent an account that cannot be read (${error.field})`)
      const { params } = parseWithExactLamports(text) as { readonly params: { readonly result: unknown } }
      this.#listener.update(versionIn(this.#program, params.result))
    }
  }

  #answered({
    id,
    error
  }: {
    readonly id: number
    readonly error?: { readonly message: string } | undefined
  }): void {
    const answer = this.#answers.get(id)
    const isStrict = this.#strict.delete(id)
    if (error === undefined || !isStrict) return answer?.resolve()
    answer?.reject(new Error(`${this.#name} refuses the subscription: ${error.message}`))
  }

  async #watch(): Promise<void> {
    while (!this.#over.signal.aborted) {
      await sleep(this.#clock, SILENCE_MS / 3, this.#over.signal)
      if (this.#clock.now() - this.#heardAtMs > SILENCE_MS)
        this.#finish(`it has reported no slot for ${SILENCE_MS / 1_000} s`)
    }
  }

  #finish(reason: string): void {
    if (this.#over.signal.aborted) return
    this.#end.resolve(reason)
    this.#over.abort()
    this.#socket.close()
  }
}

function versionIn(program: Pubkey, result: unknown) {
  const { slot, value } = readInContext(result)
  const [first] = readAddressed([value])
  const { address, account } = first!
  const { owner, ...stored } = account
  const isGone = account.lamports === 0n || !samePubkey(owner, program)
  return { address, slot, account: isGone ? null : stored }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
