import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import type { RpcRequest } from '../node/faulty-node.ts'

/** An HTTP status instead of an answer. */
export interface Refusal {
  readonly status: number
}

/** Answer of a node: the part `result` or `error` of a JSON-RPC response. */
export type Answer = { readonly result: unknown } | { readonly error: { code: number; message: string } }

/** A node on HTTP that answers single requests and batches; the test controls its answers. */
export class AnsweringNode {
  readonly url: string
  /** Bodies of POSTs: a request, or the requests of a batch. */
  readonly posts: (RpcRequest | RpcRequest[])[] = []
  answer: (request: RpcRequest) => Answer = () => ({ error: { code: -32601, message: 'Method not found' } })
  /** The answer to every batch as a whole; null where its members are answered. */
  batches: Refusal | Answer | null = null
  /** Whether answers to a batch come in reverse order. */
  isReversed = false
  readonly stop: () => Promise<void>

  private constructor(url: string, stop: () => Promise<void>) {
    this.url = url
    this.stop = stop
  }

  static async start(t: Test): Promise<AnsweringNode> {
    const server = createServer((incoming, response) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('end', () => {
        const { status, body } = node.#post(
          JSON.parse(Buffer.concat(chunks).toString()) as RpcRequest | RpcRequest[]
        )
        response.writeHead(status, { 'content-type': 'application/json' })
        response.end(JSON.stringify(body))
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const stop = async (): Promise<void> => {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    }
    const node = new AnsweringNode(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop)
    t.teardown(stop)
    return node
  }

  /** Single requests and members of batches, in order. */
  get requests(): RpcRequest[] {
    return this.posts.flat()
  }

  asked(method: string): RpcRequest[] {
    return this.requests.filter((request) => request.method === method)
  }

  #post(post: RpcRequest | RpcRequest[]): { readonly status: number; readonly body: unknown } {
    this.posts.push(post)
    const answer = (request: RpcRequest) => ({ jsonrpc: '2.0', id: request.id, ...this.answer(request) })
    if (!Array.isArray(post)) return { status: 200, body: answer(post) }
    const { batches } = this
    if (batches !== null && 'status' in batches) return { status: batches.status, body: 'no' }
    if (batches !== null) return { status: 200, body: { jsonrpc: '2.0', id: null, ...batches } }
    const answers = post.map(answer)
    return { status: 200, body: this.isReversed ? answers.reverse() : answers }
  }
}
