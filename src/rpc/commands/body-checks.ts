import { gzipSync } from 'node:zlib'
import { checkOf, type ConformanceCheck } from '../conformance-check.ts'
import { httpUrlOf } from '../derived-urls.ts'
import type { ProbeRequest, Send } from './rpc-probe.ts'

const VERSION = '{"jsonrpc":"2.0","id":1,"method":"getVersion","params":[]}'
/** A batch and a body that are one too large (src/docs/rpc.md). */
const BATCH = 101
const BODY_BYTES = 256 * 1_024 + 1
/** Nesting deeper than the service reads. */
const LEVELS = 100

/** A body that is refused, with the status and the code of the refusal. */
interface RefusedBody extends Omit<ProbeRequest, 'url'> {
  readonly name: string
  readonly status: number
  /** Null if the answer need not be JSON-RPC. */
  readonly code: number | null
}

const REFUSED: readonly RefusedBody[] = [
  { name: 'bad JSON', body: '{"jsonrpc":"2.0",', status: 200, code: -32700 },
  { name: 'empty body', body: '', status: 200, code: -32700 },
  { name: 'bad UTF-8', body: Buffer.of(0x22, 0xff, 0x22), status: 200, code: -32700 },
  { name: 'deep nesting', body: '['.repeat(LEVELS) + ']'.repeat(LEVELS), status: 200, code: -32700 },
  { name: 'no object', body: '5', status: 200, code: -32600 },
  { name: 'empty batch', body: '[]', status: 200, code: -32600 },
  { name: 'batch too large', body: `[${Array(BATCH).fill(VERSION).join()}]`, status: 413, code: -32600 },
  { name: 'body too large', body: `"${'x'.repeat(BODY_BYTES - 2)}"`, status: 413, code: -32600 },
  {
    name: 'wrong content type',
    body: VERSION,
    headers: { 'content-type': 'text/plain' },
    status: 415,
    code: null
  },
  {
    name: 'compressed body',
    body: gzipSync(VERSION),
    headers: { 'content-encoding': 'gzip' },
    status: 415,
    code: null
  },
  { name: 'GET', method: 'GET', status: 405, code: null }
]

/** Checks that malformed bodies are refused as the documentation says, and that the endpoint still answers after each. */
export async function bodyChecks(rpcUrl: string, send: Send): Promise<readonly ConformanceCheck[]> {
  const url = httpUrlOf(rpcUrl)
  const checks: ConformanceCheck[] = []
  for (const each of REFUSED) {
    const fault = await bodyFault(each, url, send).catch((error: Error) => `no answer: ${error.message}`)
    const shown = each.code === null ? `HTTP ${each.status}` : `HTTP ${each.status}, ${each.code}`
    checks.push(checkOf(`body: ${each.name}`, fault, shown))
  }
  return checks
}

async function bodyFault(
  { name: _, status, code, ...request }: RefusedBody,
  url: string,
  send: Send
): Promise<string | null> {
  const reply = await send({ url, ...request })
  const given = (reply.body as { error?: { code?: unknown } } | null)?.error?.code
  if (reply.status !== status || (code !== null && given !== code))
    return `HTTP ${reply.status}, ${String(given)} instead of HTTP ${status}, ${code ?? 'any code'}`
  const next = await send({ url, body: VERSION })
  const { result } = (next.body ?? {}) as { result?: unknown }
  return result === undefined ? `the next request fails: HTTP ${next.status}` : null
}
