import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { Test } from 'tap'

/** A fault of a node. */
export type Fault =
  | { readonly kind: 'slow'; readonly ms: number }
  /** Takes the request and never answers. */
  | { readonly kind: 'silent' }
  | { readonly kind: 'status'; readonly status: number; readonly body?: string; readonly retryAfter?: string }
  /** Closes the socket before an answer or within it, or sends the first compressed bytes as the whole. */
  | { readonly kind: 'drop' | 'truncate' | 'cut-gzip' }
  | { readonly kind: 'body'; readonly body: string }
  | { readonly kind: 'error'; readonly code: number; readonly message: string }
  | { readonly kind: 'result'; readonly result: unknown }

export interface RpcRequest {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

export interface ReceivedRequest extends RpcRequest {
  readonly headers: IncomingMessage['headers']
  /** Port of the client's socket. */
  readonly port: number
}

/** Returns whether a fault applies to a request. */
export type Aim = (request: RpcRequest) => boolean

interface Injected {
  readonly name: string
  readonly fault: Fault
  readonly aim: Aim
  left: number
}

export interface JsonBlock {
  readonly blockhash: string
  readonly previousBlockhash: string
  readonly parentSlot: number
  readonly blockTime: number
  readonly blockHeight: number
  readonly transactions: readonly unknown[]
}

/** Returns blocks without transactions, as a node encodes them. */
export function jsonChain(slots: readonly number[]): Map<number, JsonBlock> {
  return new Map(
    slots.map((slot, at) => {
      const parentSlot = slots[at - 1] ?? slot - 1
      const hashes = { blockhash: `h${slot}`, previousBlockhash: `h${parentSlot}` }
      return [
        slot,
        { ...hashes, parentSlot, blockTime: 1_700_000_000 + slot, blockHeight: at, transactions: [] }
      ]
    })
  )
}

/** An HTTP node with a chain that injects faults on request of a test, and counts them. */
export class FaultyNode {
  readonly blocks: Map<number, JsonBlock>
  headSlot: number
  firstSlot = 0
  genesis = 'genesis-a'
  /** Requests in the order of arrival. */
  readonly requests: ReceivedRequest[] = []
  /** Numbers of requests in the batches, in the order of arrival. */
  readonly batches: number[] = []
  /** Number of injections of each fault, by its name. */
  readonly fired = new Map<string, number>()
  inFlight = 0
  mostInFlight = 0
  readonly #injected: Injected[] = []
  readonly #server: Server
  #port = 0

  private constructor(blocks: Map<number, JsonBlock>) {
    this.blocks = blocks
    this.headSlot = Math.max(...blocks.keys())
    this.#server = createServer((request, response) => void this.#serve(request, response))
    this.#server.keepAliveTimeout = 60_000
  }

  static async start(t: Test, blocks = jsonChain([1])): Promise<FaultyNode> {
    const node = new FaultyNode(blocks)
    await node.listen()
    t.teardown(() => node.stop())
    return node
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  get name(): string {
    return `127.0.0.1:${this.#port}`
  }

  /** Listens; after a close, on its previous port. */
  async listen(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
    this.#port = (this.#server.address() as AddressInfo).port
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }

  /** Injects a fault into the next matching requests; the earliest injected fault comes first. */
  inject(name: string, fault: Fault, aim: Aim = () => true, times = 1): void {
    this.#injected.push({ name, fault, aim, left: times })
  }

  /** Names of faults that were injected less often than requested. */
  get unfired(): string[] {
    return this.#injected.filter(({ left }) => left > 0 && left !== Infinity).map(({ name }) => name)
  }

  /** Removes all faults. */
  forgive(): void {
    this.#injected.length = 0
  }

  asked(method: string): ReceivedRequest[] {
    return this.requests.filter((request) => request.method === method)
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    this.mostInFlight = Math.max(this.mostInFlight, ++this.inFlight)
    try {
      const chunks: Buffer[] = []
      for await (const chunk of incoming) chunks.push(chunk as Buffer)
      const body = JSON.parse(Buffer.concat(chunks).toString()) as RpcRequest | readonly RpcRequest[]
      const batch = Array.isArray(body) ? (body as readonly RpcRequest[]) : [body as RpcRequest]
      const { headers } = incoming
      const port = incoming.socket.remotePort!
      this.requests.push(...batch.map((request) => ({ ...request, headers, port })))
      if (Array.isArray(body)) return await this.#serveBatch(batch, incoming, response)
      const [request] = batch as [RpcRequest]
      const fault = this.#injectedInto((aim) => aim(request))
      if (fault === null) return this.#answer(request, incoming, response)
      await this.#misbehave(fault, request, incoming, response)
    } catch {
      // The client has disconnected meanwhile.
      response.destroy()
    } finally {
      this.inFlight--
    }
  }

  /** Answers a batch: errors and results are injected into single requests, other faults into the whole. */
  async #serveBatch(
    batch: readonly RpcRequest[],
    incoming: IncomingMessage,
    response: ServerResponse
  ): Promise<void> {
    this.batches.push(batch.length)
    const isOfOne = ({ kind }: Fault): boolean => kind === 'error' || kind === 'result'
    const ofWhole = this.#injectedInto((aim, fault) => !isOfOne(fault) && batch.some(aim))
    if (ofWhole !== null) return this.#misbehave(ofWhole, batch[0]!, incoming, response)
    const answers = batch.map((request) => {
      const fault = this.#injectedInto((aim, each) => isOfOne(each) && aim(request))
      const outcome =
        fault?.kind === 'error'
          ? error(fault.code, fault.message)
          : fault?.kind === 'result'
            ? { result: fault.result }
            : this.#outcome(request)
      return { jsonrpc: '2.0', id: request.id, ...outcome }
    })
    response.end(JSON.stringify(answers))
  }

  /** Takes the earliest injected fault that matches; null if none does. */
  #injectedInto(matches: (aim: Aim, fault: Fault) => boolean): Fault | null {
    const injected = this.#injected.find(({ left, aim, fault }) => left > 0 && matches(aim, fault))
    if (injected === undefined) return null
    injected.left--
    this.fired.set(injected.name, (this.fired.get(injected.name) ?? 0) + 1)
    return injected.fault
  }

  async #misbehave(
    fault: Fault,
    request: RpcRequest,
    incoming: IncomingMessage,
    response: ServerResponse
  ): Promise<void> {
    const whole = this.#body(request)
    switch (fault.kind) {
      case 'slow':
        await delay(fault.ms)
        return this.#answer(request, incoming, response)
      case 'silent':
        return
      case 'status':
        response.writeHead(
          fault.status,
          fault.retryAfter === undefined ? {} : { 'retry-after': fault.retryAfter }
        )
        response.end(fault.body ?? 'no')
        return
      case 'drop':
        incoming.socket.destroy()
        return
      case 'truncate':
        response.writeHead(200, { 'content-length': whole.length })
        response.write(whole.subarray(0, whole.length / 2), () => incoming.socket.destroy())
        return
      case 'cut-gzip': {
        const packed = packedOf(whole)
        response.writeHead(200, { 'content-encoding': 'gzip' })
        response.end(packed.subarray(0, packed.length - 9))
        return
      }
      case 'body':
        response.end(fault.body)
        return
      case 'error':
        response.end(JSON.stringify({ jsonrpc: '2.0', id: request.id, error: { ...fault, kind: undefined } }))
        return
      case 'result':
        response.end(JSON.stringify({ jsonrpc: '2.0', id: request.id, result: fault.result }))
        return
    }
  }

  #answer(request: RpcRequest, incoming: IncomingMessage, response: ServerResponse): void {
    const body = this.#body(request)
    const isPacked = incoming.headers['accept-encoding'] === 'gzip'
    response.writeHead(200, {
      'content-type': 'application/json',
      ...(isPacked && { 'content-encoding': 'gzip' })
    })
    response.end(isPacked ? packedOf(body) : body)
  }

  #body(request: RpcRequest): Buffer {
    const outcome = this.#outcome(request)
    return Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: request.id, ...outcome }))
  }

  #outcome({ method, params }: RpcRequest): { result: unknown } | { error: unknown } {
    const [slot, limit] = params as [number, number]
    switch (method) {
      case 'getGenesisHash':
        return { result: this.genesis }
      case 'getSlot':
        return { result: this.headSlot }
      case 'getFirstAvailableBlock':
        return { result: this.firstSlot }
      case 'getBlocksWithLimit': {
        const slots = [...this.blocks.keys()].filter(
          (each) => each >= slot && each <= this.headSlot && each >= this.firstSlot
        )
        return { result: slots.sort((a, b) => a - b).slice(0, limit) }
      }
      case 'getBlock':
      case 'getBlockTime': {
        const block = this.blocks.get(slot)
        if (slot < this.firstSlot)
          return error(
            -32001,
            `Block ${slot} cleaned up, does not exist on node. First available block: ${this.firstSlot}`
          )
        if (slot > this.headSlot) return error(-32004, `Block not available for slot ${slot}`)
        if (block === undefined)
          return error(-32007, `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`)
        return { result: method === 'getBlock' ? block : block.blockTime }
      }
      default:
        return error(-32601, 'Method not found')
    }
  }
}

/** Compresses an answer with the least memory: the default takes 270 KB a time, and the garbage collector as long again. */
const packedOf = (body: Buffer): Buffer => gzipSync(body, { level: 1, memLevel: 1, windowBits: 9 })

function error(code: number, message: string) {
  return { error: { code, message } }
}

/** Matches requests of a method, for a block also by its slot. */
export function at(method: string, slot?: number): Aim {
  return (request) => request.method === method && (slot === undefined || request.params[0] === slot)
}
