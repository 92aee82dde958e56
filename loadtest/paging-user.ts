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
