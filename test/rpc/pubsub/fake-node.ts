import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { WebSocketServer, type WebSocket } from 'ws'

interface Request {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

export interface FakeSubscription {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
  readonly socket: WebSocket
}

/** A node's pubsub that the test controls. Ids of subscriptions begin at `firstId`, so that those of two nodes differ. */
export class FakeNode {
  readonly subscriptions = new Map<number, FakeSubscription>()
  /** Every request, in the order of arrival. */
  readonly requests: Request[] = []
  /** Returns the JSON of an error for a request that the node refuses; `silent` gives no answer. */
  answers: (request: Request) => string | null = () => null
  /** Sends something before the answer to a subscription. */
  beforeAnswer: (id: number, socket: WebSocket) => void = () => undefined
  readonly url: string
  readonly #server: WebSocketServer
  #nextId: number

  private constructor(server: WebSocketServer, firstId: number) {
    this.#server = server
    this.#nextId = firstId
    this.url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
    server.on('connection', (socket) => {
      socket.on('message', (data: Buffer) => this.#take(socket, JSON.parse(data.toString()) as Request))
      socket.on('close', () => {
        for (const each of this.subscriptions.values())
          if (each.socket === socket) this.subscriptions.delete(each.id)
      })
    })
  }

  static async start(firstId = 100): Promise<FakeNode> {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    await once(server, 'listening')
    return new FakeNode(server, firstId)
  }

  get connections(): number {
    return this.#server.clients.size
  }

  /** The subscriptions of a kind that clients have at this node. */
  of(kind: string): FakeSubscription[] {
    return [...this.subscriptions.values()].filter(({ method }) => method === `${kind}Subscribe`)
  }

  /** Notifies of every subscription of a kind. */
  notify(kind: string, result: string): void {
    for (const { id, socket } of this.of(kind)) socket.send(notification(kind, id, result))
  }

  slot(slot: number): void {
    this.notify('slot', JSON.stringify({ parent: slot - 1, root: Math.max(0, slot - 32), slot }))
  }

  /** Sends text as it is on every connection. */
  raw(text: string): void {
    for (const socket of this.#server.clients) socket.send(text)
  }

  /** Cuts every connection. */
  cut(): void {
    for (const socket of this.#server.clients) socket.terminate()
  }

  close(): void {
    this.cut()
    this.#server.close()
  }

  #take(socket: WebSocket, request: Request): void {
    this.requests.push(request)
    const { id, method, params } = request
    const refusal = this.answers(request)
    if (refusal === 'silent') return
    if (refusal !== null) return socket.send(`{"jsonrpc":"2.0","error":${refusal},"id":${id}}`)
    if (method.endsWith('Unsubscribe')) {
      this.subscriptions.delete(params[0] as number)
      return socket.send(`{"jsonrpc":"2.0","result":true,"id":${id}}`)
    }
    const subscription = this.#nextId++
    this.subscriptions.set(subscription, { id: subscription, method, params, socket })
    if (method !== 'slotSubscribe') this.beforeAnswer(subscription, socket)
    socket.send(`{"jsonrpc":"2.0","result":${subscription},"id":${id}}`)
  }
}

/** A notification as Agave writes it. */
export const notification = (kind: string, id: number, result: string): string =>
  `{"jsonrpc":"2.0","method":"${kind}Notification","params":{"result":${result},"subscription":${id}}}`

export const account = (slot: number, lamports: number): string =>
  `{"context":{"slot":${slot}},"value":${accountValue(lamports)}}`

export const accountValue = (lamports: number): string =>
  `{"lamports":${lamports},"data":["","base64"],"owner":"11111111111111111111111111111111","executable":false,"rentEpoch":18446744073709551615,"space":0}`

export const logs = (slot: number, signature: string): string =>
  `{"context":{"slot":${slot}},"value":{"signature":"${signature}","err":null,"logs":["Program log: ü"]}}`
