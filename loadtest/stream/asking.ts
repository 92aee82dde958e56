/** What clients of a started service ask of it before they stream, as its operator. */
export interface Asking {
  /** A JSON answer; rejects with one that is an error. */
  readonly ask: <T>(path: string, init?: RequestInit) => Promise<T>
  /** A new key for the stream, whose quota is in nobody's way. */
  readonly newKey: () => Promise<string>
  /** The last cursor of the newest block that was told. */
  readonly head: () => Promise<number>
}

export function askingOf(url: string, adminKey: string): Asking {
  const headers = { 'x-api-key': adminKey, 'content-type': 'application/json' }
  const ask = async <T>(path: string, init: RequestInit = {}): Promise<T> => {
    const answer = await fetch(url + path, { ...init, headers })
    if (!answer.ok) throw new Error(`${path} is answered with ${answer.status}: ${await answer.text()}`)
    return (await answer.json()) as T
  }
  return {
    ask,
    async newKey() {
      const body = JSON.stringify({
        tenant: 'operator',
        scopes: ['stream'],
        rate_limit_per_minute: 1_000_000
      })
      return (await ask<{ key: string }>('/v1/admin/keys', { method: 'POST', body })).key
    },
    head: async () => (await ask<{ head: { cursor: number } }>('/v1/stream/health')).head.cursor
  }
}
