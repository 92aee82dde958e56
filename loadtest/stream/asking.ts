/** Requests that clients of a started service make as its operator, before they stream. */
export interface Asking {
  /** Returns a JSON answer; rejects if the status is an error. */
  readonly ask: <T>(path: string, init?: RequestInit) => Promise<T>
  /** Makes a key for the stream, with a quota that no client exhausts. */
  readonly newKey: () => Promise<string>
  /** Returns the last cursor of the newest published block. */
  readonly head: () => Promise<number>
}

export function askingOf(url: string, adminKey: string): Asking {
  const headers = { 'x-api-key': adminKey, 'content-type': 'application/json' }
  const ask = async <T>(path: string, init: RequestInit = {}): Promise<T> => {
    const answer = await fetch(url + path, { ...init, headers })
    if (!answer.ok) throw new Error(`${path} returned ${answer.status}: ${await answer.text()}`)
    return (await answer.json()) as T
  }
  return {
    ask,
    async newKey() {
      const body = JSON.stringify({
        tenant: 'operator',
        scopes: ['stream'],
        rate_limit_per_minute: 1_000_000,
        work_limit_per_minute: 1_000_000_000
      })
      return (await ask<{ key: string }>('/v1/admin/keys', { method: 'POST', body })).key
    },
    head: async () => (await ask<{ head: { cursor: number } }>('/v1/stream/health')).head.cursor
  }
}
