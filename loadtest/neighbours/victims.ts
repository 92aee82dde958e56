import { setTimeout as delay } from 'node:timers/promises'
import { WebSocket } from 'ws'

/** Latencies and failures of a careful tenant. */
export interface Felt {
  readonly p50_ms: number
  readonly p99_ms: number
  /** Requests without an answer, or with an answer that is not a success. */
  readonly failures: number
  /** Number of failures by their text. */
  readonly failed: Readonly<Record<string, number>>
}

/** A careful tenant: it does one small thing at a steady rate, whether or not the thing before has ended. */
export interface Victim {
  readonly name: string
  readonly perSecond: number
  /** Rejects if the answer is not the expected one. */
  readonly once: (at: number) => Promise<void>
  readonly end: () => void
}

/** Milliseconds after which an answer counts as none. */
const PATIENCE_MS = 30_000

const PATHS = ['/v1/me', '/v1/stats', '/v1/launches?limit=20', '/v1/trending?limit=10', '/v1/coverage']

/** Returns the code and the detail of a problem. */
function problemOf(text: string): string {
  try {
    const { code, detail } = JSON.parse(text) as { readonly code?: string; readonly detail?: string }
    return `${code}, ${detail}`
  } catch {
    return text.slice(0, 100)
  }
}

/** Reads small pages by REST. */
export function restVictim(url: string, key: string): Victim {
  return {
    name: 'rest',
    perSecond: 60,
    async once(at) {
      const path = PATHS[at % PATHS.length]!
      const answer = await fetch(url + path, {
        headers: { 'x-api-key': key },
        signal: AbortSignal.timeout(PATIENCE_MS)
      })
      const text = await answer.text()
      if (answer.status !== 200) throw new Error(`${path} returned ${answer.status}: ${problemOf(text)}`)
    },
    end: () => undefined
  }
}

/** Reads balances by JSON-RPC. */
export function rpcVictim(url: string, key: string, addresses: readonly string[]): Victim {
  return {
    name: 'rpc',
    perSecond: 20,
    async once(at) {
      const params = [addresses[at % addresses.length]]
      const answer = await fetch(`${url}/v1/rpc`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: at, method: 'getBalance', params }),
        signal: AbortSignal.timeout(PATIENCE_MS)
      })
      const { result } = (await answer.json()) as { readonly result?: unknown }
      if (result === undefined) throw new Error('no result')
    },
    end: () => undefined
  }
}

/** Has a live subscription, and sends messages whose answers come after the events before them. */
export async function streamVictim(host: string, key: string, channel: string): Promise<Victim> {
  const socket = new WebSocket(`ws://${host}/v1/stream`, { headers: { 'x-api-key': key } })
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  const waiting: ((isOpen: boolean) => void)[] = []
  socket.on('message', (bytes: Buffer) => {
    if (bytes.subarray(0, 100).toString().includes('"pong"')) waiting.shift()?.(true)
  })
  socket.on('close', () => waiting.splice(0).forEach((resolve) => resolve(false)))
  socket.send(JSON.stringify({ subscribe: [channel] }))
  return {
    name: 'stream',
    perSecond: 10,
    async once() {
      if (socket.readyState !== socket.OPEN) throw new Error('the stream is closed')
      const answered = new Promise<boolean>((resolve) => waiting.push(resolve))
      socket.send('{"ping":true}')
      const isAnswered = await Promise.race([answered, delay(PATIENCE_MS, false, { ref: false })])
      if (!isAnswered) throw new Error('no answer')
    },
    end: () => socket.terminate()
  }
}

/** Runs a careful tenant for some seconds, and returns its latencies. */
export async function feel({ perSecond, once }: Victim, seconds: number): Promise<Felt> {
  const ms: number[] = []
  const failed: Record<string, number> = {}
  const began = performance.now()
  const all: Promise<void>[] = []
  for (let at = 0; at < seconds * perSecond; at++) {
    const dueMs = began + (at * 1000) / perSecond
    await delay(Math.max(0, dueMs - performance.now()))
    const sentMs = performance.now()
    all.push(
      once(at).then(
        () => void ms.push(performance.now() - sentMs),
        (error: Error) => {
          const text =
            error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
          failed[text] = (failed[text] ?? 0) + 1
        }
      )
    )
  }
  await Promise.all(all)
  const sorted = ms.toSorted((a, b) => a - b)
  const quantile = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  const failures = Object.values(failed).reduce((sum, count) => sum + count, 0)
  return { p50_ms: quantile(0.5), p99_ms: quantile(0.99), failures, failed }
}
