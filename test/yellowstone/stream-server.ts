import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server as NetServer, type Socket } from 'node:net'
import { Server, ServerCredentials, status, type ServerDuplexStream } from '@grpc/grpc-js'
import { SubscribeRequest } from '@triton-one/yellowstone-grpc'
import { encodeBlock, encodeUpdate, updateBlock } from './encode-block.ts'

const same = (bytes: Buffer): Buffer => bytes
const SERVICE = {
  subscribe: {
    path: '/geyser.Geyser/Subscribe',
    requestStream: true,
    responseStream: true,
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same
  }
}

/** One subscription, whose server side is controlled by a test. */
export class Subscription {
  readonly request: SubscribeRequest
  readonly token: string | undefined
  /** Number of requests after the first, which answer pings. */
  pongs = 0
  isOver = false
  readonly #call: ServerDuplexStream<Buffer, Buffer>

  constructor(call: ServerDuplexStream<Buffer, Buffer>, request: SubscribeRequest) {
    this.#call = call
    this.request = request
    this.token = call.metadata.get('x-token')[0]?.toString()
    const end = (): void => void (this.isOver = true)
    call.on('end', end).on('cancelled', end).on('error', end)
  }

  get fromSlot(): number | null {
    const { fromSlot } = this.request
    return fromSlot === undefined ? null : Number(fromSlot)
  }

  /** Sends bytes as a message; resolves when there is room for the next. */
  async send(message: Buffer): Promise<void> {
    if (this.isOver || this.#call.write(message)) return
    await Promise.race([once(this.#call, 'drain'), once(this.#call, 'end'), once(this.#call, 'cancelled')])
  }

  async sendSlots(from: number, to: number): Promise<void> {
    for (let slot = from; slot <= to; slot++) await this.send(blockMessage(slot))
  }

  async ping(): Promise<void> {
    await this.send(encodeUpdate({ filters: [], ping: {} }))
  }

  fail(code: keyof typeof status, details: string): void {
    this.#call.emit('error', { code: status[code], details })
  }

  end(): void {
    this.#call.end()
  }
}

/** A server for the part of the protocol that the source uses. `play` handles each subscription. */
export class StreamServer {
  readonly subscriptions: Subscription[] = []
  readonly #server: Server
  readonly #play: (subscription: Subscription, nth: number) => unknown
  #port = 0

  private constructor(play: (subscription: Subscription, nth: number) => unknown) {
    this.#play = play
    this.#server = new Server({ 'grpc.max_send_message_length': -1 })
    this.#server.addService(SERVICE, {
      subscribe: (call: ServerDuplexStream<Buffer, Buffer>) => {
        let subscription: Subscription | undefined
        call.on('data', (bytes: Buffer) => {
          const request = SubscribeRequest.decode(bytes)
          if (subscription === undefined) {
            subscription = new Subscription(call, request)
            this.subscriptions.push(subscription)
            this.#play(subscription, this.subscriptions.length)
          } else if (request.ping !== undefined) subscription.pongs++
        })
      }
    })
  }

  /** `play` is called with each subscription and its number, from 1. */
  static async start(play: (subscription: Subscription, nth: number) => unknown): Promise<StreamServer> {
    const server = new StreamServer(play)
    server.#port = await new Promise<number>((resolve, reject) => {
      server.#server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
        error === null ? resolve(port) : reject(error)
      )
    })
    return server
  }

  get port(): number {
    return this.#port
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  close(): void {
    this.#server.forceShutdown()
  }
}

/** Returns a block without transactions, as a message; `blockhash` of a slot is `hash-SLOT`. */
export function blockMessage(slot: number, parentSlot = slot - 1, padding = 0, chain = 'hash'): Buffer {
  const result = {
    blockhash: `${chain}-${slot}`,
    previousBlockhash: `${chain}-${parentSlot}`,
    parentSlot,
    blockTime: 1_700_000_000 + slot,
    transactions: [],
    // Padding, which is not read.
    ...(padding > 0 && { rewards: [{ pubkey: 'x'.repeat(padding), lamports: 1, postBalance: 1 }] })
  }
  return encodeBlock(updateBlock(result, slot))
}

/** A proxy that breaks off after some bytes from the server, once. */
export class CuttingProxy {
  cuts = 0
  #left: number
  readonly #server: NetServer
  readonly #sockets = new Set<Socket>()

  private constructor(port: number, cutAfterBytes: number) {
    this.#left = cutAfterBytes
    this.#server = createServer((near) => {
      const far = connect({ host: '127.0.0.1', port })
      for (const socket of [near, far]) {
        this.#sockets.add(socket)
        socket
          .on('error', () => undefined)
          .on('close', () => {
            this.#sockets.delete(socket)
            near.destroy()
            far.destroy()
          })
      }
      near.on('data', (bytes) => far.write(bytes))
      far.on('data', (bytes: Buffer) => {
        if (this.cuts > 0 || bytes.length < this.#left) {
          this.#left -= bytes.length
          near.write(bytes)
          return
        }
        this.cuts++
        near.write(bytes.subarray(0, this.#left), () => near.destroy())
      })
    })
  }

  static async start(port: number, cutAfterBytes: number): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(port, cutAfterBytes)
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }
}
