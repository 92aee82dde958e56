import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { encodeBase58 } from '../../src/chain/base58.ts'
import { bundleIdOf } from '../../src/signing/bundle-id.ts'
import { readWire } from '../../src/chain/wire.ts'
import { TIP_ACCOUNTS } from '../../src/localnet/engine/tip-accounts.ts'

/** A fault of one request. */
export type EngineFault =
  | { readonly kind: 'late'; readonly ms: number }
  /** Refused before anything is taken. */
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter?: number }
  /** A JSON-RPC error. */
  | { readonly kind: 'error'; readonly code: number; readonly message: string }
  /** Taken, and the connection dropped before the answer. */
  | { readonly kind: 'dropped' }
  /** Taken, and answered with something else. */
  | { readonly kind: 'garbage' }

export interface EngineRequest {
  readonly method: string
  /** Path with its query. */
  readonly path: string
  readonly auth: string | undefined
  readonly params: readonly unknown[]
  readonly atMs: number
}

/** A block engine in this process; a test controls its answers and faults. It executes nothing. */
export interface TestEngine {
  readonly url: string
  readonly requests: readonly EngineRequest[]
  /** The bundles that it took, with their transactions in base64; each once. */
  readonly taken: ReadonlyMap<string, readonly string[]>
  /** Faults of the next requests of a method, in order. */
  fault(method: string, ...faults: readonly EngineFault[]): void
  /** Sets its status of a bundle; `Pending` by default. */
  say(id: string, status: 'Invalid' | 'Pending' | 'Failed' | 'Landed'): void
  /** The tip-floor feed's answer. */
  feed: unknown
  close(): Promise<void>
}

export const FEED = [
  {
    time: '2026-08-24T11:59:58Z',
    landed_tips_25th_percentile: 6.001000000000001e-6,
    landed_tips_50th_percentile: 1e-5,
    landed_tips_75th_percentile: 3.6196500000000005e-5,
    landed_tips_95th_percentile: 0.0014479055000000002,
    landed_tips_99th_percentile: 0.010007999,
    ema_landed_tips_50th_percentile: 9.836078125000002e-6
  }
]

export async function startTestEngine(t: Test): Promise<TestEngine> {
  const requests: EngineRequest[] = []
  const taken = new Map<string, readonly string[]>()
  const faults = new Map<string, EngineFault[]>()
  const words = new Map<string, string>()
  let feed: unknown = FEED

  const signatureOf = (text: string): string => {
    const read = readWire(new Uint8Array(Buffer.from(text, 'base64')))
    if (read.kind !== 'wire') throw new Error('no transaction')
    return encodeBase58(read.wire.signatures[0]!)
  }
  const take = (texts: readonly string[]): string => {
    const id = bundleIdOf(texts.map(signatureOf))
    taken.set(id, texts)
    return id
  }
  const methods: Record<string, (params: readonly unknown[]) => unknown> = {
    sendBundle: ([texts]) => take(texts as string[]),
    sendTransaction: ([text]) => {
      take([text as string])
      return signatureOf(text as string)
    },
    getTipAccounts: () => TIP_ACCOUNTS,
    getInflightBundleStatuses: ([ids]) => ({
      context: { slot: 1 },
      value: (ids as string[]).map((id) => ({
        bundle_id: id,
        status: words.get(id) ?? (taken.has(id) ? 'Pending' : 'Invalid'),
        landed_slot: null
      }))
    }),
    getBundleStatuses: ([ids]) => ({ context: { slot: 1 }, value: (ids as string[]).map(() => null) })
  }

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url ?? ''
    if (request.method === 'GET') {
      const fault = faults.get('tip_floor')?.shift()
      if (fault?.kind === 'status') return void response.writeHead(fault.status).end()
      return void response.writeHead(200).end(JSON.stringify(feed))
    }
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const call = JSON.parse(Buffer.concat(chunks).toString()) as {
      id: number
      method: string
      params: unknown[]
    }
    const auth = request.headers['x-jito-auth'] as string | undefined
    requests.push({ method: call.method, path, auth, params: call.params, atMs: Date.now() })
    const answer = (status: number, body: object, headers: Record<string, string> = {}): void =>
      void response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify(body))
    const fault = faults.get(call.method)?.shift()
    if (fault?.kind === 'late') await new Promise((resolve) => setTimeout(resolve, fault.ms))
    if (fault?.kind === 'status') {
      const error = { code: -32097, message: 'Network congested. Endpoint is globally rate limited.' }
      const headers = fault.retryAfter === undefined ? {} : { 'retry-after': String(fault.retryAfter) }
      return answer(fault.status, fault.status === 429 ? { jsonrpc: '2.0', error, id: call.id } : {}, headers)
    }
    if (fault?.kind === 'error')
      return answer(400, { jsonrpc: '2.0', error: { code: fault.code, message: fault.message }, id: call.id })
    const result = methods[call.method]!(call.params)
    if (fault?.kind === 'dropped') return void request.socket.destroy()
    if (fault?.kind === 'garbage') return void response.writeHead(200).end('<html>')
    answer(200, { jsonrpc: '2.0', result, id: call.id })
  }
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      t.error(error)
      response.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  t.teardown(close)
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    taken,
    fault: (method, ...more) => void faults.set(method, [...(faults.get(method) ?? []), ...more]),
    say: (id, status) => void words.set(id, status),
    get feed() {
      return feed
    },
    set feed(value) {
      feed = value
    },
    close
  }
}
