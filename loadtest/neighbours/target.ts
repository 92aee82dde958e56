import { WebSocket } from 'ws'

/** The service as an attack sees it: requests and sockets with the greedy tenant's key. */
export interface Target {
  /** Host and port of the service. */
  readonly host: string
  readonly key: string
  /** Aborts at the end of the attack. */
  readonly signal: AbortSignal
  readonly figures: ChainFigures
  /** Whether loops pause after a refusal: a CQL server runs on the core of the clients. */
  readonly sparesCore: boolean
  /** Sends a request, and resolves with the status of its answer. */
  readonly send: (method: 'GET' | 'POST', path: string, body?: string) => Promise<number>
  /** Opens a WebSocket; it ends with the attack. Rejects if it is refused. */
  readonly open: (path: string) => Promise<WebSocket>
}

/** Names on the chain that attacks request. */
export interface ChainFigures {
  readonly mints: readonly string[]
  readonly wallets: readonly string[]
  readonly newestSlot: number
  /** A cursor of the stream before the oldest event that can be replayed. */
  readonly oldestCursor: number
}

export function targetOf(
  url: string,
  key: string,
  given: Pick<Target, 'figures' | 'signal' | 'sparesCore'>
): Target {
  const { signal } = given
  const { host } = new URL(url)
  return {
    host,
    key,
    ...given,
    async send(method, path, body) {
      const answer = await fetch(url + path, {
        method,
        headers: { 'x-api-key': key, ...(body !== undefined && { 'content-type': 'application/json' }) },
        ...(body !== undefined && { body }),
        signal
      })
      await answer.arrayBuffer()
      return answer.status
    },
    async open(path) {
      const socket = new WebSocket(`ws://${host}${path}`, { headers: { 'x-api-key': key } })
      socket.on('error', () => undefined)
      const terminate = (): void => socket.terminate()
      signal.addEventListener('abort', terminate, { once: true })
      await new Promise((resolve, reject) => {
        socket.once('open', resolve)
        socket.once('close', () => {
          signal.removeEventListener('abort', terminate)
          reject(new Error('refused'))
        })
      })
      return socket
    }
  }
}

/** Reads the names that attacks request from the service. */
export async function chainFiguresOf(url: string, key: string): Promise<ChainFigures> {
  const ask = async <T>(path: string): Promise<T> =>
    (await (await fetch(url + path, { headers: { 'x-api-key': key } })).json()) as T
  const { data: launches } = await ask<{ data: readonly { readonly mint: string }[] }>(
    '/v1/launches?limit=100'
  )
  const mints = launches.map(({ mint }) => mint)
  const SOL = 'So11111111111111111111111111111111111111112'
  const { data: trades } = await ask<{ data: readonly { readonly user: string; readonly slot: number }[] }>(
    `/v1/tokens/${SOL}/trades?limit=1000`
  )
  const health = await ask<{ readonly horizon: { readonly cursor: number } | null }>('/v1/stream/health')
  return {
    mints,
    wallets: [...new Set(trades.map(({ user }) => user))],
    newestSlot: trades[0]!.slot,
    oldestCursor: health.horizon?.cursor ?? 0
  }
}
