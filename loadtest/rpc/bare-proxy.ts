/**
 * Passes each POST on to the node whose URL is the argument, and returns its answer as it arrives. It does nothing else: the
 * minimum cost of a proxy in Node, with `node:http` in front and undici behind.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Dispatcher } from 'undici'
import { Pool } from '../../src/node/undici.ts'

const [nodeUrl = ''] = process.argv.slice(2)
const pool = new Pool(new URL(nodeUrl).origin, { connections: 64 })
const headers = { 'content-type': 'application/json' }

/** Writes a node's response to a client's. */
class Passing implements Dispatcher.DispatchHandler {
  readonly #response: ServerResponse

  constructor(response: ServerResponse) {
    this.#response = response
  }

  onRequestStart(): void {}

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    { 'content-type': type, 'content-length': length }: Record<string, string | string[] | undefined>
  ): void {
    this.#response.writeHead(status, ['content-type', String(type), 'content-length', String(length)])
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#response.write(chunk)) return
    controller.pause()
    this.#response.once('drain', () => controller.resume())
  }

  onResponseEnd(): void {
    this.#response.end()
  }

  onResponseError(): void {
    this.#response.destroy()
  }
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
    pool.dispatch({ method: 'POST', path: '/', headers, body }, new Passing(response))
  })
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
process.once('SIGTERM', () => process.exit(0))
