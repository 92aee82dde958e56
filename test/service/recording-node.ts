import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { encodeBase58 } from '../../src/chain/base58.ts'

interface Call {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

interface Answer {
  readonly id: unknown
  result?: unknown
}

/** A send of a transaction, as the node received it. */
export interface NodeSend {
  readonly signature: string
  readonly atMs: number
}

/**
 * A node that passes every request to a second node and records sends. Sends of `dropped` signatures are answered and not
 * passed on, so that they never land.
 */
export class RecordingNode {
  readonly sends: NodeSend[] = []
  readonly dropped = new Set<string>()
  /** Whether it is unavailable: connections end without an answer, and requests are not received. */
  isAway = false
  /** Changes the results that it passes on; of an answer of several each. */
  rewrite: ((method: string, result: unknown) => unknown) | null = null
  /** Called at each send, before it is passed on and before it is answered. */
  onSend: (point: 'received' | 'passed', signature: string) => void = () => undefined
  url = ''
  readonly #target: string

  private constructor(target: string) {
    this.#target = target
  }

  static async start(t: Test, target: string): Promise<RecordingNode> {
    const node = new RecordingNode(target)
    const server = createServer((request, response) => {
      if (node.isAway) return void response.destroy()
      node.#answer(request, response).catch(() => response.destroy())
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => {
      server.closeAllConnections()
      server.close()
    })
    node.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return node
  }

  sendsOf(signature: string): readonly number[] {
    return this.sends.filter((each) => each.signature === signature).map(({ atMs }) => atMs)
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    const asked = JSON.parse(body) as Call | Call[]
    const calls = Array.isArray(asked) ? asked : [asked]
    const isSend = calls.every(({ method }) => method === 'sendTransaction')
    const text = isSend
      ? await this.#send(calls, Array.isArray(asked))
      : this.#rewritten(calls, await this.#pass(body))
    response.setHeader('content-type', 'application/json')
    response.end(text)
  }

  async #send(calls: readonly Call[], isBatch: boolean): Promise<string> {
    const answers = await Promise.all(
      calls.map(async (call) => {
        const wire = Buffer.from(String(call.params[0]), 'base64')
        const signature = encodeBase58(wire.subarray(1, 65))
        this.sends.push({ signature, atMs: Date.now() })
        this.onSend('received', signature)
        const isDropped = this.dropped.has(signature)
        const answer = isDropped
          ? JSON.stringify({ jsonrpc: '2.0', id: call.id, result: signature })
          : await this.#pass(JSON.stringify(call))
        this.onSend('passed', signature)
        return answer
      })
    )
    return isBatch ? `[${answers.join(',')}]` : answers[0]!
  }

  #rewritten(calls: readonly Call[], text: string): string {
    const { rewrite } = this
    if (rewrite === null) return text
    const answer = JSON.parse(text) as Answer | Answer[]
    for (const each of [answer].flat()) {
      const call = calls.find(({ id }) => id === each.id)
      if (call !== undefined && 'result' in each) each.result = rewrite(call.method, each.result)
    }
    return JSON.stringify(answer)
  }

  async #pass(body: string): Promise<string> {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(this.#target, { method: 'POST', headers, body })
    return answer.text()
  }
}
