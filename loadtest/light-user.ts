const WSOL = 'So11111111111111111111111111111111111111112'

/** Pages through all trades of SOL, repeatedly, until `end` is called: fills the service's response cache to its limit. */
export function pagingUser(url: string, key: string, perSecond: number) {
  const pages = `${url}/v1/tokens/${WSOL}/trades?limit=1000`
  let isEnding = false
  const paging = (async () => {
    let cursor: string | null = null
    while (!isEnding) {
      const path = cursor === null ? pages : `${pages}&after=${cursor}`
      const answer = await fetch(path, { headers: { 'x-api-key': key } })
      const { nextCursor } = (await answer.json()) as { nextCursor?: string | null }
      cursor = nextCursor ?? null
      await new Promise((resolve) => setTimeout(resolve, 1000 / perSecond))
    }
  })()
  return {
    async end() {
      isEnding = true
      await paging
    }
  }
}

/**
 * Requests the data of a market page at a steady rate, one request at a time, until `end` is called. The requests are lists,
 * the newest coin of each answer, and a wallet from its trades.
 */
export function lightUser(url: string, key: string, perSecond: number) {
  const ms: number[] = []
  const statuses: Record<number, number> = {}
  let mint = WSOL
  let wallet = WSOL
  let isEnding = false

  const ask = async (path: string): Promise<unknown> => {
    const started = performance.now()
    const response = await fetch(url + path, { headers: { 'x-api-key': key } })
    const text = await response.text()
    ms.push(performance.now() - started)
    statuses[response.status] = (statuses[response.status] ?? 0) + 1
    return JSON.parse(text)
  }
  const rows = async (path: string) =>
    ((await ask(path)) as { data?: readonly { readonly mint?: string; readonly user?: string }[] }).data ?? []
  const questions: readonly (() => Promise<unknown>)[] = [
    () => ask('/v1/health'),
    () => ask('/v1/stats'),
    () => ask('/v1/trending?window=1h&limit=50'),
    async () => (mint = (await rows('/v1/launches?limit=50'))[0]?.mint ?? WSOL),
    () => ask(`/v1/tokens/${mint}`),
    async () => (wallet = (await rows(`/v1/tokens/${mint}/trades?limit=100`))[0]?.user ?? WSOL),
    () => ask(`/v1/tokens/${mint}/candles?interval=1m&limit=200`),
    () => ask(`/v1/tokens/${mint}/bonding-curve`),
    () => ask(`/v1/tokens/${mint}/pools`),
    () => ask(`/v1/wallets/${wallet}/trades?limit=100`),
    () => ask(`/v1/tokens/${WSOL}/trades?limit=100`),
    () => ask(`/v1/tokens/${WSOL}/candles?interval=1m&limit=1000`)
  ]

  const asking = (async () => {
    let due = performance.now()
    for (let at = 0; !isEnding; at++) {
      await questions[at % questions.length]!()
      due = Math.max(due + 1000 / perSecond, performance.now())
      await new Promise((resolve) => setTimeout(resolve, Math.max(1, due - performance.now())))
    }
  })()
  return {
    async end() {
      isEnding = true
      await asking
      const sorted = ms.toSorted((a, b) => a - b)
      const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0
      return { answered: ms.length, statuses, p50_ms: at(0.5), p99_ms: at(0.99), slowest_ms: at(0.999999) }
    }
  }
}
