import { once } from 'node:events'
import type { Test } from 'tap'
import { WebSocket } from 'ws'
import type { LocalBank } from '../../../src/localnet/bank/bank.ts'
import type { LocalChain } from '../../../src/localnet/chain.ts'
import { startLocalNode, type LocalNode } from '../../../src/localnet/node/local-node.ts'
import type { PubsubLimits } from '../../../src/localnet/node/pubsub-connection.ts'
import { systemPorts, type Clock } from '../../../src/ports.ts'
import { until } from '../../until.ts'

/** A JSON-RPC answer, loosely typed for tests. */
export interface Json {
  readonly [member: string]: Json
}

/** Returns a text member, or `-` if it is absent. */
export function textOf(value: Json | undefined): string {
  return (value as unknown as string | undefined) ?? '-'
}

export interface Answer {
  readonly result?: Json
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Json }
}

/** Starts a node that listens on loopback until the test ends. An internal fault fails the test. */
export async function startNode(
  t: Test,
  chain: LocalChain,
  options: { readonly limits?: PubsubLimits; readonly clock?: Clock } = {}
): Promise<LocalNode> {
  const node = await startLocalNode({
    chain,
    clock: systemPorts.clock,
    host: '127.0.0.1',
    port: 0,
    onFault: (error) => t.error(error, 'a fault of ours'),
    ...options
  })
  t.teardown(() => node.close())
  return node
}

export function urlOf({ host, port }: LocalNode): string {
  return `http://${host}:${port}`
}

export async function post(
  node: LocalNode,
  body: unknown,
  headers: Record<string, string> = {}
): Promise<Response> {
  return fetch(urlOf(node), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body)
  })
}

/** Calls one method. */
export async function call(node: LocalNode, method: string, params?: readonly unknown[]): Promise<Answer> {
  const response = await post(node, {
    jsonrpc: '2.0',
    id: 1,
    method,
    ...(params === undefined ? {} : { params })
  })
  return (await response.json()) as Answer
}

/** Calls a method and returns its result. Throws if the answer has none. */
export async function result(node: LocalNode, method: string, params?: readonly unknown[]): Promise<Json> {
  const { result, error } = await call(node, method, params)
  if (error !== undefined) throw new Error(`${method}: ${error.code} ${error.message}`)
  return result!
}

interface Notification {
  readonly method?: string
  readonly params: { readonly subscription: number; readonly result: Json }
}

/** A pubsub socket that stores received messages, in order. */
export class PubsubClient {
  readonly socket: WebSocket
  readonly received: Json[] = []
  closed: number | null = null
  #next = 1

  constructor(url: string) {
    this.socket = new WebSocket(url)
    this.socket.on('message', (data: Buffer) => this.received.push(JSON.parse(data.toString()) as Json))
    this.socket.on('close', (code) => (this.closed = code))
    this.socket.on('error', () => undefined)
  }

  static async open(t: Test, node: LocalNode, port = node.port): Promise<PubsubClient> {
    const client = new PubsubClient(`ws://${node.host}:${port}`)
    t.teardown(() => client.socket.terminate())
    await once(client.socket, 'open')
    return client
  }

  /** Sends a call and waits for its answer. */
  async call(method: string, params?: readonly unknown[]): Promise<Answer> {
    const id = this.#next++
    this.socket.send(
      JSON.stringify({ jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) })
    )
    const isAnswer = (message: Json): boolean => (message as { id?: unknown }).id === id
    return await this.until(() => this.received.find(isAnswer))
  }

  /** The results of notifications of a method, in order. */
  notified(method: string, subscription?: number): Json[] {
    const notifications = this.received as readonly unknown[] as readonly Notification[]
    return notifications
      .filter((message) => message.method === `${method}Notification`)
      .filter(({ params }) => subscription === undefined || params.subscription === subscription)
      .map(({ params }) => params.result)
  }

  /** Resolves with a condition's first value; the failure names the received messages. */
  async until<T>(condition: () => T): Promise<NonNullable<T>> {
    const received = (): string => JSON.stringify(this.received).slice(0, 2000)
    return (await until(condition, received)) as NonNullable<T>
  }

  /** Resolves once everything sent before was received. */
  async drained(): Promise<void> {
    await this.call('getVersion')
  }
}

/** Makes slots in real time, as the chain itself does, until the test ends. */
export function keepProducing(t: Test, bank: LocalBank, ms: number): void {
  const timer = setInterval(() => void bank.produceSlot(), ms)
  t.teardown(() => clearInterval(timer))
}
