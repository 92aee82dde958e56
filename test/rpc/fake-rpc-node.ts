import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Test } from 'tap'

export type Request = { readonly id: number; readonly method: string; readonly params?: readonly unknown[] }
type RpcOutcome = { readonly result: unknown } | { readonly error: object }
export type Fault =
  | 'none'
  | 'killed before headers'
  | 'killed after headers'
  | 'half the bytes'
  | 'half the bytes, well framed'
  | 'half the bytes, until the end'
  | 'stalled'
  | 'wrong JSON'
  | '429'
  | '500'
  | 'slow'
  | 'another id'
  | 'no batches'
  | 'parse error'
  | '400'

/** A node over HTTP whose answers, slots and faults the test sets. Probes (`getLatestBlockhash`) are never faulty. */
export class FakeRpcNode {
  readonly #server: Server
  readonly #scheme: string
  /** Ends new connections at once, which is within the handshake of TLS. */
  refusesConnections = false
  url = ''
  slot = 1_000
  /** Added to the slot that `getSlot` claims. Its other answers do not confirm it. */
  lie = 0
  genesis = 'G'
  fault: Fault = 'none'
  slowMs = 500
  /** Longer bodies are refused with HTTP 413 before they are read, as agave does. */
  bodyBytesMax = Infinity
  /** Number of times that a fault occurred, and requests of clients by method. */
  fired = 0
  readonly asked: string[] = []
  posts = 0
  /** The answer to a request of a client: a result, or an error. */
  answer: (request: Request) => RpcOutcome | Promise<RpcOutcome> = ({ method }) => ({
    result: method === 'getSlot' ? this.slot + this.lie : { context: { slot: this.slot }, value: this.url }
  })

  /** Serves TLS if it has a certificate, which is for `localhost`. */
  constructor(tls: { readonly key: string; readonly cert: string } | null = null) {
    const serve = (request: IncomingMessage, response: ServerResponse): void =>
      void this.#serve(request, response)
    this.#scheme = tls === null ? 'http://127.0.0.1' : 'https://localhost'
    this.#server = tls === null ? createServer(serve) : createTlsServer(tls, serve)
    this.#server.on('connection', (socket: Socket) => {
      if (!this.refusesConnections) return
      this.fired++
      socket.destroy()
    })
  }

  /** Ends all connections. */
  dropConnections(): void {
    this.#server.closeAllConnections()
  }

  async listen(port = 0): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve))
    this.url = `${this.#scheme}:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (Number(request.headers['content-length']) > this.bodyBytesMax) {
      this.fired++
      const text = 'request body size exceeds allowed maximum\n'
      return void response.writeHead(413, { connection: 'close', 'content-length': text.length }).end(text)
    }
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Request | Request[]
    const list = [body].flat()
    const isProbe = list.every(({ method }) => method === 'getLatestBlockhash' || method === 'getGenesisHash')
    if (!isProbe) {
      this.posts++
      this.asked.push(...list.map(({ method }) => method))
    }
    const fault = isProbe ? 'none' : this.fault
    const answerOf = async (each: Request) => ({
      jsonrpc: '2.0',
      ...(await this.#answerOf(each, fault)),
      id: each.id
    })
    const answers = await Promise.all(list.map(answerOf))
    const text = JSON.stringify(Array.isArray(body) ? answers : answers[0])
    if (fault !== 'none') this.fired++
    await this.#send(response, text, fault, Array.isArray(body))
  }

  #answerOf(request: Request, fault: Fault): RpcOutcome | Promise<RpcOutcome> {
    if (request.method === 'getGenesisHash') return { result: this.genesis }
    if (request.method === 'getLatestBlockhash')
      return { result: { context: { slot: this.slot }, value: {} } }
    return fault === 'another id' ? { result: 'of another' } : this.answer(request)
  }

  async #send(response: ServerResponse, text: string, fault: Fault, isBatch: boolean): Promise<void> {
    const fields = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
    switch (fault) {
      case 'killed before headers':
        return void response.destroy()
      case 'killed after headers':
        response.writeHead(200, fields).flushHeaders()
        return void setTimeout(() => response.destroy(), 20)
      case 'half the bytes':
        response.writeHead(200, fields).write(text.slice(0, text.length / 2))
        return void setTimeout(() => response.destroy(), 20)
      case 'half the bytes, well framed':
        return void response.end(text.slice(0, text.length / 2))
      case 'half the bytes, until the end':
        // The length is not stated: the connection ends in order where the body would.
        response.useChunkedEncodingByDefault = false
        response.shouldKeepAlive = false
        return void response.writeHead(200, { connection: 'close' }).end(text.slice(0, text.length / 2))
      case 'stalled':
        return void response.writeHead(200, fields).write(text.slice(0, 10))
      case 'wrong JSON':
        return void response.end(text.replace('"result":', '"result":}'))
      case 'another id':
        return void response.end(text.replace(/"id":(\d+)/g, '"id":999999'))
      case '429':
        return void response.writeHead(429, { 'retry-after': '1' }).end('slow down')
      case '400':
        return void response.writeHead(400).end('bad request')
      case '500':
        return void response.writeHead(500).end('broken')
      case 'no batches':
        if (!isBatch) break
        return void response.end('{"jsonrpc":"2.0","error":{"code":-32600,"message":"no batches"},"id":null}')
      case 'parse error':
        return void response.end(
          '{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"},"id":null}'
        )
      case 'slow':
        await new Promise((resolve) => setTimeout(resolve, this.slowMs))
        break
      case 'none':
        break
    }
    response.writeHead(200, fields).end(text)
  }
}

/** Starts fake nodes, which end with the test. */
export async function fakeNodes(
  t: Test,
  count: number,
  tls: { readonly key: string; readonly cert: string } | null = null
): Promise<FakeRpcNode[]> {
  const nodes = Array.from({ length: count }, () => new FakeRpcNode(tls))
  for (const node of nodes) {
    await node.listen()
    t.teardown(() => node.close())
  }
  return nodes
}
